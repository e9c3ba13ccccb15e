"""How fast ``equicolor predict`` is, beside a plain loop over PIL and the network, interleaved, in one process.

python benchmarks/predict.py                          # 10,000 JPEG files, made up, in a temporary folder
python benchmarks/predict.py --images 2000 --model resnet44 --size 32

The loop is what one would write: open a file, make it RGB, scale it, cut out the centre, and show the network one image
after the other. Both read the same files and must find the same classes.
"""

import argparse
import csv
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

import equicolor as ec
from equicolor import commands
from equicolor.models import Preparation


def main() -> None:
    """Prints a row for each way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--side", type=int, default=128, help="of the files")
    parser.add_argument("--model", default="z2cnn")
    parser.add_argument("--group", default="hue4")
    parser.add_argument("--size", type=int, default=28, help="that the network is shown")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="*", default=[], help="also with so many threads")
    parser.add_argument("--backends", nargs="*", default=["torch"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        make_files(home / "images", given.images, given.side)
        network = make_network(home / "model", given.model, given.group, given.size)
        paths = sorted((home / "images").iterdir())
        ways: dict[str, Callable[[], list[str]]] = {"plain loop": lambda: loop(network, paths, given.size)}
        for backend in given.backends:
            for workers in (None, *given.workers):
                title = f"predict, {backend}" + ("" if workers is None else f", {workers} workers")
                options = {"backend": backend, "workers": workers}
                ways[title] = lambda options=options: predict(home, options)  # type: ignore[misc]
        report(ways, given)


def make_files(folder: Path, count: int, side: int) -> None:
    """JPEG files of some structure: noise would take longer to decode than photographs do."""
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(count):
        pixels = random.integers(0, 256, (12, 12, 3), dtype=np.uint8)
        image = Image.fromarray(pixels).resize((side, side), Image.Resampling.BICUBIC)
        image.save(folder / f"{number:06}.jpg", quality=90)


def make_network(folder: Path, model: str, group: str, size: int) -> Any:
    """A network with fresh weights whose norms have seen images: saved, and as it is opened."""
    torch.manual_seed(0)
    network = ec.create_model(model, group, num_classes=10)
    for _ in range(5):
        network(torch.rand(16, 3, size, size))
    ec.save_pretrained(network.eval(), folder, preparation=Preparation(size))
    return ec.from_pretrained(folder)


def loop(network: Any, paths: list[Path], size: int) -> list[str]:
    """One image after the other."""
    found = []
    with torch.no_grad():
        for path in paths:
            image = Image.open(path).convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
            tensor = torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255
            probabilities = network(tensor[None]).softmax(1)
            found.append(str(int(probabilities.argmax())))
    return found


def predict(home: Path, options: dict[str, Any]) -> list[str]:
    """The command, all of it: the network is opened, the files are looked for, the rows are written."""
    out = home / "said.csv"
    out.unlink(missing_ok=True)
    commands.predict(str(home / "model"), [str(home / "images")], out=out, device="cpu", **options)
    with out.open(newline="") as file:
        return [row["class"] for row in csv.DictReader(file)]


def report(ways: dict[str, Callable[[], list[str]]], given: argparse.Namespace) -> None:
    """Times all ways in turn, so that what else the machine does falls on each."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    computed: dict[str, list[float]] = {name: [] for name in ways}
    answers = {}
    for _ in range(given.rounds):
        for name, way in ways.items():
            start, used = time.perf_counter(), time.process_time()
            answers[name] = way()
            seconds[name].append(time.perf_counter() - start)
            computed[name].append(time.process_time() - used)
    expected = answers["plain loop"]
    print(
        f"{given.images:,} JPEG files of {given.side}×{given.side}, {given.model} {given.group} at {given.size} pixels,"
    )
    print(
        f"{torch.get_num_threads()} threads of PyTorch, medians of {given.rounds} rounds, PyTorch {torch.__version__}\n"
    )
    print("| | images/s | times as fast | ms of CPU an image | same class |\n| --- | --- | --- | --- | --- |")
    for name, taken in seconds.items():
        ratios = [plain / mine for plain, mine in zip(seconds["plain loop"], taken, strict=True)]
        same = sum(a == b for a, b in zip(answers[name], expected, strict=True)) / len(expected)
        rate = given.images / statistics.median(taken)
        cpu = 1000 * statistics.median(computed[name]) / given.images
        print(f"| {name} | {rate:,.0f} | {statistics.median(ratios):.2f} | {cpu:.2f} | {same:.2%} |")


if __name__ == "__main__":
    main()
