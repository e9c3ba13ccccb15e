"""A network as an ONNX file of 8 bits, beside the one of 32 that it was made of: what was gained, what was lost."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from equicolor._tools.files import complete_files
from equicolor.deploy._compare import agreement, expected_of
from equicolor.deploy._export import Exported, check_agreement, export_network, open_exported, preparation_of
from equicolor.deploy._graph import as_probabilities
from equicolor.deploy._quantize import quantize_onnx

#: Images that are calibrated on, and measured on, at once.
_AT_ONCE = 32
#: The mean difference of probabilities that is allowed where nobody says otherwise.
_MOST = 0.05


@dataclass(frozen=True)
class Quantized:
    """A file that was quantised, and how well it agrees with the network that it was made of.

    Attributes:
        before: the file in float32, which is gone, and how it agrees with the network, in probabilities.
        after: the file of 8 bits.
        given: the images that both were measured on, as the files take them.
        probabilities: the probabilities of these images, by the file before and by the one after.
        runs: what both compute, from images to logits or probabilities, for whoever wants to time them.
    """

    before: Exported
    after: Exported
    given: Tensor = field(repr=False)
    probabilities: tuple[Tensor, Tensor] = field(repr=False)
    runs: tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]] = field(repr=False)


def export_quantized(
    model: nn.Module,
    path: str | os.PathLike[str],
    images: Tensor,
    *,
    image_size: int | None = None,
    with_preparation: bool = False,
    tolerance: float | None = None,
) -> Quantized:
    """Exports a network as an ONNX file of 8 bits, see :func:`quantize_onnx`, if that says much the same.

    Every other image is calibrated on, and the rest are measured on: what is said of the file is said of images that it
    has not seen.

    Args:
        model: any network; left as it is.
        path: where to.
        images: like those to come, uint8 ``(B, C, H, W)``, two or more.
        image_size: what the network is shown; by default that of ``model.preparation``.
        with_preparation: the file takes uint8 images of any size and gives probabilities.
        tolerance: the largest mean difference of probabilities that is allowed, 0.05 by default.

    Returns:
        Both files, and what they say.

    Raises:
        ValueError: there are too few images, or the file differs too much; it is not left behind.
    """
    if len(images) < 2:
        raise ValueError(f"quantising takes two images or more, to calibrate and to measure on, got {len(images)}")
    path, plan = Path(path), preparation_of(model, image_size)
    measured = images[1::2]
    calibrated, given = (some if with_preparation else plan(some) for some in (images[0::2], measured))
    expected = _probabilities(expected_of(model, plan, measured, with_preparation), with_preparation)
    with tempfile.TemporaryDirectory(prefix="equicolor-") as scratch, complete_files(path.parent, path.name) as files:
        options = {"image_size": image_size, "with_preparation": with_preparation, "images": measured}
        before = export_network(model, Path(scratch) / "float32.onnx", **options)  # type: ignore[arg-type]
        draft = quantize_onnx(before.path, files / path.name, torch.split(calibrated, _AT_ONCE))
        runs = open_exported(before.path), open_exported(draft)
        whole, rounded = (_probabilities(_all(run, given), with_preparation) for run in runs)
        result = agreement(rounded, expected)
        check_agreement(result.mean, tolerance or _MOST, "in 8 bits", "in the mean of all probabilities")
        size = sum(file.stat().st_size for file in files.iterdir())
    before = Exported(before.path, before.bytes, agreement(whole, expected))
    return Quantized(before, Exported(path, size, result), given, (whole, rounded), runs)


def _all(run: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
    return torch.cat([run(some) for some in torch.split(images, _AT_ONCE)])


def _probabilities(result: Tensor, are_there: bool) -> Tensor:
    return result if are_there else as_probabilities(result)
