"""What 8 bits do to a network of Hue-shift MNIST: images taken through PIL's HSV of bytes, in testing or in training.

``python benchmarks/eight_bits.py test RUN``, with the folder of a run of ``equicolor reproduce mnist``, tests a network
on images as they are and through bytes. ``python benchmarks/eight_bits.py train FOLDER`` trains the paper's Z2CNN by
its recipe on images that all went through bytes, for each of ``--seeds``, and tests it on such images; with ``--variant
z2cnn-softmax``, a network that ends in a softmax besides, as the authors' does.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

import equicolor as ec
from equicolor.data import Description, Held, Raw, Request, Split, register_data_set
from equicolor.files import saved_folder
from equicolor.train import Recipe, fit
from equicolor.trained import evaluate

_TURNED = "hue_shift_mnist"
_BYTES = "hue_shift_mnist_bytes"
_TESTS = ("test_a", "test_b")


def through_bytes(images: Tensor) -> Tensor:
    """Rounded to bytes, to PIL's HSV of bytes, and back."""
    return _bytes_of(images).float() / 255


def _bytes_of(images: Tensor) -> Tensor:
    pixels = images.mul(255).round().byte().permute(0, 2, 3, 1).contiguous().numpy()
    turned = [np.asarray(Image.fromarray(each).convert("HSV").convert("RGB")) for each in pixels]
    return torch.from_numpy(np.stack(turned)).permute(0, 3, 1, 2).contiguous()


def _read(request: Request) -> Raw:
    """A split of Hue-shift MNIST, every image in the hue that was drawn for it, through bytes."""
    turned = ec.data.load(_TURNED, split=request.part)
    images = [_bytes_of(turned[start : start + 1000].images) for start in range(0, len(turned), 1000)]
    return Raw(Held(torch.cat(images)), turned.labels, turned.classes)


def test(run: str) -> None:
    """Prints the errors of a trained network on both test splits."""
    model = ec.from_pretrained(saved_folder(run))
    for split in _TESTS:
        images = ec.data.load(_TURNED, split=split)
        errors = evaluate(model, images).error, evaluate(model, images, change=through_bytes).error
        print(f"{split}: error {errors[0]:.2%} as they are, {errors[1]:.2%} through 8 bits")


def train(folder: str, seeds: list[int], variant: str) -> None:
    """Prints the errors of networks trained and tested on images through bytes."""
    splits = {name: Split(name) for name in ("train", *_TESTS)}
    register_data_set(Description(_BYTES, "Hue-shift MNIST through bytes", _read, splits, 28, folder=_BYTES))
    for seed in seeds:
        recipe = Recipe.load(f"{_TURNED}:{variant}", {"data": _BYTES, "seed": seed})
        results = fit(recipe, Path(folder) / f"{variant}-{seed}").results
        print(f"{variant}, seed {seed}: " + ", ".join(f"{split} {results[split]['error']:.2%}" for split in _TESTS))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    tested = commands.add_parser("test", help="a trained network")
    tested.add_argument("run", help="the folder of its run")
    tested.set_defaults(call=lambda given: test(given.run))
    trained = commands.add_parser("train", help="a network on 8-bit images")
    trained.add_argument("folder", help="where runs are kept")
    trained.add_argument("--seeds", type=int, nargs="+", default=[1999])
    trained.add_argument("--variant", default="z2cnn", help="of the recipe hue_shift_mnist")
    trained.set_defaults(call=lambda given: train(given.folder, given.seeds, given.variant))
    chosen = parser.parse_args()
    chosen.call(chosen)
