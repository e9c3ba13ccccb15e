"""Class probabilities as bars of HTML."""

import html
from collections.abc import Sequence

from torch import Tensor

from equicolor.app._recolor import Answer

#: Classes that are shown of a network that knows more.
_MOST = 6


def bars(answers: Sequence[Answer], plain: str | None) -> str:
    """One card for each network, side by side: what it says, and the probabilities of its classes.

    Args:
        answers: of the networks.
        plain: the title of the plain one, which has a colour of its own.
    """
    return f'<div class="ec-cards">{"".join(_card(answer, answer.network.title == plain) for answer in answers)}</div>'


def _card(answer: Answer, plain: bool) -> str:
    network, says = answer.network, answer.says
    truth = network.classes[answer.truth]
    right = says == truth
    verdict = "as it should" if right else f"it is a {truth}" if _is_word(truth) else f"it is {truth}"
    rows = "".join(
        _row(network.classes[place], float(answer.probabilities[place]), place == answer.truth)
        for place in _shown(answer.probabilities, answer.truth)
    )
    title = html.escape(network.title)
    return (
        f'<section class="ec-card {"ec-plain" if plain else "ec-ours"}" data-network="{title}">'
        f"<h3>{title} <small>{html.escape(network.about)}</small></h3>"
        f'<p class="ec-says {"ec-right" if right else "ec-wrong"}"><span aria-hidden="true">{"✓" if right else "✗"}'
        f"</span> says <b>{html.escape(says)}</b>, {html.escape(verdict)}</p>"
        f'<div class="ec-bars">{rows}</div></section>'
    )


def _row(name: str, probability: float, true: bool) -> str:
    label = html.escape(name)
    return (
        f'<div class="ec-bar{" ec-true" if true else ""}" data-class="{label}" data-probability="{probability:.4f}">'
        f'<span class="ec-name">{label}</span><span class="ec-track"><span class="ec-fill" '
        f'style="width:{100 * probability:.1f}%"></span></span><span class="ec-value">{probability:.0%}</span></div>'
    )


def _shown(probabilities: Tensor, truth: int) -> list[int]:
    """All classes in their order; of many, the likeliest and the one that is followed."""
    if len(probabilities) <= _MOST:
        return list(range(len(probabilities)))
    likeliest = probabilities.topk(_MOST).indices.tolist()
    return sorted(likeliest if truth in likeliest else [*likeliest[:-1], truth])


def _is_word(name: str) -> bool:
    return name[:1].isalpha() and name[0].lower() not in "aeiou"
