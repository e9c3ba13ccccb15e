"""The first tab: an image, a slider for every move, and what a plain and an equivariant network say."""

import html
from collections.abc import Sequence
from typing import Any

from equicolor._tools.optional import require
from equicolor._tools.words import in_unit
from equicolor.app._bars import bars
from equicolor.app._chart import chart
from equicolor.app._inside import move_of
from equicolor.app._messages import message
from equicolor.app._moves import Move, all_moves, moved
from equicolor.app._networks import Stage
from equicolor.app._picture import Picture, read_picture
from equicolor.app._recolor import Recolored
from equicolor.app._tiles import address, as_pixels

_UNKNOWN = "I do not know"


class Recolor:
    """What the tab shows, for the positions of its sliders: plain functions, which the layout calls.

    Args:
        stage: the networks.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage, self.moves, self._answers = stage, all_moves(), Recolored()

    def shown(self, image: Picture, title: str, label: str, along: str, *amounts: float) -> tuple[str, str, str]:
        """The moved image, the bars and the curves, as HTML.

        Args:
            image: as it was given.
            title: of the network beside the plain one.
            label: what is in the image.
            along: the move of the curves.
            amounts: positions of all sliders.
        """
        positions = dict(zip(self.moves, map(float, amounts), strict=True))
        move = self.moves.get(along, next(iter(self.moves.values())))
        plain = self.stage.plain
        networks = [network for network in (plain, self.stage[title]) if network is not None]
        answers = [self._answers.answer(network, image, positions, move, label) for network in networks]
        name = None if plain is None else plain.title
        picture = _figure(image, positions, self.moves)
        return picture, bars(answers, name), chart(answers, move, positions[move.prefix], name)

    def taken(self, path: str | None, before: Picture) -> tuple[Picture, str, str]:
        """The image in an uploaded file, what is in it, and a message; where it cannot be read, the one before."""
        if path is None:
            return before, before.label or _UNKNOWN, ""
        try:
            return read_picture(path), _UNKNOWN, ""
        except ValueError as error:
            return before, before.label or _UNKNOWN, message([str(error)])


def _figure(image: Picture, positions: dict[str, float], moves: dict[str, Move]) -> str:
    made = [
        f"{moves[prefix].factor.quantity} {in_unit(f'{amount:+g}', moves[prefix].factor.unit)}"
        for prefix, amount in positions.items()
        if amount
    ]
    words = html.escape(f"{image.name}: {', '.join(made) if made else 'as it is'}")
    source = address(as_pixels(moved(image.tensor(), positions)[0]))
    return f'<figure class="ec-shown"><img alt="{words}" src="{source}"><figcaption>{words}</figcaption></figure>'


def recolor_tab(stage: Stage, examples: Sequence[Picture], image: Any) -> None:
    """Lays the tab out.

    Args:
        stage: the networks.
        examples: images to begin with.
        image: the state that holds the image, shared with other tabs.
    """
    gr = require("gradio", "the app", "equicolor[app]")
    tab, first = Recolor(stage), examples[0]
    classes = stage.others[0].classes
    begin = tab.shown(first, stage.others[0].title, first.label or _UNKNOWN, "hue", *(0.0 for _ in tab.moves))
    along = gr.State("hue")
    with gr.Row():
        with gr.Column(scale=2, min_width=300):
            picture = gr.HTML(begin[0], elem_id="ec-picture")
            sliders, folds = _sliders(gr, tab.moves)
            back = gr.Button("Back to the image as it is", size="sm", elem_id="ec-back")
        with gr.Column(scale=3, min_width=320):
            titles = [network.title for network in stage.others]
            which = gr.Radio(titles, value=titles[0], label="Beside the plain network", visible=len(titles) > 1)
            answers = gr.HTML(begin[1], elem_id="ec-answers")
            curves = gr.HTML(begin[2], elem_id="ec-curves")
    gr.Markdown("### Another image")
    said = gr.HTML("", elem_id="ec-recolor-message", elem_classes="ec-message")
    with gr.Row():
        with gr.Column(scale=3, min_width=300):
            thumbnails = gr.Gallery(
                [each.pixels for each in examples], show_label=False, columns=8, height="auto", allow_preview=False,
                interactive=False, buttons=[], elem_id="ec-examples", format="png", object_fit="cover",
            )  # fmt: skip
        with gr.Column(scale=2, min_width=300):
            upload = gr.UploadButton("Upload an image", elem_id="ec-upload", type="filepath", size="md")
            with gr.Accordion("Or take one with the camera", open=False):
                camera = gr.Image(sources=["webcam"], type="filepath", label="Camera", buttons=[], format="png")
            known = first.label if first.label in classes else _UNKNOWN
            what = gr.Dropdown([_UNKNOWN, *classes], value=known, label="What is in it?", elem_id="ec-what")
    given = [image, which, what, along, *sliders.values()]
    seen = [picture, answers, curves]
    quick = {"show_progress": "hidden", "api_visibility": "private"}
    for prefix, slider in sliders.items():
        # The curves are along the slider that was moved last.
        def follow(*args: Any, prefix: str = prefix) -> Any:
            return prefix, *tab.shown(args[0], args[1], args[2], prefix, *args[4:])

        slider.change(follow, given, [along, *seen], trigger_mode="always_last", **quick)
    what.input(tab.shown, given, seen, **quick)

    def switch(*args: Any) -> Any:
        move = move_of(stage[args[1]])  # what this network is made for: its curve, and its sliders unfolded
        unfolded = [gr.Accordion(open=family == move.factor.family.name) for family in folds]
        return move.prefix, *unfolded, *tab.shown(args[0], args[1], args[2], move.prefix, *args[4:])

    which.input(switch, given, [along, *folds.values(), *seen], **quick)
    back.click(lambda: [0.0] * len(sliders), None, list(sliders.values()), **quick)

    def choose(event: gr.SelectData) -> Any:  # type: ignore[name-defined]  # gradio reads it
        chosen = examples[int(event.index)]
        return chosen, chosen.label if chosen.label in classes else _UNKNOWN, ""

    changed = [image, what, said]
    thumbnails.select(choose, None, changed, **quick).then(tab.shown, given, seen, **quick)
    for component, happened in ((upload, upload.upload), (camera, camera.change)):
        happened(tab.taken, [component, image], changed, **quick).then(tab.shown, given, seen, **quick)


def _sliders(gr: Any, moves: dict[str, Move]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A slider for each move, by prefix, and what they fold into, by family; the first family is open."""
    families: dict[str, list[Move]] = {}
    for move in moves.values():
        families.setdefault(move.factor.family.name, []).append(move)
    sliders: dict[str, Any] = {}
    folds: dict[str, Any] = {}
    for place, (family, members) in enumerate(families.items()):
        words = ", ".join(move.factor.quantity for move in members)
        with gr.Accordion(words[0].upper() + words[1:], open=place == 0, elem_id=f"ec-fold-{place}") as folds[family]:
            for move in members:
                sliders[move.prefix] = gr.Slider(
                    move.low, move.high, value=0.0, step=move.step, label=move.title, buttons=[],
                    elem_id=f"ec-slider-{move.prefix}",
                )  # fmt: skip
    return sliders, folds
