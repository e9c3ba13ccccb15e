"""What is done with a trained network: open it, evaluate it, predict, sort, look inside, diagnose, plot.

Everything here takes a network that exists and leaves it as it is. What changes weights lives in ``train``; what says
how equivariant any module is, trained or not, in ``measure``; what prints or writes files for a user in ``commands``.
"""

from equicolor.trained._batches import default_workers, file_batches, image_names, set_batches
from equicolor.trained._beside import plain_beside
from equicolor.trained._canonical import CanonicalCurve, canonical_curves
from equicolor.trained._distributed import evaluate_on_ray, predict_on_ray
from equicolor.trained._evaluate import Change, Engine, default_shifts, evaluate, evaluate_curve
from equicolor.trained._evaluation import Evaluation
from equicolor.trained._find import find_images
from equicolor.trained._hue_features import hue_features
from equicolor.trained._inspect import Inspection, inspect_model
from equicolor.trained._logits import class_probabilities
from equicolor.trained._onnx import OnnxNetwork, as_onnx, is_onnx, open_network, open_onnx
from equicolor.trained._open import Opened, open_model
from equicolor.trained._overlap import seen_in_training
from equicolor.trained._packed import Packed
from equicolor.trained._places import Place
from equicolor.trained._plots import plot_canonical, plot_curve, plot_inspection
from equicolor.trained._predict import Prediction, class_names, predict
from equicolor.trained._prepared import prepared
from equicolor.trained._ray import Actors
from equicolor.trained._rows import Match, matches_in_words, matching_rows
from equicolor.trained._sort import (
    HuePositions,
    fine_features,
    hue_factor,
    hue_positions,
    layer_features,
    on_hues,
    penultimate_map,
)
from equicolor.trained.diagnosis import (
    ColorDiagnosis,
    ModelDiagnosis,
    diagnose,
    diagnose_model,
    diagnose_sets,
    plot_model,
    plot_sets,
)

__all__ = [
    "Actors",
    "CanonicalCurve",
    "Change",
    "ColorDiagnosis",
    "Engine",
    "Evaluation",
    "HuePositions",
    "Inspection",
    "Match",
    "ModelDiagnosis",
    "OnnxNetwork",
    "Opened",
    "Packed",
    "Place",
    "Prediction",
    "as_onnx",
    "canonical_curves",
    "class_names",
    "class_probabilities",
    "default_shifts",
    "default_workers",
    "diagnose",
    "diagnose_model",
    "diagnose_sets",
    "evaluate",
    "evaluate_curve",
    "evaluate_on_ray",
    "file_batches",
    "find_images",
    "fine_features",
    "hue_factor",
    "hue_features",
    "hue_positions",
    "image_names",
    "inspect_model",
    "is_onnx",
    "layer_features",
    "matches_in_words",
    "matching_rows",
    "on_hues",
    "open_model",
    "open_network",
    "open_onnx",
    "penultimate_map",
    "plain_beside",
    "plot_canonical",
    "plot_curve",
    "plot_inspection",
    "plot_model",
    "plot_sets",
    "predict",
    "predict_on_ray",
    "prepared",
    "seen_in_training",
    "set_batches",
]
