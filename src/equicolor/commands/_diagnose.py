"""``equicolor diagnose``."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equicolor._tools.environment import versions
from equicolor._tools.files import write_json, write_picture
from equicolor._tools.pages import Drawing
from equicolor._tools.tables import show_table
from equicolor.commands import _console as console
from equicolor.commands._again import command_line
from equicolor.commands._page import write_page
from equicolor.commands._registry import register_command
from equicolor.commands._shared import DataSet, say_what_is_unknown

if TYPE_CHECKING:
    from equicolor.trained import ColorDiagnosis, ModelDiagnosis
    from equicolor.trained.diagnosis import Words


@register_command(place=55)
def diagnose(
    model: str | None = None,
    *,
    source: str | None = None,
    target: str | None = None,
    data: str | None = None,
    root: Path | None = None,
    split: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    image_size: int | None = None,
    folder: Path = Path("diagnosis"),
    batch_size: int = 256,
    device: str = "auto",
    download: bool = False,
) -> "ColorDiagnosis | ModelDiagnosis":
    """Says how the colours of two sets differ, or what colour would do to a network; and what to do about it.

    With --source and --target: which colour move carries the one set onto the other, how much of the difference each
    family of moves explains, and which group, canonicaliser or jitter is for it; or that the sets do not differ in
    colour. No labels are needed. With a network and --data: its error against each colour move, the range within which
    it holds, the classes that break first, and what would cover it.

    Tables are printed, and written with a picture and a report into a folder.

    Args:
        model: a trained network: the folder of a run or of a saved model, or a name on the Hugging Face hub.
        source: what a network was or will be trained on: a folder of images, a table, or a data set with a split,
            malaria:blue.
        target: what it will meet, given likewise.
        data: the labelled images that a network is tried on: a folder of one folder for each class, or a data set, with
            a split or without, digits:test.
        root: the folder that holds data sets; by default the environment variable EQUICOLOR_DATA.
        split: which part of --data; by default test, and all of a folder.
        limit: look at so many images; by default 1,000 of each set, or 500 that a network is tried on.
        seed: which.
        image_size: show the network images of another size than that of its training.
        folder: where JSON, PNG and HTML files go.
        batch_size: how many images a network takes at once.
        device: cpu, cuda, …; auto takes a GPU where there is one.
        download: fetch the data that a network is tried on where it is missing.

    Example:
        equicolor diagnose --source hue_shift_digits:train --target hue_shift_digits:test_b
        equicolor diagnose runs/digits --data digits --limit 100
    """
    if limit is not None and limit < 1:
        raise ValueError(f"--limit must be positive, got {limit}")
    if model is None and data is None and source and target:
        for option, given in (("split", split), ("image-size", image_size)):
            if given is not None:
                raise ValueError(f"--{option} is for a network and --data; of two sets, write --source NAME:SPLIT")
        folder.mkdir(parents=True, exist_ok=True)
        return _sets(source, target, root, limit, seed, folder)
    if model is None or data is None or source or target:
        raise ValueError(
            "say what to compare, --source train/ --target clinic/, or what to try: a network and the images for it, "
            "RUN --data test/"
        )
    from equicolor.data import list_datasets
    from equicolor.trained import diagnose_model, open_model
    from equicolor.trained.diagnosis import drawing_of_model, named_split, tries, words_of_model

    opened = open_model(model, device, image_size)
    say_what_is_unknown(opened)
    folder.mkdir(parents=True, exist_ok=True)  # what cannot be written should fail before it is computed
    name, part = named_split(data)
    if part and split and part != split:
        raise ValueError(f"--data {data} names a split, and --split another: {split}")
    own = name not in list_datasets() and Path(name).is_dir()
    place, kind = (Path(name), "folder") if own else (root, name)
    asked_for = DataSet(
        kind, place, part or split or ("all" if own else "test"), None, limit or 500, download, seed=seed
    )
    images = asked_for.load(opened)
    with console.progress("diagnosing", len(images) * sum(map(len, tries().values()))) as advance:
        found = diagnose_model(opened.model, images, batch_size=batch_size, advance=advance)
    asked = {"data": data, "root": root, "split": split, "limit": limit, "seed": seed or None, "image_size": image_size}
    command = command_line("diagnose", model, **asked)
    title = f"{opened.describe()}, on {found.data}"
    numbers = {"model": title, **found.summary()}
    _write(folder / "model", words_of_model(found, title), drawing_of_model(found), numbers, command)
    return found


def _sets(source: str, target: str, root: Path | None, limit: int | None, seed: int, folder: Path) -> "ColorDiagnosis":
    from equicolor.trained import diagnose_sets
    from equicolor.trained.diagnosis import drawing_of_sets, steps_of_sets, words_of_sets

    with console.progress("comparing colours", steps_of_sets(), unit="steps") as advance:
        looked = {} if limit is None else {"limit": limit}
        found = diagnose_sets(source, target, **looked, seed=seed, root=root, advance=advance)
    command = command_line("diagnose", source=source, target=target, root=root, limit=limit, seed=seed)
    _write(folder / "colors", words_of_sets(found), drawing_of_sets(found), found.summary(), command)
    return found


def _write(stem: Path, said: "Words", drawing: Drawing, numbers: Mapping[str, Any], command: str) -> None:
    """What was found, on the screen and in files: JSON, PNG and HTML."""
    print(said.title)
    for table in said.tables:
        show_table(table)
    print("\n".join(said.lines))
    made = {"command": command, "version": versions()["equicolor"] or ""}
    written = [write_json(stem.with_suffix(".json"), {**made, **numbers})]
    written.append(write_picture(stem.with_suffix(".png"), drawing.picture))
    page = write_page(stem.with_suffix(".html"), said.title, said.lines, said.tables, [drawing], command)
    console.note("Written: " + ", ".join(map(str, [*written, page])))
