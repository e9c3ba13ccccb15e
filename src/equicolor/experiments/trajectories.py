"""Where a digit goes in a network's feature space as its hue makes the round: trajectories, as numbers and by t-SNE."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from equicolor._tools.optional import require
from equicolor._tools.pages import Drawing
from equicolor._tools.pictures import new_figure
from equicolor.comparison import seeds_of
from equicolor.data import ImageSet, load
from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, register_experiment
from equicolor.experiments._five import FIVE
from equicolor.experiments._rows import chosen_rows, rows_of
from equicolor.groups import Hue
from equicolor.measure import evaluating, layer_outputs
from equicolor.train import Recipe
from equicolor.trained import penultimate_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_QUICK = {"train_size": 768, "epochs": 3, "batch_size": 32, "schedule": "cosine"}
_MEASURES = {
    "length": "length",
    "spread": "distance from middle",
    "changing": "class changes",
    "error": "error over all hues",
}


def rows(setting: Setting) -> list[Row]:
    """The five networks, of one seed: the paper's protocol, or on embedded digits."""
    protocol = "hue_shift_digits" if setting.quick else "hue_shift_mnist"
    first = Recipe.load(protocol).seeds[:1]
    return rows_of(setting, protocol, FIVE, {"seeds": first}, _QUICK)


@dataclass(frozen=True, eq=False)
class Trajectories:
    """What a network makes of digits under every hue.

    Attributes:
        features: pooled over the group, ``(digits, hues, D)``.
        classes: predicted, ``(digits, hues)``.
        labels: the true ones, ``(digits,)``.
    """

    features: Tensor
    classes: Tensor
    labels: Tensor

    def summary(self) -> dict[str, float]:
        """The measures, in the feature space itself."""
        around = torch.cat([self.features, self.features[:, :1]], 1)
        length = around.diff(dim=1).norm(dim=2).sum(1)
        spread = (self.features - self.features.mean(1, keepdim=True)).norm(dim=2).mean(1)
        there = sorted(set(self.labels.tolist()))
        centroids = torch.stack([self.features[self.labels == k].mean((0, 1)) for k in there])
        apart = torch.pdist(centroids).mean()
        return {
            "length": float(length.mean() / apart),
            "spread": float(spread.mean() / apart),
            "changing": float((self.classes != self.classes[:, :1]).any(1).double().mean()),
            "error": float((self.classes != self.labels[:, None]).double().mean()),
        }


def trajectories(
    model: nn.Module, digits: ImageSet, hues: int, advance: Callable[[int], None] = lambda count: None
) -> Trajectories:
    """The penultimate features of each digit under so many hues around the circle, their maximum over the group.

    ``advance`` is told of the digits under each hue.
    """
    group = getattr(model, "group", None) or Hue(1)
    layer = penultimate_map(model, digits[:1].images, group)
    features, classes = [], []
    for hue in range(hues):
        images = digits.with_shift(f"hue:{360 * hue / hues}")[:].images
        with evaluating(model):
            found = layer_outputs(model, images, only=layer)[layer]
            classes.append(model(images).argmax(1))
        features.append(torch.unflatten(found, 0, (group.order, len(images))).amax(0).flatten(1))
        advance(len(images))
    return Trajectories(torch.stack(features, 1), torch.stack(classes, 1), digits.labels)


def of_each_class(images: ImageSet, count: int) -> ImageSet:
    """The first ``count`` images of each class, class by class."""
    return images.subset(torch.cat([(images.labels == k).nonzero()[:count, 0] for k in range(images.num_classes)]))


@register_experiment(
    "trajectories",
    title="Feature trajectories of digits over 360° of hue",
    paper="Figures “Hue-shift MNIST feature map visualization” (t-SNE)",
    about=(
        "The hue of a digit makes the round while its features are followed: in a hue-equivariant network they should "
        "stay where they are."
    ),
    quick="Embedded digits, 768 training images, three epochs; fewer digits and hues.",
    place=25,
    differs={
        "Z2CNN": (
            "The paper sees digits move far in the features of Z2CNN as their hue makes the round, and little in those "
            "of its own networks. Here Z2CNN strays no farther than they do: its error on unseen hues is small too, "
            "see the experiment mnist."
        )
    },
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    chosen = chosen_rows(setting, rows(setting))
    runs = runner.train(chosen, weights=True)
    test = load("digits" if setting.quick else "mnist", split="test")
    digits, shown, hues = (of_each_class(test, 5), 2, 36) if setting.quick else (of_each_class(test, 30), 3, 72)
    drawn = torch.cat([(digits.labels == k).nonzero()[:shown, 0] for k in range(digits.num_classes)])
    records: list[Record] = []
    features: dict[str, Tensor] = {}
    for row in chosen:
        label = row.label
        for run in runs[label]:
            with runner.progress(f"{label}, seed {run.recipe.seed}: turning hues", len(digits) * hues) as advance:
                found = trajectories(run.model, digits, hues, advance)
            records.append({"network": label, "seed": run.recipe.seed, **found.summary()})
            features.setdefault(row.marked, found.features[drawn])
    pictures: dict[str, tuple[Tensor, Tensor]] = {}
    with runner.progress("embedding by t-SNE", len(features), unit="networks") as advance:
        for label, own in features.items():
            pictures[label] = (embedded(own), digits.labels[drawn])
            advance(1)
    notes = [
        f"{len(digits)} test digits under {hues} hues from 0° to 360°. Features are those before the last convolution, "
        "their maximum over the group; length and distance are measured there, not in the picture, and in units of the "
        "mean distance between the centroids of classes. A digit's class changes if it is not the same under all hues. "
        "Training hues are those below 240°. Numbers are means (standard deviations) over "
        f"{seeds_of(records)}, pictures are of the first; * marks what the table calls reduced.",
        "On a group of n hues the features make the same loop n times, which makes them travel far; how far they stray "
        "from the middle of their trajectory is what the pictures show.",
        f"t-SNE of {len(drawn)} of the digits (perplexity 30, from the principal components, seed 0), by itself for "
        "each network: distances in one picture cannot be compared with those in another.",
        "The paper shows pictures alone and prints no numbers to compare with.",
    ]
    drawing = Drawing(
        _draw(pictures),
        f"Closed lines, one for each of {len(drawn)} digits as its hue makes the round, coloured by class, in a panel "
        f"for each of {', '.join(pictures)}.",
        "t-SNE of the features of digits as their hues make the round. The smaller a loop, the less the hue matters.",
    )
    return Outcome(records, [_table(chosen, records)], {"trajectories": drawing}, notes, _conclusion(records))


def _conclusion(records: Sequence[Record]) -> list[str]:
    """Who strays least from the middle of its way, and whose classes change."""

    def mean(label: str, measure: str) -> float:
        return statistics.fmean(float(r[measure] or 0) for r in records if r["network"] == label)

    labels = list(dict.fromkeys(str(record["network"]) for record in records))
    order = sorted(labels, key=lambda label: mean(label, "spread"))
    said = ", ".join(f"{label} {mean(label, 'spread'):.2f}" for label in order)
    change = ", ".join(f"{label} {mean(label, 'changing'):.0%}" for label in labels)
    return [
        "How far features stray from the middle of their way as the hue makes the round, in units of the distance "
        f"between classes, the least first: {said}.",
        f"Digits whose class changes with the hue: {change}.",
    ]


def embedded(features: Tensor) -> Tensor:
    """The t-SNE of features ``(digits, hues, D)``, ``(digits, hues, 2)``."""
    points = features.flatten(0, 1).numpy()
    perplexity = min(30.0, (len(points) - 1) / 3)
    tsne = require("sklearn.manifold", "t-SNE").TSNE(perplexity=perplexity, init="pca", random_state=0)
    return torch.unflatten(torch.from_numpy(np.asarray(tsne.fit_transform(points))), 0, features.shape[:2])


def _table(chosen: Sequence[Row], records: Sequence[Record]) -> Table:
    lines = []
    for row in chosen:
        cells = []
        for measure in _MEASURES:
            values = [float(record[measure] or 0) for record in records if record["network"] == row.label]
            form = ".2%" if measure in ("changing", "error") else ".3f"
            spread = f" ({statistics.stdev(values):{form}})" if len(values) > 1 else ""
            cells.append(f"{statistics.fmean(values):{form}}{spread}")
        lines.append([row.title, *cells])
    return Table("Feature trajectories of digits over 360° of hue", ["network", *_MEASURES.values()], lines)


def _draw(pictures: Mapping[str, tuple[Tensor, Tensor]]) -> "Figure":
    """Trajectories as closed lines, coloured by the class of the digit."""
    from matplotlib import colormaps

    columns = min(3, len(pictures))
    lines = -(-len(pictures) // columns)
    figure = new_figure(4.2 * columns, 4.2 * lines + 0.4)
    grid = figure.subplots(lines, columns, squeeze=False).flat
    colours = colormaps["tab10"].colors  # type: ignore[attr-defined]
    for axes, (label, (points, labels)) in zip(grid, pictures.items(), strict=False):
        for path, digit in zip(points, labels.tolist(), strict=True):
            closed = torch.cat([path, path[:1]]).numpy()
            axes.plot(*closed.T, color=colours[digit], linewidth=0.6, alpha=0.4)
            axes.scatter(*path.numpy().T, color=colours[digit], s=4, linewidths=0)
        axes.set_title(label)
    for axes in figure.axes:
        axes.set(xticks=[], yticks=[])
    for axes in figure.axes[len(pictures) :]:
        axes.set_axis_off()
    handles = [figure.axes[0].scatter([], [], color=colours[digit], label=str(digit)) for digit in range(10)]
    figure.legend(handles=handles, loc="outside lower center", ncols=10, title="class", frameon=False)
    return figure
