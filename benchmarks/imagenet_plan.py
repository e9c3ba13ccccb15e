"""What ImageNet with ResNet-50 would cost on 8 GPUs, worked out from what is counted and measured here.

python benchmarks/imagenet_plan.py
python benchmarks/imagenet_plan.py --peak 989 --share 0.15     # another GPU, and how much of its peak is reached

Counted: multiplications of a forward, and the bytes that autograd keeps for the backward. Measured: the CPU time to
decode and crop a photograph. Assumed: what a GPU does in a second, and that a backward costs two forwards. Nothing here
needs a GPU.
"""

import argparse
import io
import time

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

import equicolor as ec
from equicolor.data import Decoding, decode
from equicolor.measure import multiply_adds

IMAGES = 1_281_167


def main() -> None:
    """Prints the plan."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", nargs="*", default=["none", "hue3"])
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch", type=int, default=256, help="over all GPUs")
    parser.add_argument("--peak", type=float, default=312, help="of a GPU, in 10¹² operations a second, bf16")
    parser.add_argument("--share", type=float, nargs="*", default=[0.1, 0.2, 0.3], help="of the peak that is reached")
    given = parser.parse_args()
    print(f"ResNet-50, {given.epochs} epochs of {IMAGES:,} images, batches of {given.batch} over {given.gpus} GPUs")
    print(f"of {given.peak:g}·10¹² operations a second each; PyTorch {torch.__version__}\n")
    hours = " | ".join(f"hours at {share:.0%}" for share in given.share)
    print(
        f"| group | parameters | multiply-adds of a forward | kept for the backward, float32 | a GPU, bf16 | {hours} |"
    )
    print("| --- " * (5 + len(given.share)) + "|")
    for name in given.groups:
        print(row(name, given))
    seconds = decoding()
    print(f"\nA photograph of 500×375 takes {1000 * seconds:.1f} ms of a core to decode and crop to 224 pixels:")
    for share in given.share:
        rate = images_per_second(work("hue3"), given, share)
        print(f"  hue3 at {share:.0%}: {rate:,.0f} images/s in all, {rate * seconds:.0f} cores")


def network(name: str) -> nn.Module:
    """ResNet-50 as for ImageNet: the large stem, 1000 classes."""
    torch.manual_seed(0)
    return ec.create_model("resnet50", None if name == "none" else name, num_classes=1000, stem="imagenet")


def work(name: str) -> int:
    """Multiply-adds of the forward of one image."""
    return multiply_adds(network(name), torch.rand(1, 3, 224, 224)).total


def images_per_second(forward: int, given: argparse.Namespace, share: float) -> float:
    """Of all GPUs together: a step is three forwards, a multiply-add two operations."""
    return float(given.gpus * given.peak * 1e12 * share / (6 * forward))


def row(name: str, given: argparse.Namespace) -> str:
    """One line of the table."""
    model, forward = network(name), work(name)
    kept = kept_bytes(model)
    parameters = sum(each.numel() for each in model.parameters())
    here = (given.batch / given.gpus * kept / 2 + 16 * parameters) / 2**30  # weights, gradients, two moments of Adam
    hours = " | ".join(
        f"{given.epochs * IMAGES / images_per_second(forward, given, share) / 3600:.1f}" for share in given.share
    )
    return (
        f"| {name} | {parameters / 1e6:.1f} M | {forward / 1e9:.2f}·10⁹ | {kept / 2**20:.0f} MiB an image | "
        f"{here:.1f} GiB | {hours} |"
    )


def kept_bytes(model: nn.Module, images: int = 2) -> float:
    """What autograd keeps of one image between forward and backward, parameters aside, in float32."""
    own = {each.untyped_storage().data_ptr() for each in (*model.parameters(), *model.buffers())}
    seen: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        place = tensor.untyped_storage().data_ptr()
        if place not in own:
            seen[place] = tensor  # held, so that no other takes its place
        return tensor

    model.train()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(torch.rand(images, 3, 224, 224)).sum()
    return sum(tensor.untyped_storage().nbytes() for tensor in seen.values()) / images


def decoding(rounds: int = 40) -> float:
    """CPU seconds of one core for a photograph, of some structure: noise would take longer."""
    pixels = np.random.default_rng(0).integers(0, 256, (40, 53, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).resize((500, 375), Image.Resampling.BICUBIC).save(file, "jpeg", quality=95)
    how = Decoding(224)
    start = time.process_time()
    for _ in range(rounds):
        decode(file.getvalue(), how, lambda: "a photograph")
    return (time.process_time() - start) / rounds


if __name__ == "__main__":
    main()
