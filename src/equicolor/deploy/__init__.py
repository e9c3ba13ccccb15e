"""Networks on their way to users: made ready for inference, exported to ONNX, torch.export or one safetensors file.

What changes how a network computes, and not what, lives here, and what checks that it did not. Weights and cards are
written by ``files``; what is done with a network on images is in ``trained``.
"""

from equicolor.deploy._compare import Agreement, agreement
from equicolor.deploy._export import (
    SUFFIXES,
    Exported,
    Format,
    export_network,
    exported_card,
    onnx_session,
    open_exported,
    preparation_of,
)
from equicolor.deploy._graph import WithPreparation, as_probabilities
from equicolor.deploy._onnx import export_onnx
from equicolor.deploy._optimize import optimize_for_inference
from equicolor.deploy._program import export_program
from equicolor.deploy._quantize import quantize_onnx
from equicolor.deploy._quantized import Quantized, export_quantized

__all__ = [
    "SUFFIXES",
    "Agreement",
    "Exported",
    "Format",
    "Quantized",
    "WithPreparation",
    "agreement",
    "as_probabilities",
    "export_network",
    "export_onnx",
    "export_program",
    "export_quantized",
    "exported_card",
    "onnx_session",
    "open_exported",
    "optimize_for_inference",
    "preparation_of",
    "quantize_onnx",
]
