"""What every layer and network here does with the tools of PyTorch: the table in docs/conformance.md.

python benchmarks/conformance.py
"""

import warnings
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn

import equicolor as ec
from equicolor.groups import Group
from equicolor.testing import conformance

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"


def subjects() -> Iterator[tuple[str, nn.Module, Group | str | None]]:
    """Each with its name and what its features live on. Networks are narrow: width changes nothing here."""
    layers = ec.nn
    yield "`Lift`, hue", layers.Lift("hue4", 0.5, 0.25), "hue4"
    yield "`Lift`, saturation", layers.Lift("sat3"), "sat3"
    for algorithm in ("fast", "direct"):
        yield f"`GroupConv2d`, {algorithm}", layers.GroupConv2d("hue4", 5, 6, 3, algorithm=algorithm), "hue4"
    yield "`GroupConv2d`, rescaled", layers.GroupConv2d("sat3", 5, 6, 3, rescale=True, algorithm="fast"), "sat3"
    for window in ("replicate", "valid"):
        yield f"`GroupConv2d`, {window}", layers.GroupConv2d("sat5", 5, 6, 3, window=window, algorithm="fast"), "sat5"
    yield "`GroupConvTranspose2d`", layers.GroupConvTranspose2d("hue4", 5, 6, 3, 2, algorithm="fast"), "hue4"
    yield "`GroupLinear`", layers.GroupLinear("hue4", 5, 6), "hue4"
    yield "`GroupPool`", layers.GroupPool("hue4"), "hue4"
    yield "`GroupDropout`", layers.GroupDropout("hue4"), "hue4"
    yield "`BatchNorm2d`", layers.BatchNorm2d(5), "hue4"
    yield "`CEConvLift`", layers.CEConvLift(3, 6, 3), "hue3"
    yield "`CEConv2d`", layers.CEConv2d(3, 5, 6, 3), "hue3"
    yield "`CEConvTranspose2d`", layers.CEConvTranspose2d(3, 5, 6, 3), "hue3"
    for name in ec.list_models():
        for group in (None, "hue3", "ceconv3"):
            model = ec.create_model(name, group=group, width=4)
            yield f"{name}, {group or 'no group'}", model, model.group
    yield "z2cnn, optimised", ec.optimize_for_inference(ec.create_model("z2cnn", group="hue3")), "hue3"
    for moves in ("hue4", "temp-tint"):
        yield f"z2cnn, hue3, canonicalised by {moves}", ec.create_model("z2cnn", "hue3", canonicalize=moves), "hue3"
    plain = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    yield "a converted network", ec.convert(plain, "hue4"), "hue4"


def main() -> None:
    """Tries everything, and writes the table into the page."""
    warnings.simplefilter("ignore")
    lines, reasons = ["| | passes | fails |", "| --- | --- | --- |"], list[str]()
    for name, module, group in subjects():
        torch.manual_seed(0)
        found = conformance(module, group)
        failed = {check: reason for check, reason in found.items() if reason}
        reasons += [f"- {name}, {check}: {reason}" for check, reason in failed.items()]
        lines.append(f"| {name} | {len(found) - len(failed)} of {len(found)} | {', '.join(failed) or 'none'} |")
        print(lines[-1], flush=True)
    table = "\n".join([*lines, "", f"PyTorch {torch.__version__.partition('+')[0]}.", *reasons, ""])
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{table}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
