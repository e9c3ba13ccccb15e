"""Draws docs/images/hue-turns.webp: a hue makes the round, and two networks say what they see.

    python docs/scripts/hue_turns.py

Both networks are right about the image as it is, and the plain one gives three answers or more somewhere on the round:
of such images among the first hundred of the test set, it is the most colourful. What is printed is said on the page.
"""

from io import BytesIO
from pathlib import Path

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from networks import NETWORKS, SHAPES, colorful, probabilities, shapes
from PIL import Image
from torch import Tensor

from equicolor.color import shift_hue

IMAGES = Path(__file__).parents[1] / "images"
#: A frame for each, in degrees.
TURNS = torch.arange(0, 360, 9)
_INK, _PALE = "#222222", "#dddddd"


def main() -> None:
    """Trains, chooses, draws, and says what was drawn."""
    images, labels = shapes(100)
    index = chosen(images, labels)
    turned = shift_hue(images[index].expand(len(TURNS), -1, -1, -1), TURNS.float())
    said = {name: probabilities(name, turned) for name in NETWORKS}
    large = shapes(100, size=64)[0][index]
    shown = shift_hue(large.expand(len(TURNS), -1, -1, -1), TURNS.float())
    frames = [frame(shown, said, int(labels[index]), place) for place in range(len(TURNS))]
    frames[0].save(
        IMAGES / "hue-turns.webp", save_all=True, append_images=frames[1:], duration=150, loop=0, quality=60, method=4
    )
    frames[len(frames) // 2].save(IMAGES / "hue-turns-still.webp", quality=80, method=6)
    for name, values in said.items():
        right = (values.argmax(1) == labels[index]).float().mean()
        low = values[:, labels[index]].min()
        print(f"{name}: right at {right:.0%} of {len(TURNS)} hues, probability of the true class {low:.2f} at least")


def chosen(images: Tensor, labels: Tensor) -> int:
    """The most colourful of those that both get right as they are, and on which the plain network changes its mind."""
    right = torch.stack([probabilities(name, images).argmax(1) == labels for name in NETWORKS]).all(0)
    plain = next(iter(NETWORKS))
    round_of_12 = torch.arange(0, 360, 30.0)
    rounds = [probabilities(plain, shift_hue(image.expand(12, -1, -1, -1), round_of_12)) for image in images]
    answers = torch.tensor([said.argmax(1).unique().numel() for said in rounds])
    share = torch.stack([(answers >= count).float().mean() for count in (2, 3)])
    print(f"of {len(images)} images {share[0]:.0%} get two answers or more of the plain network, {share[1]:.0%} three")
    return int((colorful(images) * (right & (answers >= 3))).argmax())


def frame(shown: Tensor, said: dict[str, Tensor], true: int, place: int) -> Image.Image:
    """The image at one hue, what both say of it, and how sure they are over the whole round."""
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=[1, 1, 1], height_ratios=[2, 1])
    picture = figure.add_subplot(grid[0, 0])
    picture.imshow(shown[place].permute(1, 2, 0).numpy(), interpolation="bicubic")
    picture.set_title(f"a {SHAPES[true]}, turned by {int(TURNS[place])}°", fontsize=10, color=_INK)
    picture.axis("off")
    for column, (name, values) in enumerate(said.items(), start=1):
        bars(figure.add_subplot(grid[0, column]), name, values[place], true)
    curves(figure.add_subplot(grid[1, :]), said, true, place)
    stream = BytesIO()
    figure.savefig(stream, dpi=100, format="png")
    return Image.open(stream).convert("RGB")


def bars(axes: Axes, name: str, values: Tensor, true: int) -> None:
    """The probabilities of a network; its answer in its colour."""
    answer = int(values.argmax())
    color = NETWORKS[name][0]
    drawn = axes.barh(
        SHAPES, values.numpy(), color=[color if place == answer else _PALE for place in range(len(SHAPES))]
    )
    axes.bar_label(drawn, [f"{value:.0%}" for value in values.tolist()], fontsize=8, padding=2)
    mark = "✓" if answer == true else "✗"
    axes.set_title(f"{name}: {SHAPES[answer]} {mark}", fontsize=11, color=color, fontweight="bold")
    axes.set(xlim=(0, 1.25), xticks=[])
    axes.invert_yaxis()
    axes.tick_params(labelsize=9, length=0)
    axes.spines[:].set_visible(False)


def curves(axes: Axes, said: dict[str, Tensor], true: int, place: int) -> None:
    """The probability of the true class over all hues, with this one marked."""
    for name, values in said.items():
        axes.plot(TURNS.numpy(), values[:, true].numpy(), color=NETWORKS[name][0], linewidth=2)
        axes.plot(int(TURNS[place]), float(values[place, true]), "o", color=NETWORKS[name][0], markersize=6)
    axes.axvline(int(TURNS[place]), color=_PALE, linewidth=1, zorder=0)
    axes.set(ylim=(-0.05, 1.08), yticks=[0, 1], xlim=(0, 351), xticks=range(0, 360, 90))
    axes.set_xticklabels([f"{degrees}°" for degrees in range(0, 360, 90)])
    axes.set_title(f"how sure of “{SHAPES[true]}” they are, over all hues", fontsize=9, color=_INK, loc="left")
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
