"""How large the ONNX file of a converted ResNet-18 is, in float32 and quantized to int8, beside what its filters need.

python benchmarks/onnx_size.py                 # takes torchvision, as 'make test' installs it, and the extra 'onnx'
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import onnx
import torch
from onnxruntime.quantization import CalibrationDataReader, quantize_static

import equicolor as ec

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from convert_networks import torchvision_models

SIDE = 64


class RandomImages(CalibrationDataReader):  # type: ignore[misc]
    """One batch: sizes do not depend on what is calibrated with."""

    def __init__(self) -> None:
        self._batches = iter([{"images": torch.rand(2, 3, SIDE, SIDE).numpy()}])

    def get_next(self) -> Any:
        return next(self._batches, None)


def main() -> None:
    """Prints a row for each group."""
    print("| group | filters as they are convolved with | ONNX file | int8 | Conv with an initializer |")
    print("| --- | --- | --- | --- | --- |")
    for group in ("hue3", "hue4"):
        torch.manual_seed(0)
        plain = torchvision_models().resnet18()
        network = ec.convert(plain, group, image_size=SIDE).eval()
        frozen = sum(value.nbytes for value in ec.optimize_for_inference(network).state_dict().values())
        with tempfile.TemporaryDirectory() as folder:
            file, quantized = Path(folder) / "model.onnx", Path(folder) / "quantized.onnx"
            graph = onnx.load(ec.export_onnx(network, file, SIDE)).graph
            constants = {weight.name for weight in graph.initializer}
            convolutions = [node for node in graph.node if node.op_type == "Conv"]
            whole = sum(node.input[1] in constants for node in convolutions)
            quantize_static(file, quantized, RandomImages(), op_types_to_quantize=["Conv", "Gemm"])
            sizes = [f"{size / 1e6:.1f} MB" for size in (frozen, file.stat().st_size, quantized.stat().st_size)]
        print(f"| {group} | {' | '.join(sizes)} | {whole} of {len(convolutions)} |", flush=True)


if __name__ == "__main__":
    main()
