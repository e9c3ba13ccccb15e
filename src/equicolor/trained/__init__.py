"""What is done with a trained network: open it, evaluate it, predict, sort images by hue, look inside, plot what came.

Everything here takes a network that exists and leaves it as it is. What changes weights lives in ``train``; what says
how equivariant any module is, trained or not, in ``measure``; what prints or writes files for a user in ``commands``.
"""

from equicolor.trained._canonical import CanonicalCurve, canonical_curves
from equicolor.trained._evaluate import (
    Advance,
    Evaluation,
    Quantity,
    default_shifts,
    evaluate,
    evaluate_curve,
)
from equicolor.trained._inspect import Inspection, inspect_model
from equicolor.trained._logits import class_probabilities
from equicolor.trained._open import Opened, open_model
from equicolor.trained._plots import plot_canonical, plot_curve, plot_inspection
from equicolor.trained._predict import Prediction, class_names, file_batches, find_images, predict, set_batches
from equicolor.trained._prepared import prepared
from equicolor.trained._sort import (
    HuePositions,
    fine_features,
    hue_factor,
    hue_positions,
    layer_features,
    on_hues,
    penultimate_map,
)

__all__ = [
    "Advance",
    "CanonicalCurve",
    "Evaluation",
    "HuePositions",
    "Inspection",
    "Opened",
    "Prediction",
    "Quantity",
    "canonical_curves",
    "class_names",
    "class_probabilities",
    "default_shifts",
    "evaluate",
    "evaluate_curve",
    "file_batches",
    "find_images",
    "fine_features",
    "hue_factor",
    "hue_positions",
    "inspect_model",
    "layer_features",
    "on_hues",
    "open_model",
    "penultimate_map",
    "plot_canonical",
    "plot_curve",
    "plot_inspection",
    "predict",
    "prepared",
    "set_batches",
]
