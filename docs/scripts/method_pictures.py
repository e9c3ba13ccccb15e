"""Draws docs/images/lift.webp and docs/images/features-move.webp, the pictures of docs/pictures.md.

python docs/scripts/method_pictures.py
"""

from pathlib import Path

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from networks import NETWORKS, colorful, shapes, trained
from torch import Tensor

import equicolor as ec

IMAGES = Path(__file__).parents[1] / "images"
GROUP = ec.Hue(4)
#: What is the same map has the same frame: as many colours as elements, told apart by the colour-blind too.
FRAMES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")


def main() -> None:
    """Draws both, and says what the second shows in a number."""
    index = int(colorful(shapes(100)[0]).argmax())
    images, large = (shapes(100, size)[0][index : index + 1] for size in (32, 64))
    moved, large_moved = ec.color.shift_hue(images, 90), ec.color.shift_hue(large, 90)
    lift_picture(large, large_moved).savefig(IMAGES / "lift.webp", dpi=110)
    before, after = features(images), features(moved)
    features_picture((large, large_moved), (before, after)).savefig(IMAGES / "features-move.webp", dpi=110)
    error = (after - GROUP.act_on_features(1, before)).abs().max() / before.abs().max()
    print(f"rows moved by one, the features agree to {error:.0e} of the largest value")


def features(images: Tensor) -> Tensor:
    """The maps after the first convolution of the network on Hue-4, normed and cut at 0: a block for each element."""
    network = trained(list(NETWORKS)[1])
    with torch.inference_mode():
        return network.layers[:3](network.lift(images))


def lift_picture(images: Tensor, moved: Tensor) -> Figure:
    """An image and its lift; the image turned by 90°, and the lift of that: the same copies, one place on."""
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.subplots(2, 5, width_ratios=[1.15, 1, 1, 1, 1])
    for row, (image, name) in enumerate(((images, "the image"), (moved, "turned by 90°"))):
        show(axes[row, 0], image[0], name, None)
        for element, copy in enumerate(GROUP.lift(image)):
            show(axes[row, 1 + element], copy, f"+{90 * element}°", FRAMES[(element + row) % 4])
    figure.suptitle("The lift: every move of the group. Turn the image, and the copies move one place.", fontsize=10)
    return figure


def features_picture(images: tuple[Tensor, Tensor], maps: tuple[Tensor, Tensor]) -> Figure:
    """Feature maps of an image and of the turned one, a column for each element: one frame for one map."""
    before, after = maps
    strongest = before.var(dim=(0, 2, 3)).argsort(descending=True)[:2]  # the channels in which something happens
    figure = Figure(figsize=(7.2, 5.6), layout="constrained")
    axes = figure.subplots(4, 5, width_ratios=[1.15, 1, 1, 1, 1])
    for block, (image, feature, name) in enumerate(
        zip(images, (before, after), ("the image", "turned by 90°"), strict=True)
    ):
        for line, channel in enumerate(strongest.tolist()):
            row = 2 * block + line
            if line == 0:
                show(axes[row, 0], image[0], name, None)
            else:
                axes[row, 0].axis("off")
            for element in range(4):
                frame = FRAMES[(element + block) % 4]
                scale = (0.0, float(before[:, channel].quantile(0.99)))
                show(
                    axes[row, 1 + element],
                    feature[element, channel],
                    f"element {element}, channel {channel}",
                    frame,
                    scale,
                )
    figure.suptitle("Features on the group: frames of one colour hold the same map.", fontsize=10)
    return figure


def show(axes: Axes, image: Tensor, title: str, frame: str | None, scale: tuple[float, float] | None = None) -> None:
    """An image, or a map in grey between the limits of a scale, perhaps in a frame."""
    if image.ndim == 3:
        axes.imshow(image.permute(1, 2, 0).numpy(), interpolation="bicubic")
    else:
        axes.imshow(image.numpy(), cmap="gray", vmin=scale and scale[0], vmax=scale and scale[1])
    axes.set_title(title, fontsize=8)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set(visible=frame is not None, color=frame, linewidth=4)


if __name__ == "__main__":
    main()
