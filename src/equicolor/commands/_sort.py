"""``equicolor sort``."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from equicolor._tools.files import complete_file, write_csv
from equicolor._tools.tables import Table, show_table
from equicolor.commands import _console as console
from equicolor.commands._registry import register_command
from equicolor.commands._shared import BadFiles, DataSet, image_batches

if TYPE_CHECKING:
    from torch import Tensor

    from equicolor.trained import HuePositions, Opened


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
    import torch

    from equicolor._tools.pictures import contact_sheet
    from equicolor.trained import hue_factor, hue_positions, open_model

    opened = open_model(model, device, image_size)
    hues = hue_factor(opened.group)
    bad = BadFiles()
    chosen = DataSet(data, root, split, shift, limit, download, class_) if data else None
    batches = image_batches(images, chosen, opened, batch_size, bad)
    names, pictures, features = _gathered(opened, batches, feature, substeps)
    bad.report(len(names))
    positions = hue_positions(torch.cat(features), reference, substeps=substeps)
    order = positions.order.tolist()
    coloured = [index for index in order if not positions.degrees[index].isnan()]
    sections = [
        (f"{hues.amount(k):g}{hues.unit}", [i for i in coloured if positions.band[i] == k]) for k in hues.offsets
    ]
    sections.append(("no hue", [i for i in order if positions.degrees[i].isnan()]))
    with complete_file(out) as file:
        contact_sheet(torch.cat(pictures), sections).save(file, format="png")
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
    console.note(f"Contact sheet: {out}\nOrder: {written}")
    return positions


def _gathered(
    opened: "Opened", batches: "Iterable[tuple[list[str], Tensor]]", feature: str, substeps: int
) -> "tuple[list[str], list[Tensor], list[Tensor]]":
    """The names, the pictures as uint8 and the features of all images, in batches."""
    import torch

    from equicolor.trained import fine_features, layer_features, penultimate_map, prepared

    names, pictures, features = list[str](), list["Tensor"](), list["Tensor"]()
    layer = ""
    assert opened.group is not None
    for some, loaded in batches:
        batch = prepared(opened.model, loaded)
        there = batch.to(opened.device)
        layer = layer or penultimate_map(opened.model, there[:1], opened.group)
        feature_map = layer_features(opened.model, layer)
        pooled = (lambda x, f=feature_map: f(x).mean((2, 3))) if feature == "mean" else feature_map
        names += some
        pictures.append(batch if batch.dtype == torch.uint8 else (255 * batch).round().to(torch.uint8))
        features.append(fine_features(pooled, there, opened.group, substeps).cpu())
    return names, pictures, features
