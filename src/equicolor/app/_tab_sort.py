"""The third tab: images in the order of hue that a network finds."""

from typing import Any

from equicolor._tools.optional import require
from equicolor.app._messages import message
from equicolor.app._networks import Stage
from equicolor.app._sorting import example_images, sort_images, sorted_page, sorter, uploaded_images


def sort_page(stage: Stage, paths: list[str] | None) -> tuple[str, str]:
    """The sorted images and a message, as HTML; of no files, the examples.

    Args:
        stage: the networks.
        paths: of uploaded files.
    """
    network = sorter(stage)
    if network is None:
        return "", message(["None of these networks has hues among its group: sorting takes one on hue4, say."])
    images, problems = uploaded_images(paths) if paths else (example_images(), [])
    try:
        return sorted_page(sort_images(network, images)), message(problems)
    except ValueError as error:
        return "", message([*problems, str(error)])


def sort_tab(stage: Stage, tab: Any) -> None:
    """Lays the tab out.

    Args:
        stage: the networks.
        tab: the tab itself; the examples are sorted when it is first opened.
    """
    gr = require("gradio", "the app", "equicolor[app]")
    gr.Markdown(
        "Drop images, and see them in the order of hue. Nobody told the network what a hue is: the turn that best "
        "carries the features of one image onto those of another says how far apart they are."
    )
    files = gr.File(
        file_count="multiple", type="filepath", label="Images, or a zip of them", height=150, elem_id="ec-sort-files"
    )
    said = gr.HTML("", elem_id="ec-sort-message", elem_classes="ec-message")
    sheet = gr.HTML("", elem_id="ec-sheet")

    def run(paths: list[str] | None) -> tuple[str, str]:
        return sort_page(stage, paths)

    files.change(run, files, [sheet, said], api_visibility="private")
    tab.select(run, files, [sheet, said], show_progress="hidden", api_visibility="private")
