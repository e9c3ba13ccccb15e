"""The second tab: feature maps, a row for each element, which move as the colours do."""

from typing import Any

from equicolor._tools.optional import require
from equicolor._tools.words import in_unit
from equicolor.app._inside import layers_of, look_inside, move_of, usual_layer
from equicolor.app._networks import Stage
from equicolor.app._picture import Picture
from equicolor.app._rows import rows


def inside_page(stage: Stage, image: Picture, title: str, amount: float, layer: str) -> str:
    """The maps of a layer before and after a move, as HTML.

    Args:
        stage: the networks.
        image: as it was given.
        title: of the network.
        amount: how far the image is moved.
        layer: by its human name.
    """
    network, move = stage[title], move_of(stage[title])
    names = layers_of(network, image)
    seen = look_inside(network, image, amount, layer if layer in names else usual_layer(names))
    return rows(seen, move.factor.quantity, in_unit(f"{amount:g}", move.factor.unit))


def inside_tab(stage: Stage, first: Picture, image: Any, tab: Any) -> None:
    """Lays the tab out.

    Args:
        stage: the networks.
        first: the image to begin with.
        image: the state that holds the image.
        tab: the tab itself, which is drawn anew when it is opened.
    """
    gr = require("gradio", "the app", "equicolor[app]")
    begin = stage.others[0]
    names = layers_of(begin, first)
    gr.Markdown(
        "The image of the first tab, inside of a network: a row for each colour move of its group, one map for each "
        "channel. Move the colours, and see the same maps **in other rows**: equal frames are around equal maps."
    )
    with gr.Row():
        titles = [network.title for network in (*stage.others, *([stage.plain] if stage.plain else []))]
        which = gr.Radio(titles, value=begin.title, label="Network", min_width=280)
        layer = gr.Dropdown(list(names), value=usual_layer(names), label="Layer", elem_id="ec-layer", min_width=280)
        amount = gr.Slider(**_slider(stage, begin.title), elem_id="ec-turn", min_width=280)
    maps = gr.HTML(elem_id="ec-maps")
    quick = {"show_progress": "hidden", "api_visibility": "private"}

    def draw(picture: Picture, title: str, far: float, name: str) -> str:
        return inside_page(stage, picture, title, far, name)

    def change(picture: Picture, title: str) -> Any:
        found = layers_of(stage[title], picture)
        own = _slider(stage, title)
        page = inside_page(stage, picture, title, own["value"], usual_layer(found))
        return gr.Dropdown(list(found), value=usual_layer(found)), gr.Slider(**own), page

    given = [image, which, amount, layer]
    which.input(change, [image, which], [layer, amount, maps], **quick)
    layer.input(draw, given, maps, **quick)
    amount.change(draw, given, maps, trigger_mode="always_last", **quick)
    tab.select(draw, given, maps, **quick)


def _slider(stage: Stage, title: str) -> dict[str, Any]:
    """The slider of a network: it stops at the elements of its group, and begins at the first that moves something."""
    move, group = move_of(stage[title]), stage[title].opened.group
    own = next((factor for factor in (group.factors if group else ()) if factor.prefix == move.prefix), None)
    step = own.amount(1) if own is not None and own.order > 1 else (move.high - move.low) / 4
    return {
        "minimum": move.low, "maximum": move.high, "value": step, "step": step / 6, "label": f"{move.title}, moved by",
    }  # fmt: skip
