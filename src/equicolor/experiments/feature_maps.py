"""Feature maps of an image and of the same image with moved colours, drawn so that their permutation can be seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from equicolor._tools.pages import Drawing
from equicolor._tools.palette import FRAMES
from equicolor._tools.pictures import new_figure
from equicolor.data import load
from equicolor.experiments import Outcome, Record, Runner, Setting, Table, chosen_rows, register_experiment, rows_of
from equicolor.experiments.shapes3d import QUICK, data_note
from equicolor.groups import Element, Group
from equicolor.measure import evaluating, layer_outputs
from equicolor.models import create_model
from equicolor.train import Recipe
from equicolor.trained import inspect_model

#: Of Z2CNN. CEConv lifts by its first convolution.
LAYERS = {"lift": "lift", "layers.0": "first convolution", "layers.3": "second convolution"}
_HUE = {"Hue-4": "hue4", "CEConv-4": "ceconv4"}
_NO_LIFT = ("CEConv-4",)
_UNTRAINED = {"Sat-3": ("sat3", "saturation_shift_shapes3d"), "Lum-3": ("lum3", "luminance_shift_shapes3d")}
#: Relative errors below are those of float32.
_ROUNDING = 1e-5
_MOVED = 1  # the element that moves the image: 90° of hue, one step of saturation or luminance
_BORDER = FRAMES[0]  # blue, as in the paper


@dataclass(frozen=True, eq=False)
class Maps:
    """One channel of a layer, or the colours of the lift, of an image and of the image moved by a group element.

    Attributes:
        name: of the layer.
        still, moved: the maps of both images at each element, ``(G, channels, h, w)`` of one channel or of three.
        shift: which element of ``still`` each of ``moved`` should be, None where it is outside the group's window.
        error: the relative equivariance error of the whole layer, all channels.
    """

    name: str
    still: Tensor
    moved: Tensor
    shift: list[int | None]
    error: float


def correspondence(group: Group, element: Element) -> list[int | None]:
    """Which row of a feature on the group each row of the moved feature is: ϕ as a list, None outside the window.

    >>> from equicolor.groups import group as by_name
    >>> correspondence(by_name("hue4"), 1), correspondence(by_name("sat3"), 1)
    ([1, 2, 3, 0], [1, 2, None])
    """
    rows = group.act_on_features(element, torch.arange(group.order)).tolist()
    known = group.overlap(element).tolist()
    return [row if inside else None for row, inside in zip(rows, known, strict=True)]


def maps(model: nn.Module, group: Group, image: Tensor, layer: str) -> Maps:
    """The channel of a layer that differs most between the elements, for ``image`` ``(3, H, W)`` and for it moved."""
    seen = inspect_model(model, image, layer, channels=3 if layer == "lift" else 1)
    with evaluating(model):
        moved = layer_outputs(model, group.act_on_images(_MOVED, image[None]), only=layer)[layer]
    error = float(seen.errors[layer][group.index(_MOVED)])
    return Maps(layer, seen.maps, moved[:, seen.channels], correspondence(group, _MOVED), error)


@register_experiment(
    "feature-maps",
    title="Feature maps under hue, saturation and luminance shift",
    paper=(
        "Figures “Hue-equivariant feature maps” (a), “Saturation-equivariant feature maps” and “Luminance equivariant "
        "feature maps”"
    ),
    about="Moving the colours of an image moves its feature maps along the group, at every layer.",
    quick="Hue-4 and CEConv-4 trained on a few thousand images for three epochs.",
    place=65,
    differs={
        "": (
            "The images are our own shapes where the paper shows others; Sat-3 and Lum-3 have random weights, since "
            "what is shown holds of any. CEConv is trained by the recipe of Z2CNN."
        ),
    },
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    setting.single_seed()
    first = {"seeds": Recipe.load("hue_shift_shapes3d").seeds[:1]}
    rows = chosen_rows(setting, rows_of(setting, "hue_shift_shapes3d", _HUE, first, QUICK))
    runs = runner.train(rows, weights=True)
    networks: dict[str, tuple[nn.Module, str, str]] = {
        label: (those[0].model, those[0].recipe.data, "trained") for label, those in runs.items()
    }
    for label, (name, data) in _UNTRAINED.items():
        torch.manual_seed(0)
        networks[label] = (create_model("z2cnn", name, num_classes=4), data, "random weights")
    records: list[Record] = []
    pictures: dict[str, Drawing] = {}
    with runner.progress("drawing feature maps", len(networks), unit="networks") as advance:
        for label, (model, data, weights) in networks.items():
            group: Group = model.group  # type: ignore[assignment]
            image = load(data, split="test_a").sample(1)[0].images
            layers = [layer for layer in LAYERS if layer != "lift" or label not in _NO_LIFT]
            found = [maps(model, group, image, layer) for layer in layers]
            move = group.describe(_MOVED)
            pictures[f"feature-maps-{label.lower()}"] = _draw(f"{label}, {weights}: {move}", group, image, found)
            about: Record = {"network": label, "weights": weights, "move": move}
            records += [{**about, "layer": each.name, "error": each.error} for each in found]
            advance(1)
    notes = [
        "In each pair of rows: an image and its maps at every element of the group, and below it the image with moved "
        "colours and its maps. A map below should be the one above it, permuted; blue borders mark one such pair. Of "
        "each layer the channel is shown that differs most between the elements; the error is that of all channels.",
        "Sat-3 and Lum-3 have random weights, of seed 0: no run of theirs is needed to see where equivariance holds. "
        "Their groups are truncated, so what comes from outside the window has no counterpart (crossed out). The lift "
        "is equivariant wherever there is one; every convolution behind it reaches over the edge of a window of three "
        "elements, where it reads zeros, and its maps correspond only roughly.",
        *(f"{row.label}: {row.reduced}." for row in rows if row.reduced),
        data_note(),
    ]
    return Outcome(records, [_table(records)], pictures, notes, _conclusion(records))


def _conclusion(records: Sequence[Record]) -> list[str]:
    """How far the maps of each network are from being moved along, from its first layer to its last."""
    found = []
    for label in dict.fromkeys(str(record["network"]) for record in records):
        errors = {LAYERS[str(r["layer"])]: float(r["error"] or 0) for r in records if r["network"] == label}
        worst = max(errors, key=lambda layer: errors[layer])
        said = ", ".join(f"{layer} {error:.0e}" for layer, error in errors.items())
        kind = "move along the group, but for rounding" if errors[worst] < _ROUNDING else "move along only in part"
        found.append(f"{label}: its maps {kind}. Relative errors: {said}.")
    return found


def _table(records: Sequence[Record]) -> Table:
    lines = [
        [f"{r['network']}, {r['weights']}", str(r["move"]), LAYERS[str(r["layer"])], f"{r['error']:.1e}"]
        for r in records
    ]
    return Table("Relative equivariance error of the layers shown", ["network", "move", "layer", "error"], lines)


def _pixels(picture: Tensor) -> Any:
    """As matplotlib takes it: colours ``(h, w, 3)``, or one channel ``(h, w)``."""
    return picture[0].numpy() if len(picture) == 1 else picture.permute(1, 2, 0).clamp(0, 1).numpy()


def _draw(title: str, group: Group, image: Tensor, found: Sequence[Maps]) -> Drawing:
    moved_image = group.act_on_images(_MOVED, image)
    columns = group.order
    figure = new_figure(1.7 * (columns + 1), 3.7 * len(found) + 0.5)
    figure.suptitle(title)
    parts = figure.subfigures(len(found), 1, squeeze=False)[:, 0]
    for part, each in zip(parts, found, strict=True):
        part.suptitle(f"{LAYERS[each.name]}: relative error {each.error:.1e}", fontsize="medium")
        grid = part.subplots(2, columns + 1)
        scale = {"vmin": float(each.still.min()), "vmax": float(each.still.max()), "cmap": "viridis"}
        marked = next(place for place, source in enumerate(each.shift) if source not in (None, place))
        for row, (picture, those) in enumerate(((image, each.still), (moved_image, each.moved))):
            grid[row, 0].imshow(_pixels(picture))
            for column in range(columns):
                axes = grid[row, column + 1]
                axes.imshow(_pixels(those[column]), **scale)
                if column == (each.shift[marked] if row == 0 else marked):
                    for spine in axes.spines.values():
                        spine.set(edgecolor=_BORDER, linewidth=4)
                if row == 1 and each.shift[column] is None:
                    axes.plot([0, 1], [0, 1], color="white", transform=axes.transAxes)
        grid[0, 0].set_ylabel("image")
        grid[1, 0].set_ylabel("moved")
        for column, element in enumerate(group):
            grid[0, column + 1].set_title(group.describe(element), fontsize="small")
        for axes in grid.flat:
            axes.set(xticks=[], yticks=[])
    said = "; ".join(f"{LAYERS[each.name]}, relative error {each.error:.1e}" for each in found)
    return Drawing(
        figure,
        f"Feature maps of {title}: a pair of rows for each layer, the image above and the moved one below, with a map "
        f"for each of {group.order} elements. {said}.",
        "A map below should be the one above it, moved on by one element; blue borders mark one such pair.",
    )
