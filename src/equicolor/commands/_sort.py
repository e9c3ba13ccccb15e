"""``equicolor sort``."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from equicolor._tools.files import write_csv, write_picture
from equicolor._tools.tables import Table, show_table
from equicolor.commands import _console as console
from equicolor.commands._chosen import chosen_images
from equicolor.commands._registry import register_command
from equicolor.commands._shared import BadFiles, DataSet

if TYPE_CHECKING:
    from equicolor.trained import HuePositions


@register_command(place=40)
def sort(
    model: str,
    images: Sequence[str] = (),
    *,
    data: str | None = None,
    root: Path | None = None,
    split: str = "test",
    class_: str | None = None,
    shift: str | None = None,
    limit: int | None = None,
    image_size: int | None = None,
    reference: int | None = None,
    feature: Literal["mean", "map"] = "mean",
    substeps: int = 3,
    out: Path = Path("sorted.png"),
    batch_size: int = 64,
    device: str = "auto",
    download: bool = False,
) -> "HuePositions":
    """Sorts images by hue, with the features of a hue-equivariant network.

    The paper's rule: the group element that best aligns the features of two images says how far their hues are apart.
    That gives as many bands as the group has hues; within a band, images are ordered by the place of the crest of the
    alignment between the elements. Writes a contact sheet, and a CSV file with the order beside it.

    Args:
        model: the folder of a run or of a saved model, or a name on the Hugging Face hub.
        images: files, folders (with all below them) and globs.
        data: a data set instead of files, see 'equicolor data'.
        root: the folder that holds the data; by default the environment variable EQUICOLOR_DATA.
        split: which part of the data set.
        class_: one class of the data set alone, by name.
        shift: a colour shift of the data set's images, such as hue:uniform.
        limit: take a random sample of so many images of the data set.
        image_size: show the network images of another size than that of its training.
        reference: which image hues are measured from, counted from 0; by default the first that has a hue.
        feature: what is aligned: the mean of the penultimate feature map over the image, wherever things are in it; or
            the whole map, as in the paper.
        substeps: features are computed for so many hues from one group element to the next; 1 for the elements alone.
        out: the contact sheet.
        batch_size: how many images at once.
        device: cpu, cuda, …; auto takes a GPU where there is one.
        download: fetch the data where it is missing.

    Example:
        equicolor sort runs/digits --data digits --shift hue:uniform --limit 200
        equicolor sort runs/digits --data digits --class 3 --shift hue:uniform --out threes.png
    """
    from equicolor._tools.pictures import contact_sheet
    from equicolor.trained import hue_factor, hue_features, hue_positions, open_model

    opened = open_model(model, device, image_size)
    hues = hue_factor(opened.group)
    bad = BadFiles()
    chosen = DataSet(data, root, split, shift, limit, download, class_) if data else None
    given = chosen_images(images, chosen, opened, bad)
    start = time.monotonic()
    with console.progress("looking at images", len(given)) as advance:
        batches = console.counted(given.batches(batch_size), advance)
        names, pictures, features = hue_features(opened, batches, feature, substeps)
    took = time.monotonic() - start
    bad.report(len(names))
    positions = hue_positions(features, reference, substeps=substeps)
    order = positions.order.tolist()
    sections = positions.sections(hues)
    write_picture(out, contact_sheet(pictures, sections))
    table = [
        (place, names[i], int(positions.band[i]), f"{positions.degrees[i]:.2f}", f"{positions.alignment[i]:.4f}")
        for place, i in enumerate(order)
    ]
    written = write_csv(out.with_suffix(".csv"), ("place", "path", "band", "degrees", "alignment"), table)
    rows = [
        (heading, len(members), f"{positions.alignment[members].mean():.2f}" if members else "")
        for heading, members in sections
        if members or heading != "no hue"
    ]
    show_table(Table(f"{len(names):,} images by hue", ("band", "images", "mean alignment"), rows, left=()))
    speed = console.per_second(len(names), took)
    console.note(f"{len(names):,} images sorted ({speed}). Contact sheet: {out}\nOrder: {written}")
    return positions
