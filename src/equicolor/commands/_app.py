"""``equicolor app``."""

from collections.abc import Sequence
from pathlib import Path

from equicolor.commands import _console as console
from equicolor.commands._registry import register_command

#: Images that are shown as examples.
_MOST_EXAMPLES = 12


@register_command(place=57)
def app(
    model: str | None = None,
    *,
    beside: str | None = None,
    images: Sequence[str] = (),
    port: int | None = None,
    share: bool = False,
    device: str = "cpu",
) -> None:
    """Opens a page in the browser to play with: recolour an image, look inside of networks, sort, diagnose.

    It opens with small networks that come with the package, or with one of your own; nothing is downloaded. Only this
    machine can reach it, unless --share is given. Ctrl-C ends it.

    Args:
        model: a trained network: the folder of a run or of a saved model, or a name on the Hugging Face hub.
        beside: another one, of the same classes, to compare it with; by default the plain one that was trained likewise
            and lies in the same folder, if there is one.
        images: files, folders and globs of example images, of which some are shown; a folder that is named as a class
            says what is in its images.
        port: where it is served; by default the first free one from 7860 on.
        share: make the page reachable for everybody who has its address, through a tunnel of gradio's, for a while.
        device: cpu, cuda, …

    Example:
        equicolor app
    """
    from equicolor.app import make_page, read_picture
    from equicolor.trained import find_images

    problems: list[str] = []
    found = find_images(images, lambda name, why: problems.append(f"{name}: {why}")) if images else []
    files = [place for place in found if isinstance(place, Path)]
    if len(files) < len(found):
        problems.append("examples are image files here: what is at addresses and in Parquet files is left out")
    for problem in problems:
        console.note(problem)
    examples = [read_picture(path, label=path.parent.name) for path in files[:_MOST_EXAMPLES]]
    page = make_page(model, beside=beside, examples=examples, device=device)
    _, here, everywhere = page.launch(port=port, share=share, prevent_thread_lock=True)
    console.note(f"The page is at {everywhere or here}. Ctrl-C ends it.")
    page.blocks.block_thread()
