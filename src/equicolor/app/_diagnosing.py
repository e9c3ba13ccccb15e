"""How the colours of two uploaded sets differ: the report of ``equicolor diagnose``, on the page."""

import html
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from equicolor._tools.files import png
from equicolor._tools.pages import html_paragraphs, html_picture, html_table
from equicolor.app._moves import moved
from equicolor.app._picture import example_pictures
from equicolor.app._uploads import read_uploads
from equicolor.trained import diagnose_sets
from equicolor.trained.diagnosis import drawing_of_sets, words_of_sets

#: The side of images that are compared, and how many of a set are looked at.
_SIDE, _LIMIT = 96, 200
#: How the light of the example differs, and where its cuttings begin.
_WARMER, _CUTS = 0.8, (0, 11, 21, 32)


def diagnosis_page(source: Tensor, target: Tensor, names: tuple[str, str] = ("the first set", "the second set")) -> str:
    """How the colours of two sets differ, as HTML: words, tables and a picture.

    Args:
        source, target: images, uint8 or in [0, 1], ``(N, 3, S, S)``.
        names: what they are called.

    Raises:
        ValueError: one has too few images.
    """
    for name, images in zip(names, (source, target), strict=True):
        if len(images) < 5:
            raise ValueError(
                f"In {name} are {len(images)} images that can be read: colours are compared over 5 at least."
            )
    found = replace(diagnose_sets(source, target, limit=_LIMIT), source=names[0], target=names[1])
    said = words_of_sets(found)
    drawing = drawing_of_sets(found)
    parts = [f"<h3>{html.escape(said.title)}</h3>", html_paragraphs(said.lines), *map(html_table, said.tables)]
    parts.append(html_picture(png(drawing.picture), drawing.alt, drawing.caption))
    return f'<div class="ec-report">{"".join(parts)}</div>'


def uploaded_sets(source: Sequence[str | Path], target: Sequence[str | Path]) -> tuple[Tensor, Tensor, list[str]]:
    """What was uploaded for either set, and what could not be used of it."""
    one, other = read_uploads(source, _SIDE, _LIMIT), read_uploads(target, _SIDE, _LIMIT)
    return one.batch, other.batch, [*one.problems, *other.problems]


def example_sets() -> tuple[Tensor, Tensor]:
    """Cuttings of the examples, and others of them in warmer light, ``(64, 3, S, S)`` in [0, 1] each."""
    whole = torch.cat([image.tensor(_SIDE) for image in example_pictures()])
    third = _SIDE // 3
    cuttings = [whole[..., y : y + 2 * third, x : x + 2 * third] for y in _CUTS for x in _CUTS]
    return torch.cat(cuttings[::2]), moved(torch.cat(cuttings[1::2]), {"temp": _WARMER})
