"""Images in the order of hue that a network finds."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from equicolor.app._networks import Network, Stage
from equicolor.app._picture import example_pictures
from equicolor.app._tiles import address, as_pixels
from equicolor.app._uploads import read_uploads
from equicolor.groups import Hue
from equicolor.trained import hue_factor, hue_features, hue_positions

#: The most images that are sorted at once, and how large they are shown.
_MOST, _SHOWN = 60, 96
#: How far the examples are turned, in the order in which they lie on the table.
_TURNS = (200, 40, 320, 120, 0, 280, 80, 240, 160)


@dataclass(frozen=True, eq=False)
class Sorted:
    """What :func:`sort_images` found: images ``(N, 3, S, S)`` in [0, 1] as they came, their order, and their hues.

    Attributes:
        images: as they came.
        order: the places of the images, from the first.
        degrees: how far each is from the first that has a hue, ``(N,)``; NaN where an image has none.
    """

    images: Tensor
    order: tuple[int, ...]
    degrees: Tensor


def sorter(stage: Stage) -> Network | None:
    """The network that sorts: the first with hues among its group; None where there is none."""
    for network in stage.networks:
        try:
            hue_factor(network.opened.group)
        except ValueError:
            continue
        return network
    return None


def example_images() -> Tensor:
    """Two of the examples in nine hues each, shuffled, ``(18, 3, S, S)`` in [0, 1]."""
    chosen = [image.tensor(_SHOWN)[0] for image in example_pictures() if image.name in ("cube 1", "sphere 1")]
    return torch.stack([Hue(1).move(image, float(turn)) for turn in _TURNS for image in chosen])


def uploaded_images(paths: Sequence[str | Path]) -> tuple[Tensor, list[str]]:
    """What was uploaded, and what could not be used of it."""
    found = read_uploads(paths, _SHOWN, _MOST)
    return found.batch.float() / 255, found.problems


def sort_images(network: Network, images: Tensor) -> Sorted:
    """Images in the order of hue.

    Args:
        network: on a group with hues.
        images: in [0, 1], ``(N, 3, S, S)``.

    Raises:
        ValueError: there are no images, or none has a hue.
    """
    if not len(images):
        raise ValueError("There are no images to sort: drop some, PNG or JPEG files or a zip of them.")
    names = list(map(str, range(len(images))))
    with network.lock:
        _, _, features = hue_features(network.opened, [(names, images)])
    positions = hue_positions(features, substeps=3)
    return Sorted(images, tuple(positions.order.tolist()), positions.degrees)


def sorted_page(found: Sorted) -> str:
    """The images as they came, and in order, as HTML."""
    before = "".join(_thumbnail(image, "") for image in found.images)
    after = "".join(_thumbnail(found.images[place], _angle(float(found.degrees[place]))) for place in found.order)
    order = ",".join(map(str, found.order))
    return (
        f'<h4>As they came</h4><div class="ec-sheet">{before}</div>'
        f'<h4>In the order of hue</h4><div class="ec-sheet" data-order="{order}">{after}</div>'
    )


def _angle(degrees: float) -> str:
    return "no hue" if degrees != degrees else f"{degrees % 360:.0f}°"


def _thumbnail(image: Tensor, text: str) -> str:
    caption = f"<figcaption>{html.escape(text)}</figcaption>" if text else ""
    return f'<figure><img alt="{html.escape(text) or "an image"}" src="{address(as_pixels(image))}">{caption}</figure>'
