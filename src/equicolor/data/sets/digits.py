"""Digits: scikit-learn's 1,797 handwritten digits at the size of MNIST's, for runs of seconds."""

from dataclasses import replace
from typing import Literal, TypeAlias, cast

import torch
from torch import Tensor

from equicolor._tools.optional import require
from equicolor.data._description import Description, Raw, Request, Split
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Held

Part: TypeAlias = Literal["train", "test", "all"]

#: Images to train on; the 297 after them are the test set.
TRAIN_SIZE = 1_500
_SMALL, _LARGE, _WHITE = 8, 28, 16  # scikit-learn's digits are 8×8 and count up to 16


def read(request: Request) -> Raw:
    """Those of one part, ``"train"`` or ``"test"``."""
    images, labels = digits(cast("Part", request.part))
    return Raw(Held(images), labels, tuple("0123456789"))


def digits(part: Part = "all") -> tuple[Tensor, Tensor]:
    """Grey images, uint8 ``[N, 1, 28, 28]``, white on black as in MNIST, and their labels, int64 ``[N]``.

    The split is by place: the first 1,500 images are ``"train"``, the last 297 ``"test"``, on every machine. Thirteen
    people wrote the digits, and neighbours tend to be of one hand, so this tests on hands that training has hardly
    seen, as MNIST does: the nearest neighbour errs on 5 % of it, and on 1 % of a shuffled split.

    >>> images, labels = digits("test")
    >>> images.shape, labels[:4].tolist()
    (torch.Size([297, 1, 28, 28]), [1, 7, 4, 6])
    """
    parts = {"train": slice(TRAIN_SIZE), "test": slice(TRAIN_SIZE, None), "all": slice(None)}
    if part not in parts:
        raise ValueError(f"unknown part {part!r}: expected one of {', '.join(map(repr, parts))}")
    bunch = require("sklearn.datasets", "loading the digits").load_digits()
    small = torch.from_numpy(bunch.images).round().long()
    labels = torch.from_numpy(bunch.target).long()
    return _enlarge(small[parts[part]])[:, None], labels[parts[part]]


def _enlarge(images: Tensor) -> Tensor:
    """8×8 images of whole numbers up to 16 as 28×28 uint8, through a Catmull-Rom spline along each side.

    All numbers are whole until the end, so that every machine rounds alike.
    """
    weights, unit = _spline_weights()
    total = 255 * (weights @ images @ weights.T)
    scale = _WHITE * unit**2
    return ((2 * total + scale) // (2 * scale)).clamp(0, 255).to(torch.uint8)


def _spline_weights() -> tuple[Tensor, int]:
    """The matrix ``[28, 8]`` that resamples a side, as whole multiples of one over the second value."""
    # Pixel i has its centre at ((i + 1/2)·8/28 - 1/2) = (4i - 5)/14 of the small image: n fourteenths after a sample.
    unit = 14
    weights = torch.zeros(_LARGE, _SMALL, dtype=torch.long)
    for i in range(_LARGE):
        before, n = divmod(4 * i - 5, unit)
        spline = (
            -(n**3) + 2 * n**2 * unit - n * unit**2,
            3 * n**3 - 5 * n**2 * unit + 2 * unit**3,
            -3 * n**3 + 4 * n**2 * unit + n * unit**2,
            n**3 - n**2 * unit,
        )
        for offset, weight in enumerate(spline, start=-1):
            weights[i, min(max(before + offset, 0), _SMALL - 1)] += weight  # the edge goes on outside
    return weights, 2 * unit**3


_DIGITS = register_data_set(
    Description(
        "digits",
        "scikit-learn's handwritten digits, embedded",
        read,
        {"train": Split("train", 1_500), "test": Split("test", 297)},
        image_size=28,
        folder="digits",
        gray=True,
    )
)

register_data_set(
    replace(
        _DIGITS,
        name="hue_shift_digits",
        title="the embedded digits under the hue shift of Hue-shift MNIST",
        splits={
            "train": replace(_DIGITS.splits["train"], shift="hue:0..240"),
            "test_a": replace(_DIGITS.splits["test"], shift="hue:0..240"),
            "test_b": replace(_DIGITS.splits["test"], shift="hue:240..360"),
        },
    )
)
