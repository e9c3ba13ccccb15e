"""An ONNX file whose convolutions compute with whole numbers of 8 bits, by onnxruntime's static quantisation."""

import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from torch import Tensor

from equicolor._tools.files import complete_files
from equicolor._tools.optional import require

#: What is computed in 8 bits: where the time goes. Lifts, norms that are left, and pools stay in float32.
_QUANTIZED = ["Conv", "ConvTranspose", "Gemm"]


class _Images:
    """Batches as onnxruntime's calibration asks for them."""

    def __init__(self, batches: Iterable[Tensor]) -> None:
        self._batches: Iterator[Tensor] = iter(batches)

    def get_next(self) -> dict[str, Any] | None:
        batch = next(self._batches, None)
        return None if batch is None else {"images": batch.numpy()}


def quantize_onnx(source: str | os.PathLike[str], path: str | os.PathLike[str], batches: Iterable[Tensor]) -> Path:
    """Writes a copy of an ONNX file that computes its convolutions in 8 bits.

    Filters are rounded for each channel by itself, to 7 bits, so that sums of two products fit into the 16 bits that
    CPUs without VNNI take; features to the range that they have on the images given. The format
    is QDQ: an ordinary graph with pairs of nodes that round, which runtimes fuse. The card in the metadata is kept.

    Args:
        source: a file of :func:`export_onnx`.
        path: where to.
        batches: images as the file takes them, like those to come: a hundred are enough, none are too few.

    Returns:
        The path.

    Raises:
        ValueError: there are no images.
    """
    quantization = require("onnxruntime.quantization", "quantising", install="equicolor[onnx]")
    source, path = Path(source), Path(path)
    batches = iter(batches)
    first = next(batches, None)
    if first is None:
        raise ValueError("quantising takes images to calibrate on, got none")

    def all_batches() -> Iterator[Tensor]:
        yield first
        yield from batches

    quiet, before = logging.getLogger(), logging.getLogger().level
    quiet.setLevel(logging.ERROR)  # it advises the root logger to run another tool first, which changes nothing here
    try:
        with complete_files(path.parent, last=path.name) as files:
            quantization.quantize_static(
                source,
                files / path.name,
                _Images(all_batches()),
                quant_format=quantization.QuantFormat.QDQ,
                op_types_to_quantize=_QUANTIZED,
                per_channel=True,
                reduce_range=True,
                activation_type=quantization.QuantType.QUInt8,
                weight_type=quantization.QuantType.QInt8,
            )
    finally:
        quiet.setLevel(before)
    return path
