"""Digits: scikit-learn's 1,797 handwritten digits at the size of MNIST's, for runs of seconds."""

from typing import Literal, TypeAlias

import torch
from torch import Tensor

Split: TypeAlias = Literal["train", "test", "all"]

#: Images to train on; the 297 after them are the test set.
TRAIN_SIZE = 1_500
_SMALL, _LARGE, _WHITE = 8, 28, 16  # scikit-learn's digits are 8×8 and count up to 16


def digits(split: Split = "all") -> tuple[Tensor, Tensor]:
    """Grey images, uint8 ``[N, 1, 28, 28]``, white on black as in MNIST, and their labels, int64 ``[N]``.

    The split is by place: the first 1,500 images are ``"train"``, the last 297 ``"test"``, on every machine. Thirteen
    people wrote the digits, and neighbours tend to be of one hand, so this tests on hands that training has hardly
    seen, as MNIST does: the nearest neighbour errs on 5 % of it, and on 1 % of a shuffled split.

    >>> images, labels = digits("test")
    >>> images.shape, labels[:4].tolist()
    (torch.Size([297, 1, 28, 28]), [1, 7, 4, 6])
    """
    parts = {"train": slice(TRAIN_SIZE), "test": slice(TRAIN_SIZE, None), "all": slice(None)}
    if split not in parts:
        raise ValueError(f"unknown split {split!r}: expected one of {', '.join(map(repr, parts))}")
    try:
        from sklearn.datasets import load_digits  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(
            'the digits come with scikit-learn, which is not installed: pip install "equicolor[train]"'
        ) from error
    bunch = load_digits()
    small = torch.from_numpy(bunch.images).round().long()
    labels = torch.from_numpy(bunch.target).long()
    return _enlarge(small[parts[split]])[:, None], labels[parts[split]]


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
