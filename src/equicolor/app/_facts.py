"""What is known of the networks on the page: their cards, in a few lines each."""

import html

from equicolor.app._networks import Network, Stage


def facts(stage: Stage) -> str:
    """A card for each network: what it is, what it was trained on, and how good it is, as HTML."""
    cards = "".join(_fact(network, network is stage.plain) for network in stage.networks)
    return f'<div class="ec-cards">{cards}</div>'


def _fact(network: Network, plain: bool) -> str:
    card = network.opened.card
    lines = {
        "network": network.about,
        "classes": ", ".join(network.classes[:12]) + (" …" if len(network.classes) > 12 else ""),
        "images": f"{network.side}×{network.side}",
        "trained on": _data(card.data or {}),
        "error": ", ".join(
            f"{split} {100 * error:.1f} %"
            for split, found in (card.metrics or {}).items()
            if (error := found.get("error")) is not None
        ),
    }
    rows = "".join(f"<tr><td>{name}</td><td>{html.escape(text)}</td></tr>" for name, text in lines.items() if text)
    return (
        f'<section class="ec-card {"ec-plain" if plain else "ec-ours"}"><h3>{html.escape(network.title)}</h3>'
        f'<div class="ec-report ec-facts"><table>{rows}</table></div></section>'
    )


def _data(data: "dict[str, object]") -> str:
    """The set, its split and how many images: what a card says of the training data."""
    words = [str(data[key]) for key in ("name", "split") if data.get(key)]
    images = data.get("images")
    return " ".join(words) + (f", {images:,} images" if isinstance(images, int) else "")
