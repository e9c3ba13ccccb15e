"""A look inside as HTML: a row for each element, before and after, and the same frame around the same maps."""

import html

import torch
from torch import Tensor

from equicolor._tools.palette import FRAMES
from equicolor.app._inside import Inside
from equicolor.app._tiles import address, as_pixels, strip
from equicolor.trained import Match, matches_in_words


def rows(inside: Inside, quantity: str, amount: str) -> str:
    """Two columns: the image as it is, and moved. A row after has the frame of the row before that it is like."""
    # One scale for a channel on both sides, so that the same map looks the same.
    scale = None if inside.colors else _scale(inside)
    before = [
        _row(place, inside, inside.before[place], scale, Match(place, 0.0)) for place in range(len(inside.before))
    ]
    after = [
        _row(place, inside, inside.after[place], scale, match, moved=True) for place, match in enumerate(inside.matches)
    ]
    shown = "" if inside.colors else f" Channels {', '.join(map(str, inside.channels))}, where most happens."
    return (
        f'<p class="ec-said">{_said(inside)}{shown}</p><div class="ec-sides">'
        f"<div><h4>The image as it is</h4>{''.join(before)}</div>"
        f"<div><h4>{html.escape(quantity)} moved by {html.escape(amount)}</h4>{''.join(after)}</div></div>"
        f"{_canonical(inside)}"
    )


def _scale(inside: Inside) -> tuple[Tensor, Tensor]:
    """The least and the largest value of each channel on both sides, ``(C,)`` each."""
    every = torch.cat([inside.before, inside.after]).transpose(0, 1).flatten(1)
    return every.amin(1), every.amax(1)


def _row(
    place: int, inside: Inside, maps: Tensor, scale: tuple[Tensor, Tensor] | None, match: Match, moved: bool = False
) -> str:
    pixels = as_pixels(maps) if scale is None else strip(maps, *scale)
    element = inside.elements[place] if place < len(inside.elements) else ""
    color = FRAMES[match.row % len(FRAMES)]
    several = len(inside.before) > 1
    badge = f'<span class="ec-badge" style="background:{color}">{match.row + 1}</span>' if several else ""
    like = "" if not moved else "the same map" if match.same else f"{min(match.distance, 9.99):.0%} off"
    kind = "ec-same" if match.same else "ec-near"
    what = "Image" if inside.colors else f"Feature maps of {len(inside.channels)} channels"
    alt = " ".join(filter(None, [what, f"at {element}" if element else "", f"({like})" if like else ""]))
    wide = "ec-wide" if scale is not None else "ec-square"
    return (
        f'<div class="ec-row {kind}" data-row="{match.row + 1}" data-same="{int(match.same)}">{badge}'
        f'<img class="{wide}" alt="{html.escape(alt)}" src="{address(pixels)}" '
        f'style="border-color:{color}"><span class="ec-note">{html.escape(element)}<em>{like}</em></span></div>'
    )


def _said(inside: Inside) -> str:
    """What there is to see, in a sentence."""
    if len(inside.before) == 1:
        off = inside.matches[0].distance
        if off <= 0.02:
            return "This network has no group, so there is one row; it has not changed."
        return f"This network has no group, so there is one row, and it changes with the colours: by {off:.0%}."
    return html.escape(matches_in_words(inside.matches))


def _canonical(inside: Inside) -> str:
    if inside.canonical is None:
        return ""
    one, other = (
        f'<img class="ec-square" alt="{words}" src="{address(as_pixels(image))}">'
        for image, words in zip(inside.canonical, ("canonical image", "canonical image of the moved one"), strict=True)
    )
    return (
        "<h4>What its canonicaliser makes of both, before the network looks</h4>"
        f'<div class="ec-sides"><div class="ec-row">{one}</div><div class="ec-row">{other}</div></div>'
    )
