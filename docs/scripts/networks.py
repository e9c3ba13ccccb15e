"""The two networks behind the pictures of the site: a plain one and its sibling on Hue-4, trained in seconds."""

import tempfile
from functools import cache

import torch
from torch import Tensor

import equicolor as ec
from equicolor.data import load
from equicolor.models import Model
from equicolor.train import Recipe, fit

#: What the pictures call them, in which colour, and the variant of recipes/canonical_shapes3d.yaml: Z2CNN, 90 steps on
#: 480 shapes of one half of all hues.
NETWORKS = {"plain": ("#c4560a", "hue-plain"), "on hue4": ("#0072b2", "hue-group")}
#: The classes of the shapes.
SHAPES = ("cube", "cylinder", "sphere", "capsule")


@cache
def trained(name: str) -> Model:
    """One of :data:`NETWORKS`, trained from the seed of its recipe."""
    recipe = Recipe.load(f"canonical_shapes3d:{NETWORKS[name][1]}", {"test_size": 200})
    with tempfile.TemporaryDirectory() as folder:
        fit(recipe, f"{folder}/run", quiet=True)
        return ec.from_pretrained(f"{folder}/run/model").eval()


def shapes(count: int, size: int = 32) -> tuple[Tensor, Tensor]:
    """Shapes of the hues that both were trained on, and their classes; the networks take them in 32×32."""
    images, labels = load("hue_shift_shapes3d", split="test_a", image_size=size)[:count]
    return images, labels


def colorful(images: Tensor) -> Tensor:
    """How much the colours of an image differ, brightness aside, ``(B,)``: to show one that has several."""
    red, green, blue = images.unbind(1)
    opponents = torch.stack([red - green, (red + green) / 2 - blue], 1)
    return opponents.flatten(2).std(2).amin(1)


def probabilities(name: str, images: Tensor) -> Tensor:
    """What a network says of images: ``(B, classes)``."""
    network = trained(name)
    with torch.inference_mode():
        return network(images).softmax(1)
