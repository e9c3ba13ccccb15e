"""Is a hue shift invertible? Images are shifted by 360°/N and back, by our colour move and by CEConv's.

CEConv's is a rotation of RGB about the grey axis, clamped into the cube: what is clamped is lost.
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from equicolor._tools.pages import Drawing
from equicolor._tools.palette import COLORS
from equicolor._tools.pictures import new_figure
from equicolor._tools.words import named
from equicolor.color import rotate_rgb, shift_hue
from equicolor.comparison import measured
from equicolor.data import DataNotFoundError, Shapes, load
from equicolor.experiments import Outcome, Record, Runner, Setting, Table, register_experiment

ORDERS = tuple(range(1, 13))
OURS, CECONV = "equicolor", "CEConv"
MOVES: dict[str, Callable[[Tensor, float], Tensor]] = {OURS: shift_hue, CECONV: rotate_rgb}
_SHAPES, _COLOURS, _PHOTOS = "shapes", "random colours", "CIFAR-10"
_SHOWN = 6  # the order of the pictures in the paper's figure: 60° there and back


def shapes(count: int, seed: int = 0) -> Tensor:
    """Embedded images of coloured shapes, ``(count, 3, 32, 32)`` in [0, 1]."""
    renderer = Shapes(image_size=32)
    indices = torch.randint(len(renderer), (count,), generator=torch.Generator().manual_seed(seed))
    return renderer.render(indices).float() / 255


def random_colours(count: int) -> Tensor:
    """Images whose pixels are drawn evenly from the cube of all colours, ``(count, 3, 32, 32)``."""
    return torch.rand(count, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def restored(images: Tensor, move: Callable[[Tensor, float], Tensor], order: int) -> Tensor:
    """Images after a hue shift by 360°/order and back."""
    step = 360.0 / order
    return move(move(images, step), -step)


def restored_image_errors(images: Tensor, move: Callable[[Tensor, float], Tensor], order: int) -> Tensor:
    """The relative error ‖x' - x‖ / ‖x‖ of each image x and what is restored of it, x': ``(B,)``."""
    difference: Tensor = (restored(images, move, order) - images).flatten(1).norm(dim=1)
    size: Tensor = images.flatten(1).norm(dim=1).clamp(min=torch.finfo(images.dtype).tiny)
    return difference / size


@register_experiment(
    "invertibility",
    title="Impact of order on hue rotation invertibility",
    paper="Figure “Impact of order on hue rotation invertibility”",
    about=(
        "Images are shifted in hue by 360°/N and back, by the colour move used here and by CEConv's rotation of RGB, "
        "which is clamped into the cube; what remains is the restored-image error."
    ),
    quick="64 embedded images and no photographs, instead of 10,000 and the test split of CIFAR-10.",
    place=5,
    differs={
        "": (
            "The paper has CEConv's restored-image error above 7 % for every N but 1 and 3. Here it depends on the "
            "images: it is saturated colours that leave the cube when turned, so it is largest on rendered shapes and "
            "next to nothing on photographs; and the paper does not say on which images it measured."
        )
    },
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    if setting.seeds or setting.only or setting.reduce:
        raise ValueError("this experiment trains nothing: it takes no seeds, rows or reductions")
    sets = {_SHAPES: shapes(64 if setting.quick else 10_000), _COLOURS: random_colours(64 if setting.quick else 1000)}
    notes = [
        "The error of an image x of which x' is restored is ‖x' - x‖ / ‖x‖. The paper defines neither its error nor "
        "the images it was measured on, and CEConv's depends on them: it is saturated colours that leave the cube "
        "when turned."
    ]
    if not setting.quick:
        try:
            sets[_PHOTOS] = load("cifar10", split="test")[:].images
        except DataNotFoundError as error:
            notes.append(f"Without photographs: {error}")
    records: list[Record] = []
    ways = [(p, method, order) for p in (torch.float32, torch.float64) for method in MOVES for order in ORDERS]
    with runner.progress("turning there and back", len(ways) * sum(map(len, sets.values()))) as advance:
        for name, images in sets.items():
            for precision, method, order in ways:
                parts = torch.split(images, 1000)
                errors = torch.cat([restored_image_errors(part.to(precision), MOVES[method], order) for part in parts])
                records.append(
                    {
                        "images": name,
                        "count": len(images),
                        "precision": str(precision)[6:],
                        "method": method,
                        "order": order,
                        "error": float(errors.mean()),
                        "deviation": float(errors.std()),
                    }
                )
                advance(len(images))
    worst = max(float(r["error"] or 0) for r in records if r["method"] == OURS and r["precision"] == "float64")
    notes.append(f"Of all the means of ours, the largest in float64 is {worst:.1e}; the tables are of float32.")
    pictures = {"restored": _draw_images(sets), "invertibility": _draw_errors(records)}
    return Outcome(records, [_table(records, name) for name in sets], pictures, notes, _conclusion(records, list(sets)))


def _conclusion(records: list[Record], names: list[str]) -> list[str]:
    def worst(method: str, **wanted: object) -> float:
        chosen = [r for r in records if r["method"] == method and all(r[key] == value for key, value in wanted.items())]
        return max(float(r["error"] or 0) for r in chosen)

    ours = worst(OURS, precision="float32")
    exact = [str(n) for n in ORDERS if worst(CECONV, precision="float64", order=n) < 1e-6]
    by_set = [f"{worst(CECONV, precision='float32', images=name):.1%} on {name}" for name in names]
    return [
        f"Shifted by 360°/N and back, an image is restored to within {ours:.1e} of itself by the shift of hue used "
        f"here, for every N up to {max(ORDERS)}. CEConv's rotation loses up to {named(by_set)}; it is exact for N = "
        f"{named(exact) if exact else 'none of these'}."
    ]


def _table(records: list[Record], name: str) -> Table:
    """Ours beside what the caption of the paper's figure says."""
    rows = []
    for order in ORDERS:
        ours, theirs = (
            measured(records, images=name, method=method, order=order, precision="float32").mean for method in MOVES
        )
        printed = "none" if order in (1, 3) else "> 7 %"
        rows.append([str(order), f"{ours:.0e}" if ours else "0", f"{theirs:.2%}", "negligible", printed])
    title = f"Restored-image error after a hue shift by 360°/N and back, mean over images: {name}"
    return Table(title, ["N", "ours", CECONV, "the paper's: ours", f"the paper's: {CECONV}"], rows)


def _draw_errors(records: list[Record]) -> Drawing:
    names = list(dict.fromkeys(str(record["images"]) for record in records))
    figure = new_figure(10, 4.4)
    plain, logarithmic = figure.subplots(1, 2)
    for method, colour in ((OURS, COLORS["hue"]), (CECONV, COLORS["ceconv"])):
        for name, style in zip(names, ("-", ":", "--"), strict=False):
            errors = [measured(records, images=name, method=method, order=n, precision="float32").mean for n in ORDERS]
            label = f"{method}, {name}"
            plain.plot(ORDERS, [100 * e for e in errors], style, color=colour, marker="o", markersize=4, label=label)
            drawn = [error or math.nan for error in errors]  # 0 has no logarithm
            logarithmic.plot(ORDERS, drawn, style, color=colour, marker="o", markersize=4, label=label)
    plain.axhline(7, color="0.6", linestyle=":", label="the paper: CEConv exceeds 7 %")
    plain.set(xlabel="order N of the hue group", ylabel="restored-image error in %", xticks=ORDERS)
    logarithmic.set(xlabel="order N of the hue group", ylabel="restored-image error", xticks=ORDERS, yscale="log")
    logarithmic.set_title("the same, logarithmic; errors of exactly 0 are not drawn", fontsize="medium")
    plain.set_title("hue shifted by 360°/N and back", fontsize="medium")
    figure.legend(*plain.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="small")
    for axes in (plain, logarithmic):
        axes.grid(alpha=0.3)
    worst = {
        f"{method}, {name}": max(
            measured(records, images=name, method=method, order=n, precision="float32").mean for n in ORDERS
        )
        for method in MOVES
        for name in names
    }
    said = "; ".join(
        f"{label} {error:.1%}" if error > 1e-3 else f"{label} {error:.0e}" for label, error in worst.items()
    )
    return Drawing(
        figure,
        f"Lines of the restored-image error against the order N from 1 to {max(ORDERS)}. Largest: {said}.",
        "The restored-image error after a hue shift by 360°/N and back, mean over images, in float32.",
    )


def _draw_images(sets: Mapping[str, Tensor]) -> Drawing:
    """An image of each set: as it is, shifted by 60°, and shifted back."""
    figure = new_figure(9.5, 2.25 * len(sets))
    grid = figure.subplots(len(sets), 5, squeeze=False)
    step = 360 / _SHOWN
    said = []
    for row, (name, images) in zip(grid, sets.items(), strict=True):
        image = images[:1]
        shown = [(name, image)]
        for method, move in MOVES.items():
            error = float(restored_image_errors(image, move, _SHOWN))
            shown.append((f"{method}: +{step:g}°", move(image, step)))
            shown.append((f"and back: error {error:.2g}", restored(image, move, _SHOWN)))
            said.append(f"{name}, {method}: {error:.2g}")
        for axes, (title, picture) in zip(row, shown, strict=True):
            axes.imshow(picture[0].permute(1, 2, 0).numpy())
            axes.set_title(title, fontsize="medium")
            axes.set(xticks=[], yticks=[])
    return Drawing(
        figure,
        f"One image of each set, turned by {step:g}° and back by either method. Errors of what is restored: "
        f"{'; '.join(said)}.",
        f"An image of each set as it is, turned by {step:g}°, and turned back.",
    )
