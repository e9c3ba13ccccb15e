"""The probability of a class over the whole range of a move, drawn as SVG that follows the page's colours."""

import html
from collections.abc import Sequence

from torch import Tensor

from equicolor._tools.words import in_unit
from equicolor.app._moves import Move
from equicolor.app._recolor import Answer

_WIDTH, _HEIGHT = 480, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 20, 14, 46


def chart(answers: Sequence[Answer], move: Move, position: float, plain: str | None) -> str:
    """A line for each network, from 0 to 100 %, and where the slider stands.

    Args:
        answers: of the networks, with their curves.
        move: what the axis below is.
        position: of the slider, in the unit of the move.
        plain: the title of the plain network.
    """
    if not answers:
        return ""
    truth = answers[0].network.classes[answers[0].truth]
    lines = "".join(_line(answer, move, position, answer.network.title == plain) for answer in answers)
    here = _x(position, move)
    cursor = f'<line class="ec-cursor" x1="{here:.1f}" x2="{here:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
    legend = "".join(
        f'<span class="{"ec-plain" if answer.network.title == plain else "ec-ours"}"><i></i>'
        f"{html.escape(answer.network.title)}: {_here(answer):.0%} here, "
        f"{float(answer.curve.min()):.0%} at worst</span>"
        for answer in answers
    )
    words = html.escape(f"Probability of {truth} as {move.factor.quantity} is moved")
    return (
        f'<figure class="ec-chart"><figcaption>{words}</figcaption><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{words}">{_axes(move)}{cursor}{lines}</svg><p class="ec-legend">{legend}</p></figure>'
    )


def _line(answer: Answer, move: Move, position: float, plain: bool) -> str:
    points = " ".join(
        f"{_x(float(place), move):.1f},{_y(float(value)):.1f}"
        for place, value in zip(move.places(), answer.curve, strict=True)
    )
    kind = "ec-plain" if plain else "ec-ours"
    dot = f'<circle cx="{_x(position, move):.1f}" cy="{_y(_here(answer)):.1f}" r="5"/>'
    return f'<g class="{kind}"><polyline points="{points}"/>{dot}</g>'


def _here(answer: Answer) -> float:
    """The probability where the slider stands: what the bars show, so that they agree."""
    return float(answer.probabilities[answer.truth])


def _axes(move: Move) -> str:
    parts = []
    for share in (0, 0.5, 1):
        y = _y(share)
        parts.append(f'<line class="ec-grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    for place in _ticks(move):
        text = in_unit(f"{place:g}", move.factor.unit) if move.factor.closes else f"{place:+g}" if place else "0"
        parts.append(f'<text x="{_x(place, move):.1f}" y="{_HEIGHT - _BOTTOM + 17}" text-anchor="middle">{text}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{html.escape(move.title)}</text>')
    return "".join(parts)


def _ticks(move: Move) -> list[float]:
    return [float(place) for place in Tensor.tolist(move.places()[:: move.points // 4])]


def _x(place: float, move: Move) -> float:
    return _LEFT + (place - move.low) / (move.high - move.low) * (_WIDTH - _LEFT - _RIGHT)


def _y(share: float) -> float:
    return _TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM)
