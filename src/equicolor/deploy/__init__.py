"""Networks on their way to users: made ready for inference, and exported to ONNX.

What changes how a network computes, and not what, lives here. Weights and cards are written by ``files``; what is done
with a network on images is in ``trained``.
"""

from equicolor.deploy._onnx import export_onnx
from equicolor.deploy._optimize import optimize_for_inference

__all__ = ["export_onnx", "optimize_for_inference"]
