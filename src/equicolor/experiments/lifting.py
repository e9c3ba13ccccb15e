"""Lifting: an image under every move of a group, and what becomes of the RGB cube when CEConv turns it."""

import torch
from torch import Tensor

from equicolor._tools.pages import Drawing
from equicolor._tools.pictures import new_figure
from equicolor._tools.words import named
from equicolor.color import rotate_rgb, shift_hue, shift_saturation
from equicolor.data import Shapes
from equicolor.experiments import Outcome, Record, Runner, Setting, Table, register_experiment
from equicolor.groups import group as as_group

#: The paper's figures: file → group. Wide steps, so that the moves can be seen.
_LIFTS = {
    "hue": "hue4",
    "hue-saturation": "hue4-sat3(step=1.5)",
    "luminance": "lum3(step=0.8)",
    "light": "temp3-tint3",
}
_TURNS = (0, 30, 60, 90, 120, 180)


@register_experiment(
    "lifting",
    title="Lifting, and the RGB cube turned",
    paper="Figures “Lifting layer” (hue and saturation; luminance; CEConv's rotation of the RGB cube)",
    about=(
        "An image is lifted by applying every move of a group to it. CEConv turns RGB instead, about the grey axis: "
        "unless it is by a multiple of 120°, the turned cube is not the cube, and colours that leave it are no colours."
    ),
    quick="The same: nothing is trained.",
    place=4,
    differs={"": "The image is one of our own shapes. The paper draws turns of the cube by 120° and by 90°, as here."},
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    if setting.seeds or setting.only or setting.reduce:
        raise ValueError("this experiment trains nothing: it takes no seeds, rows or reductions")
    image = Shapes(image_size=64).render(torch.tensor([240_017])).float() / 255
    image = shift_saturation(image, -0.45, action="clamp")  # full colours, and greys, have no saturation to move
    pictures = {f"lift-{name}": _draw_lift(image, group) for name, group in _LIFTS.items()}
    pictures |= {f"cube-{turn}": _draw_cube(turn) for turn in (120, 90)}
    records: list[Record] = [
        {
            "degrees": turn,
            "outside_rotated": outside(turn, rotated=True),
            "outside_shifted": outside(turn, rotated=False),
        }
        for turn in _TURNS
    ]
    return Outcome(records, [_table(records)], pictures, conclusion=_conclusion(records))


def cube(side: int) -> Tensor:
    """All colours on a grid of the RGB cube, as one image ``(3, side², side)``."""
    values = torch.linspace(0, 1, side, dtype=torch.float64)
    return torch.stack(torch.meshgrid(values, values, values, indexing="ij")).flatten(1, 2)


def outside(degrees: float, *, rotated: bool) -> float:
    """The share of all colours that a turn carries out of the cube: CEConv's rotation, or the shift of hue used here.

    >>> outside(120, rotated=True), outside(60, rotated=False)
    (0.0, 0.0)
    """
    colours = cube(21)
    moved = rotate_rgb(colours, degrees, clamp=False) if rotated else shift_hue(colours, degrees)
    return float(((moved < -1e-9) | (moved > 1 + 1e-9)).any(-3).double().mean())


def _conclusion(records: list[Record]) -> list[str]:
    rotated, shifted = (
        {str(record["degrees"]): float(record[f"outside_{how}"] or 0) for record in records}
        for how in ("rotated", "shifted")
    )
    worst = max(rotated, key=lambda turn: rotated[turn])
    none = [f"{turn}°" for turn, share in rotated.items() if not share]
    return [
        f"CEConv's rotation of RGB carries up to {rotated[worst]:.1%} of all colours out of the cube (at {worst}°), "
        f"and none at {named(none) if none else 'none of these angles'}. The shift of hue used here carries out "
        f"{max(shifted.values()):.1%} at most."
    ]


def _table(records: list[Record]) -> Table:
    lines = [
        [f"{record['degrees']}°", *(f"{float(record[f'outside_{how}'] or 0):.1%}" for how in ("rotated", "shifted"))]
        for record in records
    ]
    return Table("Colours of the cube that leave it", ["turned by", "CEConv's rotation", "shift of hue"], lines)


def _draw_lift(image: Tensor, name: str) -> Drawing:
    """The image, and its lift: a row for each element of the second factor, if there is one."""
    group = as_group(name)
    lifted = group.lift(image)
    columns = group.factors[0].order if len(group.factors) > 1 else group.order
    rows = group.order // columns
    figure = new_figure(1.5 * (columns + 1.3), 1.7 * rows)
    grid = figure.subplots(rows, columns + 1, squeeze=False)
    for row in range(rows):
        for column in range(columns):
            element = column * rows + row
            axes = grid[row][column + 1]
            axes.imshow(lifted[element].permute(1, 2, 0).numpy())
            axes.set_title(group.describe(group.elements[element]).replace(", ", "\n"), fontsize="x-small")
    grid[rows // 2][0].imshow(image[0].permute(1, 2, 0).numpy())
    grid[rows // 2][0].set_title("the image", fontsize="x-small")
    for axes in grid.flat:
        axes.set_axis_off()
    return Drawing(
        figure,
        f"A rendered shape, and beside it the same shape {group.order} times, moved by each element of {name}: "
        f"{'; '.join(group.describe(element) for element in group)}.",
        f"An image, and its lift to {name}: one copy for each element of the group.",
    )


def _draw_cube(degrees: float) -> Drawing:
    """The surface of the cube, turned by CEConv's rotation and shifted in hue; rings mark colours that are none."""
    colours = cube(9).flatten(1)
    colours = colours[:, ((colours == 0) | (colours == 1)).any(0)].unsqueeze(-1)
    moves = {
        "the RGB cube": colours,
        f"CEConv: turned by {degrees:g}°": rotate_rgb(colours, degrees, clamp=False),
        f"hue shifted by {degrees:g}°": shift_hue(colours, degrees),
    }
    figure = new_figure(10, 3.9)
    said = []
    for place, (title, moved) in enumerate(moves.items(), start=1):
        axes = figure.add_subplot(1, 3, place, projection="3d")
        points = moved.squeeze(-1)
        left = ((points < -1e-9) | (points > 1 + 1e-9)).any(0)
        axes.scatter(*points, c=points.clamp(0, 1).T.numpy(), s=14, depthshade=False)
        axes.scatter(*points[:, left], facecolors="none", edgecolors="black", linewidths=0.5, s=26, depthshade=False)
        axes.set(
            xlim=(-0.35, 1.35), ylim=(-0.35, 1.35), zlim=(-0.35, 1.35), xlabel="red", ylabel="green", zlabel="blue"
        )
        axes.set_title(f"{title}\n{float(left.double().mean()):.0%} outside", fontsize="medium")
        said.append(f"{title}, {float(left.double().mean()):.0%} outside")
        axes.view_init(elev=22, azim=-50)
    return Drawing(
        figure,
        f"Three cubes of coloured points. {'; '.join(said)}.",
        "Colours on the surface of the RGB cube, before and after a turn; rings mark what is outside of the cube, and "
        "so no colour.",
    )
