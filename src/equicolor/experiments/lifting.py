"""The paper's two figures on lifting: is a hue shift invertible, and is the lifted image equivariant?

*Impact of order on hue rotation invertibility*: images are shifted in hue by 360°/N and back, once by the colour move
used here and once by CEConv's rotation of RGB, clamped into the cube; what remains is the restored-image error.
*Hue-equivariant feature maps (b)*: the relative equivariance error of the two lifting layers at N = 4.

Run: python -m equicolor.experiments.lifting [--folder FOLDER]
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from equicolor.color import rotate_rgb, shift_hue
from equicolor.data._shapes import Shapes
from equicolor.groups import Hue
from equicolor.measure import equivariance_error
from equicolor.nn import CEConvLift, Lift

ORDERS = tuple(range(1, 13))
OURS, CECONV = "equicolor", "CEConv"


def shapes(count: int = 64, seed: int = 0) -> Tensor:
    """Embedded images of coloured shapes, ``(count, 3, 32, 32)`` in [0, 1]."""
    renderer = Shapes(image_size=32)
    indices = torch.randint(len(renderer), (count,), generator=torch.Generator().manual_seed(seed))
    return renderer.render(indices).float() / 255


def restored_image_error(images: Tensor, shift: Callable[[Tensor, float], Tensor], order: int) -> float:
    """The relative error ‖x' - x‖ / ‖x‖ of images x shifted in hue by 360°/order and back."""
    step = 360.0 / order
    restored = shift(shift(images, step), -step)
    return float((restored - images).norm() / images.norm())


def invertibility(images: Tensor) -> dict[str, list[float]]:
    """The restored-image error at each order, ours and CEConv's."""
    return {
        OURS: [restored_image_error(images, shift_hue, order) for order in ORDERS],
        CECONV: [restored_image_error(images, rotate_rgb, order) for order in ORDERS],
    }


def lifting_equivariance(images: Tensor, order: int = 4, seed: int = 0) -> dict[str, list[float]]:
    """The equivariance error of each element, of our lifting layer and of CEConv's with random filters."""
    torch.manual_seed(seed)
    layers = {OURS: Lift(Hue(order)), CECONV: CEConvLift(order, out_channels=32, kernel_size=3, padding=1)}
    return {name: equivariance_error(layer, images, Hue(order)).tolist() for name, layer in layers.items()}


def _show(inverted: dict[str, list[float]], equivariant: dict[str, list[float]]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(title="Restored-image error after a hue shift by 360°/N and back")
    for column in ("N", OURS, f"{CECONV} (clamped RGB rotation)"):
        table.add_column(column, justify="right")
    for order, ours, theirs in zip(ORDERS, inverted[OURS], inverted[CECONV], strict=True):
        table.add_row(str(order), f"{ours:.1e}", f"{theirs:.2%}")
    console.print(table)
    table = Table(title="Equivariance error of the lifting layer, N = 4")
    for column in ("hue shift", OURS, CECONV):
        table.add_column(column, justify="right")
    for element, (ours, theirs) in enumerate(zip(equivariant[OURS], equivariant[CECONV], strict=True)):
        table.add_row(f"{Hue(4).degrees(element):g}°", f"{ours:.1e}", f"{theirs:.1e}")
    console.print(table)


def _draw(inverted: dict[str, list[float]], equivariant: dict[str, list[float]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for name, marker in ((OURS, "o"), (CECONV, "s")):
        left.plot(ORDERS, [100 * error for error in inverted[name]], marker=marker, label=name)
    left.set(xlabel="order N of the hue group", ylabel="restored-image error in %", xticks=ORDERS)
    left.set_title("Hue shifted by 360°/N and back")
    left.legend()
    left.grid(alpha=0.3)
    shifts = range(1, 4)  # the identity has no error to show
    for offset, name in ((-0.2, OURS), (0.2, CECONV)):
        right.bar([shift + offset for shift in shifts], equivariant[name][1:], width=0.4, label=name)
    right.set(yscale="log", ylabel="equivariance error", xlabel="hue shift", ylim=(1e-9, 10))
    right.set_xticks(list(shifts), [f"{Hue(4).degrees(shift):g}°" for shift in shifts])
    right.set_title("Lifting layer, N = 4")
    right.legend(loc="upper center", ncols=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main(folder: Path = Path("demo")) -> None:
    """Measures both on embedded images, prints the tables and writes ``lifting.png`` into ``folder``."""
    images = shapes()
    print(f"Measuring on {len(images)} embedded images of coloured shapes, float32.")
    inverted, equivariant = invertibility(images), lifting_equivariance(images)
    _show(inverted, equivariant)
    _draw(inverted, equivariant, folder / "lifting.png")
    print(f"Figure: {folder / 'lifting.png'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("demo"), help="where the figure goes (default: demo)")
    main(parser.parse_args().folder)
