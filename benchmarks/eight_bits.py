"""What 8 bits do to a network of Hue-shift MNIST: tested on images as they are, and taken through PIL's HSV of bytes.

``python benchmarks/eight_bits.py RUN`` with the folder of a run of ``equicolor reproduce mnist``.
"""

import sys

import numpy as np
import torch
from PIL import Image
from torch import Tensor

import equicolor as ec
from equicolor.files import saved_folder
from equicolor.trained import evaluate


def through_bytes(images: Tensor) -> Tensor:
    """Rounded to bytes, to PIL's HSV of bytes, and back."""
    pixels = images.mul(255).round().byte().permute(0, 2, 3, 1).contiguous().numpy()
    turned = [np.asarray(Image.fromarray(each).convert("HSV").convert("RGB")) for each in pixels]
    return torch.from_numpy(np.stack(turned)).permute(0, 3, 1, 2).float() / 255


def main(run: str) -> None:
    """Prints the errors of a trained network on both test splits."""
    model = ec.from_pretrained(saved_folder(run))
    for split in ("test_a", "test_b"):
        images = ec.data.load("hue_shift_mnist", split=split)
        errors = evaluate(model, images).error, evaluate(model, images, change=through_bytes).error
        print(f"{split}: error {errors[0]:.2%} as they are, {errors[1]:.2%} through 8 bits")


if __name__ == "__main__":
    main(sys.argv[1])
