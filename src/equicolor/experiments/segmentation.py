"""Foreground against background: the masks of objects on photographs, by conventional and hue-equivariant networks."""

from collections.abc import Mapping, Sequence

import torch

from equicolor._tools.pages import Drawing
from equicolor._tools.pictures import new_figure
from equicolor.comparison import run_records
from equicolor.data import ImageSet, load
from equicolor.experiments import Outcome, Record, Runner, Setting, register_experiment
from equicolor.experiments._conclusions import of_rows
from equicolor.experiments._rows import chosen_rows, rows_of
from equicolor.experiments._stand_in import shift_columns, stand_in
from equicolor.experiments._tables import Published, error_table
from equicolor.train import Run

_RECIPES = {"Conv": "conv", "Hue-3": "hue3"}
_PAPER = {
    "Conv": Published({"test": (11.25, 0.12)}, "1.1M"),
    "Hue-3": Published({"test": (9.67, 0.23)}, "1.2M"),
}
_SHAPES = "hue_shift_shapes3d"
_QUICK = stand_in(_SHAPES, model="segmenter", epochs=2)
_SHOWN = 6


@register_experiment(
    "segmentation",
    title="Foreground-background segmentation",
    paper="Tables and Figure “Foreground-background segmentation”",
    about="Networks tell, pixel by pixel, the object on a photograph of Caltech-101 from its background.",
    quick="The objects on embedded shapes instead of Caltech-101, without the paper's numbers; short training.",
    place=55,
    differs={
        "": (
            "The paper's table of layers has 7×7 kernels, with which its network would have 4.4 million parameters; "
            "the 1.1 million that it reports are those of 3×3 kernels, which are taken here. What it does not say of "
            "the training is ours, and marked so in the recipe."
        ),
    },
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    rows = chosen_rows(setting, rows_of(setting, "caltech101_segmentation", _RECIPES, quick=_QUICK))
    runs = runner.train(rows, weights=True)
    columns, published = (shift_columns(_SHAPES), None) if setting.quick else ({"test": "Error"}, _PAPER)
    tables = [
        error_table("Pixels in the wrong class in %", rows, runs, columns, published),
        error_table("Intersection over union of the foreground in %", rows, runs, columns, metric="iou"),
    ]
    data, split = (_SHAPES, "test_b") if setting.quick else ("caltech101", "test")
    images = load(data, split=split, task="segmentation", in_memory=False)
    records: list[Record] = [
        {**record, "iou": run_iou["iou"]}
        for record, run_iou in zip(run_records(runs), run_records(runs, "iou"), strict=True)
    ]
    conclusion = of_rows(rows, runs, columns, published=published)
    return Outcome(records, tables, {"masks": _draw(images.sample(_SHOWN), runs)}, conclusion=conclusion)


@torch.inference_mode()
def _draw(images: ImageSet, runs: Mapping[str, Sequence[Run]]) -> Drawing:
    """The image, its mask, and the masks that the first seed of every network finds."""
    batch = images[:]
    columns = {"image": batch.images.movedim(1, -1), "mask": batch.targets}
    for label, those in runs.items():
        columns[label] = those[0].model.eval()(batch.images)[:, 0] > 0
    figure = new_figure(1.7 * len(columns), 1.6 * len(images) + 0.4)
    grid = figure.subplots(len(images), len(columns), squeeze=False)
    for (title, pictures), axes in zip(columns.items(), grid.T, strict=True):
        axes[0].set_title(title)
        for place, picture in zip(axes, pictures, strict=True):
            place.imshow(picture.numpy(), cmap="gray", vmin=0, vmax=1)
            place.set(xticks=[], yticks=[])
    return Drawing(
        figure,
        f"{len(images)} images, a row each: the image, its true mask, and the masks found by {', '.join(runs)}.",
        "What is white is taken for foreground. Networks are those of the first seed.",
    )
