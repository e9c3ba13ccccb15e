"""A look inside: the feature maps of an image and of the same in other colours, and which of them are the same maps."""

from dataclasses import dataclass

import torch
from torch import Tensor

from equicolor.app._layers import LIFT, layer_names
from equicolor.app._moves import Move, all_moves, moved
from equicolor.app._networks import Network
from equicolor.app._picture import Picture
from equicolor.groups import Group
from equicolor.measure import evaluating, layer_outputs
from equicolor.models import CanonicalizedModel
from equicolor.nn import Canonicalizer
from equicolor.trained import Match, matching_rows, prepared

#: Rows that a page has room for.
_MOST_ROWS = 12


@dataclass(frozen=True, eq=False)
class Inside:
    """What :func:`look_inside` saw.

    Attributes:
        elements: what each row is, in words.
        before, after: the maps of the image and of the moved one, ``(G, C, h, w)``; of the lift, RGB in [0, 1].
        channels: which of the layer's channels those are.
        matches: for each row after, the row before that it is nearest to.
        colors: whether the maps are images.
        canonical: what a canonicaliser makes of the image and of the moved one, ``(2, 3, H, W)``; None without one.
    """

    elements: tuple[str, ...]
    before: Tensor
    after: Tensor
    channels: tuple[int, ...]
    matches: tuple[Match, ...]
    colors: bool
    canonical: Tensor | None = None


def move_of(network: Network) -> Move:
    """The colour move that a network is looked at under: that of its group, or that its canonicaliser undoes."""
    group = network.opened.group
    if group is None and network.canonicalizes:
        group = _canonicalizer(network).group
    known = all_moves()
    return next((known[f.prefix] for f in (group.factors if group else ()) if f.prefix in known), known["hue"])


def layers_of(network: Network, image: Picture) -> dict[str, str]:
    """The layers that can be looked at, human name → own name."""
    with network.lock:
        return layer_names(
            network.opened.model, _outputs(network, image.tensor(network.side, network.fit)), _rows(network)
        )


def usual_layer(names: dict[str, str]) -> str:
    """The layer to begin with: an early one, where maps still look like the image."""
    wanted = "after the first convolution, rectified"
    return wanted if wanted in names else list(names)[min(1, len(names) - 1)]


def look_inside(network: Network, image: Picture, amount: float, layer: str, channels: int = 6) -> Inside:
    """The maps of a layer for an image and for the same image moved, and which rows of the two are alike.

    Args:
        network: on a group, with a row for each element; of others there is one row.
        image: as it was given.
        amount: how far it is moved, by :func:`move_of` the network.
        layer: human name, of :func:`layers_of`.
        channels: how many to show: those in which most happens.

    Raises:
        ValueError: there is no such layer.
    """
    small = image.tensor(network.side, network.fit)
    turned = moved(small, {move_of(network).prefix: amount})
    group = network.opened.group
    with network.lock:
        outputs = _outputs(network, small)
        names = layer_names(network.opened.model, outputs, _rows(network))
        if layer not in names:
            raise ValueError(f"there is no layer {layer!r} in {network.title}: expected one of {', '.join(names)}")
        canonical = _canonical(network, torch.cat([small, turned])) if network.canonicalizes else None
        if layer in (LIFT, "the image"):
            both = [_lifted(group, prepared(network.opened.model, each)) for each in (small, turned)]
            chosen: Tensor = torch.arange(1)
        else:
            both = [outputs[names[layer]].cpu(), _outputs(network, turned)[names[layer]].cpu()]
            happens = torch.cat(both).transpose(0, 1).flatten(1).std(1, unbiased=False)
            chosen = happens.topk(min(channels, len(happens))).indices.sort().values
    before, after = both
    colors = layer in (LIFT, "the image")
    return Inside(
        elements=_elements(group),
        before=(before if colors else before[:, chosen])[:_MOST_ROWS],
        after=(after if colors else after[:, chosen])[:_MOST_ROWS],
        channels=tuple(chosen.tolist()),
        matches=tuple(matching_rows(before, after))[:_MOST_ROWS],
        colors=colors,
        canonical=canonical,
    )


def _rows(network: Network) -> int:
    return 1 if network.opened.group is None else network.opened.group.order


def _elements(group: Group | None) -> tuple[str, ...]:
    return ("",) if group is None else tuple(group.describe(element) for element in group)[:_MOST_ROWS]


def _lifted(group: Group | None, images: Tensor) -> Tensor:
    return images if group is None else group.lift(images)


def _outputs(network: Network, images: Tensor) -> dict[str, Tensor]:
    model = network.opened.model
    with evaluating(model):
        return layer_outputs(model, prepared(model, images).to(network.opened.device))


def _canonicalizer(network: Network) -> Canonicalizer:
    model = network.opened.model
    assert isinstance(model, CanonicalizedModel)
    return model.canonicalizer


def _canonical(network: Network, images: Tensor) -> Tensor:
    with evaluating(network.opened.model):
        canonical: Tensor = _canonicalizer(network)(images.to(network.opened.device))[0]
    return canonical.cpu()
