"""A network on a data set: what it says of every image, at once or under each of several colour shifts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Tensor, nn

from equicolor._tools.wrapped import unwrapped
from equicolor.color import Action
from equicolor.data import Batch, ImageSet, Shift
from equicolor.deploy import optimize_for_inference
from equicolor.groups import argument_names, factor_kind
from equicolor.metrics import Pixels, Predictions
from equicolor.models import Model, Task
from equicolor.trained._batches import image_names
from equicolor.trained._evaluation import Evaluation
from equicolor.trained._logits import class_probabilities
from equicolor.trained._prepared import by_name, prepared_batch

#: Called with how many images have been dealt with since the last call, for a progress bar.
Advance: TypeAlias = Callable[[int], None]
#: A change of images: a function from images to images, ``(B, 3, H, W)`` in [0, 1].
Change: TypeAlias = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Answer:
    """What a network says of a batch: probabilities ``(B, K)`` and labels, or of a segmenter counts of pixels."""

    said: Tensor | Pixels
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)


#: What computes an evaluation: a function from a set and a batch size to what is said of its batches, in their order.
Engine: TypeAlias = Callable[[ImageSet, int], Iterator[Answer]]


def evaluate(
    model: nn.Module,
    images: ImageSet,
    batch_size: int = 256,
    advance: Advance | None = None,
    *,
    positive: str | None = None,
    change: Change | None = None,
    engine: Engine | None = None,
) -> Evaluation:
    """Evaluates a network on a set: metrics with intervals, by class and by domain.

    Args:
        model: a network from RGB images to logits, ``(B, classes)`` or, for segmentation, ``(B, classes, H, W)``. A
            single logit tells two classes apart, and speaks for the second.
        images: a labelled set, see :func:`equicolor.data.load`. They are prepared as ``model.preparation`` says, and
            classes are matched by name, where the network has a card: it may have been trained on more, or in another
            order.
        batch_size: how many images at once.
        advance: called with the number of images of each batch, for a progress bar.
        positive: the class that sensitivity, specificity, F1 and AUC are of. Of two classes it is the second by
            default; of more, these are means over classes.
        change: a change of images before they are prepared, one that is no shift of a data set.
        engine: what computes; by default this process. :func:`evaluate_on_ray` makes another.

    Returns:
        What the network said, and how good that is.

    Raises:
        ValueError: the network is for other images, or computes logits that are not finite.

    Example:
        >>> import equicolor as ec
        >>> digits = ec.data.load("digits", split="test").sample(20)
        >>> evaluate(ec.create_model("z2cnn", "hue4"), digits).metrics["error"].high <= 1
        True
    """
    if engine is not None and change is not None:
        raise ValueError("change is made in this process: it cannot be given beside an engine")
    images = _checked(model, images)
    evaluation = _evaluate(engine or here(model, change), images, batch_size, advance, positive)
    return replace(evaluation, names=image_names(_readable(images)))


def evaluate_curve(
    model: nn.Module,
    images: ImageSet,
    quantity: str,
    shifts: Sequence[float] | None = None,
    batch_size: int = 256,
    advance: Advance | None = None,
    action: Action | None = None,
    *,
    positive: str | None = None,
    engine: Engine | None = None,
) -> dict[float, Evaluation]:
    """Evaluates a network under each of several colour shifts of a whole set.

    They come on top of the shift that the set is under already.

    Args:
        model: as for :func:`evaluate`.
        images: as for :func:`evaluate`.
        quantity: what is shifted, by the prefix of its factor: ``"hue"``, ``"sat"``, ``"temp"``, or one of your own.
        shifts: how far it is shifted; by default :func:`default_shifts`.
        batch_size: as for :func:`evaluate`.
        advance: as for :func:`evaluate`.
        action: how it is shifted, ``"exact"`` or ``"clamp"``, where there are two ways; by default as data sets are,
            which for saturation and luminance is the paper's, ``"clamp"``.
        positive: as for :func:`evaluate`.
        engine: as for :func:`evaluate`.

    Returns:
        An evaluation for each shift.
    """
    images = _checked(model, images)
    shifts = default_shifts(quantity) if shifts is None else shifts
    engine = engine or here(model)
    own = () if images.shift is None else images.shift.moves
    curve = {}
    suffix = f":{action}" if action and "action" in argument_names(factor_kind(quantity)) else ""
    for amount in shifts:
        moves = own + Shift.parse(f"{quantity}:{amount:.12g}{suffix}").moves
        curve[amount] = _evaluate(engine, images.with_shift(Shift(moves)), batch_size, advance, positive)
    return curve


def default_shifts(quantity: str) -> list[float]:
    """The shifts of a curve where none are given.

    Args:
        quantity: what is shifted, by the prefix of its factor.

    Returns:
        Once around the circle in 36 steps (hue: of 10°), or as far as the factor reaches to either side in 10 steps.

    Example:
        >>> default_shifts("lum")[:3]
        [-0.5, -0.45, -0.4]
    """
    factor_kind(quantity)  # says what there is
    factor = Shift.parse(f"{quantity}:0").moves[0].factor
    if factor.period is not None:
        return [factor.period * step / 36 for step in range(37)]
    return [factor.reach * step / 10 for step in range(-10, 11)]


def here(model: nn.Module, change: Change | None = None) -> Engine:
    """This process, with a network made ready once."""
    ready = optimize_for_inference(model)

    def answers(images: ImageSet, batch_size: int) -> Iterator[Answer]:
        for batch in images.batches(batch_size):
            if change is not None:
                batch = Batch(change(batch.images), batch.targets)
            yield answer(model, ready, batch, images.task)

    return answers


@torch.inference_mode()
def answer(model: nn.Module, ready: nn.Module, batch: Batch, task: Task) -> Answer:
    """What a network, made ready, says of a batch, which is prepared as ``model`` says."""
    device = next(ready.parameters()).device
    batch = prepared_batch(model, batch)
    probabilities = class_probabilities(ready(batch.images.to(device))).float().cpu()
    if task == "classification":
        return Answer(probabilities, batch.targets)
    targets = batch.targets.flatten(1)
    return Answer(Pixels.of(probabilities.view(*targets.shape, -1), targets), targets[:, 0])


def _evaluate(
    engine: Engine, images: ImageSet, batch_size: int, advance: Advance | None, positive: str | None
) -> Evaluation:
    classes = images.classes if images.task == "classification" else ("background", "foreground")
    chosen = _positive(classes, positive)
    said: list[Tensor] = []
    pixels: list[Pixels] = []
    labels: list[Tensor] = []
    for each in engine(images, batch_size):
        if isinstance(each.said, Pixels):
            pixels.append(each.said)
        else:
            if each.said.shape[1] != len(classes):
                raise ValueError(f"got predictions of {each.said.shape[1]} classes, expected {len(classes)}")
            said.append(each.said)
            labels.append(each.labels)
        if advance:
            advance(len(each))
    predictions = Predictions(torch.cat(said), torch.cat(labels)) if said else Pixels.joined(pixels)
    images = _readable(images)
    return Evaluation(classes, predictions, chosen, images.domains, images.clusters)


def _positive(classes: Sequence[str], name: str | None) -> str | None:
    if name is None:
        return classes[1] if len(classes) == 2 else None
    if name not in classes:
        raise ValueError(f"there is no class {name!r} to be the positive one: expected one of {', '.join(classes)}")
    return name


def _readable(images: ImageSet) -> ImageSet:
    """Those that were not left out because they cannot be read."""
    if not images.skipped:
        return images
    bad = torch.stack([source.unreadable[images.original_rows] for source in images.origin]).any(0)
    return images.subset(~bad)


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
