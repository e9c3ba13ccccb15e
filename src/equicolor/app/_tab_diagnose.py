"""The fourth tab: how the colours of two sets differ."""

from typing import Any

from equicolor._tools.optional import require
from equicolor.app._diagnosing import diagnosis_page, example_sets, uploaded_sets
from equicolor.app._messages import message


def diagnose_page(source: list[str] | None, target: list[str] | None) -> tuple[str, str]:
    """The report on two sets and a message, as HTML; of no files at all, the report on the examples.

    Args:
        source, target: paths of uploaded files.
    """
    try:
        if not source and not target:
            return diagnosis_page(*example_sets(), names=("shapes", "shapes in warmer light")), ""
        one, other, problems = uploaded_sets(source or [], target or [])
        return diagnosis_page(one, other), message(problems)
    except ValueError as error:
        return "", message([str(error)])


def diagnose_tab() -> None:
    """Lays the tab out."""
    gr = require("gradio", "the app", "equicolor[app]")
    gr.Markdown(
        "What will your network meet that it was not trained on? Give images from both places, some dozens of each, no "
        "labels: this says which colour move lies between them, and what to do about it. Without images, it shows an "
        "example. Takes some seconds."
    )
    with gr.Row():
        sets = [_files(gr, *each) for each in (("To train on", "source"), ("To be used on", "target"))]
    start = gr.Button("Compare their colours", variant="primary", elem_id="ec-compare")
    said = gr.HTML("", elem_id="ec-diagnose-message", elem_classes="ec-message")
    report = gr.HTML("", elem_id="ec-report", min_height=80)
    start.click(diagnose_page, sets, [report, said], show_progress_on=report, api_visibility="private")


def _files(gr: Any, label: str, name: str) -> Any:
    """Where files or a zip are dropped, or a folder is chosen."""
    with gr.Column():
        files = gr.File(
            file_count="multiple", type="filepath", label=f"{label}: images, or a zip", height=150, elem_id=f"ec-{name}"
        )
        folder = gr.UploadButton("or a whole folder", file_count="directory", type="filepath", size="sm")
        folder.upload(lambda paths: paths, folder, files, api_visibility="private")
    return files
