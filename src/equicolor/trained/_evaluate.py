"""How good a network is on a data set: error, confusion and calibration, and all three as functions of a colour shift.

Everything is counted batch by batch, so a set of any size takes the memory of one batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from equicolor._tools.optional import require
from equicolor._tools.wrapped import unwrapped
from equicolor.color import Action
from equicolor.data import ImageSet, Shift
from equicolor.deploy import optimize_for_inference
from equicolor.groups import argument_names, factor_kind
from equicolor.models import Model
from equicolor.trained._logits import class_probabilities
from equicolor.trained._prepared import by_name, prepared_batch

#: What is shifted, by the prefix of its factor.
Quantity: TypeAlias = str
Advance: TypeAlias = Callable[[int], None]

BINS = 15


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What was counted over a set of K classes.

    Attributes:
        classes: their names.
        confusion: how often class i (row) was called j (column), ``(K, K)`` int64.
        bins: for each of 15 equal bins of confidence, how many predictions fell into it, the sum of their confidences
            and how many were right, ``(3, 15)`` float64.
    """

    classes: tuple[str, ...]
    confusion: Tensor
    bins: Tensor = field(default_factory=lambda: torch.zeros(3, BINS, dtype=torch.float64))

    @classmethod
    def empty(cls, classes: Sequence[str]) -> "Evaluation":
        """Nothing counted yet."""
        return cls(tuple(classes), torch.zeros(len(classes), len(classes), dtype=torch.long))

    def add(self, probabilities: Tensor, labels: Tensor) -> "Evaluation":
        """With these predictions counted too: ``(N, K)`` and ``(N,)``."""
        metrics = require("torchmetrics.functional.classification", "evaluating")
        probabilities, labels = probabilities.cpu().double(), labels.cpu()
        count = len(self.classes)
        if probabilities.shape[1] != count:
            raise ValueError(f"got predictions of {probabilities.shape[1]} classes, expected {count}")
        confidence, predicted = probabilities.max(1)
        confusion = metrics.multiclass_confusion_matrix(predicted, labels, count)
        # torchmetrics' calibration error keeps every prediction, of every pixel too, until it is asked: these are its
        # bins, counted as they come. They are closed above: a confidence of 1 is in the last, 2/15 in the second.
        place = ((confidence * BINS).ceil().long() - 1).clamp(0, BINS - 1)
        counted = torch.stack([torch.ones_like(confidence), confidence, (predicted == labels).double()])
        bins = torch.zeros_like(self.bins).index_add_(1, place, counted)
        return replace(self, confusion=self.confusion + confusion, bins=self.bins + bins)

    @property
    def count(self) -> int:
        """How many predictions there were: one for each image, or for each pixel of a segmentation."""
        return int(self.confusion.sum())

    @property
    def error(self) -> float:
        """The share of predictions that are wrong."""
        return 1 - float(self.confusion.trace()) / max(self.count, 1)

    @property
    def class_errors(self) -> list[float]:
        """The share of each class that was called another; NaN for a class that is not in the set."""
        right, total = self.confusion.diagonal().double(), self.confusion.sum(1).double()
        return [float(value) for value in 1 - right / total]

    @property
    def calibration_error(self) -> float:
        """ECE, the expected calibration error: Σ_bins |right - confidence| / predictions."""
        return float((self.bins[2] - self.bins[1]).abs().sum()) / max(self.count, 1)

    def summary(self) -> dict[str, Any]:
        """The numbers, fit for JSON."""
        return {
            "count": self.count,
            "error": self.error,
            "calibration_error": self.calibration_error,
            # A class without images has no error: null, since JSON has no NaN.
            "class_errors": {n: None if e != e else e for n, e in zip(self.classes, self.class_errors, strict=True)},
            "confusion": self.confusion.tolist(),
        }


def evaluate(model: nn.Module, images: ImageSet, batch_size: int = 256, advance: Advance | None = None) -> Evaluation:
    """The predictions of ``model`` on ``images``, counted.

    Args:
        model: from RGB images to logits, ``(B, classes)`` or, for segmentation, ``(B, classes, H, W)``. A single logit
            tells two classes apart, and speaks for the second.
        images: a labelled set, see :func:`equicolor.data.load`. They are prepared as ``model.preparation`` says, and
            classes are matched by name, where the network has a card: it may have been trained on more, or in another
            order.
        batch_size: how many images at once.
        advance: is told of each batch how many images it had, for a progress bar.
    """
    images = _checked(model, images)
    return _evaluate(model, optimize_for_inference(model), images, batch_size, advance)


def evaluate_curve(
    model: nn.Module,
    images: ImageSet,
    quantity: Quantity,
    shifts: Sequence[float] | None = None,
    batch_size: int = 256,
    advance: Advance | None = None,
    action: Action | None = None,
) -> dict[float, Evaluation]:
    """The same for each of several colour shifts of the whole set, on top of the shift that it is under already.

    Args:
        quantity: what is shifted, by the prefix of its factor: ``"hue"``, ``"sat"``, ``"temp"``, or one of your own.
        shifts: by how much; by default :func:`default_shifts`.
        action: by which it is shifted, where there are two; by default as data sets are, which for saturation and
            luminance is the paper's, ``"clamp"``.
    """
    images = _checked(model, images)
    shifts = default_shifts(quantity) if shifts is None else shifts
    ready = optimize_for_inference(model)
    own = () if images.shift is None else images.shift.moves
    curve = {}
    suffix = f":{action}" if action and "action" in argument_names(factor_kind(quantity)) else ""
    for amount in shifts:
        moves = own + Shift.parse(f"{quantity}:{amount:.12g}{suffix}").moves
        curve[amount] = _evaluate(model, ready, images.with_shift(Shift(moves)), batch_size, advance)
    return curve


def default_shifts(quantity: Quantity) -> list[float]:
    """Once around the circle in 36 steps (hue: of 10°), or as far as the factor reaches to either side in 10 steps.

    >>> default_shifts("lum")[:3]
    [-0.5, -0.45, -0.4]
    """
    factor_kind(quantity)  # says what there is
    factor = Shift.parse(f"{quantity}:0").moves[0].factor
    if factor.period is not None:
        return [factor.period * step / 36 for step in range(37)]
    return [factor.reach * step / 10 for step in range(-10, 11)]


@torch.inference_mode()
def _evaluate(
    model: nn.Module, ready: nn.Module, images: ImageSet, batch_size: int, advance: Advance | None
) -> Evaluation:
    device = next(ready.parameters()).device
    classes = images.classes if images.task == "classification" else ("background", "foreground")
    evaluation = Evaluation.empty(classes)
    for batch in images.batches(batch_size):
        batch = prepared_batch(model, batch)
        probabilities = class_probabilities(ready(batch.images.to(device)))
        evaluation = evaluation.add(probabilities, batch.targets.flatten())
        if advance:
            advance(len(batch.images))
    return evaluation


def _checked(model: nn.Module, images: ImageSet) -> ImageSet:
    """The images with their classes numbered as the logits are."""
    if not len(images):
        raise ValueError(f"{images.name} {images.split} holds no images to evaluate on")
    network = unwrapped(model)
    if not isinstance(network, Model):
        return by_name(model, images)
    if network.task != images.task:
        raise ValueError(f"{network.config['name']} cannot be evaluated on a set loaded for {images.task}")
    images = by_name(model, images)
    told_apart = max(2, network.config["num_classes"])  # a single logit is two classes
    if images.task == "classification" and told_apart != images.num_classes:
        raise ValueError(
            f"the model tells {told_apart} classes apart, {images.name} has {images.num_classes}: it was trained on "
            "another set"
        )
    return images
