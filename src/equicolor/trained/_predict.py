"""What a network says about images: the likeliest class, and the probabilities of all."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from equicolor.deploy import optimize_for_inference
from equicolor.trained._logits import class_probabilities
from equicolor.trained._onnx import OnnxNetwork
from equicolor.trained._prepared import prepared


@dataclass(frozen=True)
class Prediction:
    """What a network says about one file.

    Attributes:
        path: the name of the file.
        label: the likeliest class.
        probability: its probability.
        probabilities: the probabilities of all classes, ``(K,)``, in the order of their names.
    """

    path: str
    label: str
    probability: float
    probabilities: Tensor = field(repr=False, compare=False)


def predict(
    model: nn.Module, batches: Iterable[tuple[list[str], Tensor]], classes: Sequence[str], compiled: bool = False
) -> Iterator[Prediction]:
    """Predicts the class of each image, in their order, as soon as it is known.

    Args:
        model: a classifier, from RGB images to logits ``(B, classes)``. One that gives a single logit tells two classes
            apart: the logit speaks for the second.
        batches: names and images, from :func:`file_batches` or :func:`set_batches`; they are prepared as
            ``model.preparation`` says.
        classes: the names of the logits; for a single one, both classes' names or the second's: ``["x"]`` stands for
            ``["not x", "x"]``.
        compiled: whether to use ``torch.compile``: it takes a minute before the first batch, and a C++ compiler.

    Returns:
        For each image, its likeliest class and the probabilities of all.

    Raises:
        ValueError: the network is no classifier of these classes, or its logits are not finite.
    """
    predictor = Predictor(model, classes, compiled)
    for names, images in batches:
        yield from predictor(names, images)


class Predictor:
    """A network made ready once, and then asked about batches; arguments are those of :func:`predict`."""

    def __init__(self, model: nn.Module, classes: Sequence[str], compiled: bool = False) -> None:
        self.model, self.classes = model, class_names(classes)
        ready: Any = model if isinstance(model, OnnxNetwork) else optimize_for_inference(model)
        self._device = next((parameter.device for parameter in ready.parameters()), torch.device("cpu"))
        self._ready: Any = torch.compile(ready) if compiled else ready

    def __call__(self, names: Sequence[str], images: Tensor) -> list[Prediction]:
        """The predictions of one batch."""
        with torch.inference_mode():
            logits = self._ready(prepared(self.model, images).to(self._device))
            if logits.dim() != 2:
                raise ValueError("predict takes a classifier: this network gives a map of logits for each image")
            told_apart = class_probabilities(logits)
            if told_apart.shape[1] != len(self.classes):
                raise ValueError(f"got {len(self.classes)} names for the {told_apart.shape[1]} classes of the network")
            told_apart = told_apart.cpu()
            highest, predicted = told_apart.max(1)
        rows = zip(names, predicted.tolist(), highest.tolist(), told_apart, strict=True)
        return [Prediction(name, self.classes[label], probability, row) for name, label, probability, row in rows]


def class_names(classes: Sequence[str]) -> tuple[str, ...]:
    """A name for each class.

    Args:
        classes: the names of the logits; of a single logit, the name of the class that it speaks for stands for both.

    Returns:
        The names, two at least.

    Example:
        >>> class_names(["cat"])
        ('not cat', 'cat')
    """
    return (f"not {classes[0]}", classes[0]) if len(classes) == 1 else tuple(classes)
