"""A network in training: what its logits are held against, how its errors are counted, which optimiser moves it."""

import math
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader

from equicolor.data import Augment, Batch, ImageSet
from equicolor.data.augment import is_random
from equicolor.metrics import Counts, balanced_accuracy, pair_auc
from equicolor.models import CanonicalizedModel, Model, Preparation, create_model, is_from_elsewhere
from equicolor.nn import Canonicalizer
from equicolor.train._begin import weights_file
from equicolor.train._canonical import moved_at_random
from equicolor.train._data import ImageData
from equicolor.train._head import Remembered, freeze_all_but_head
from equicolor.train._libraries import (
    BinaryAccuracy,
    BinaryAUROC,
    BinaryJaccardIndex,
    Metric,
    MulticlassAccuracy,
    dim_zero_cat,
)
from equicolor.train._options import OPTIMIZERS
from equicolor.train._recipe import Recipe

#: Kinds of devices all of which have float64; Apple's have none, some of Intel's neither.
_HAVE_FLOAT64 = ("cpu", "cuda")


class Learner(nn.Module):
    """A network in training: from batches to losses, with errors counted.

    For classification or foreground segmentation. It knows nothing of optimisers, devices and processes, which are the
    loop's.

    Args:
        recipe: what to train, and how.
        train: the set it is trained on, for its classes and image size.
        rank: the number of this process; each draws its own augmentation.
        world: the number of processes.
        begins: whether the run begins, so that pretrained weights are needed; otherwise those of a checkpoint follow.
    """

    def __init__(self, recipe: Recipe, train: ImageSet, rank: int = 0, world: int = 1, begins: bool = True) -> None:
        super().__init__()
        self.recipe, self.rank, self.world = recipe, rank, world
        self.model: nn.Module = new_model(recipe, train, begins)
        self.head = freeze_all_but_head(self.model) if recipe.train_only == "head" else None
        if recipe.channels_last:
            self.model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        size = recipe.input_size or train.image_size
        self.augment = Augment(recipe.augment, size, seed=recipe.seed, rank=rank)
        self.image_size = size
        # Of the training and of every test split; the space keeps the names apart from those of modules' methods.
        places = ("in training", *(f"on {split}" for split in recipe.test_splits))
        self.counts = nn.ModuleDict({place: _metrics(recipe, train.num_classes) for place in places})
        for metric in self._counted("in training").values():
            metric.persistent(True)
        if recipe.task == "classification":
            for split in recipe.test_splits:
                tested: Any = self.counts[f"on {split}"]
                tested["balanced_accuracy"] = BalancedAccuracy(train.num_classes)
                if train.num_classes == 2:
                    tested["auc"] = PairAUC()

    def training_step(self, batch: Batch, draw: int) -> Tensor:
        """Computes the mean loss of one part of a batch.

        Args:
            batch: the part.
            draw: its number, over the whole training.

        Returns:
            The loss, a scalar.
        """
        self.augment.train()
        if self.recipe.canonicalizer_training == "around":  # the network is not asked: it would learn nothing
            loss = self._canonicalizer_loss(batch, draw)
            self._counted("in training")["loss"].update(loss.detach(), len(batch.images))
            return loss
        loss = self._step(batch, "in training", draw)
        return loss if self.recipe.canonicalizer_training == "first" else loss + self._canonicalizer_loss(batch, draw)

    def blank_images(self, count: int) -> Tensor:
        """Makes black images of the size and layout that the network meets in training.

        Args:
            count: how many.

        Returns:
            The images, ``(count, 3, H, W)``.
        """
        kind = next(self.model.parameters()).dtype
        form = torch.channels_last if self.recipe.channels_last else torch.contiguous_format
        return torch.zeros(count, 3, self.image_size, self.image_size, dtype=kind).to(memory_format=form)

    def train_mode(self) -> None:
        """The network in training mode; but for what is frozen in front of its head, or statistics of norms."""
        self.model.train()
        if self.recipe.train_only == "weights":
            for module in self.model.modules():
                if isinstance(module, nn.modules.batchnorm._BatchNorm):
                    module.eval()
        if self.head is not None:
            self.model.eval()
            self.head.train()

    @property
    def remembers(self) -> bool:
        """Whether the head learns from features that are computed once: those of an image are always the same."""
        recipe = self.recipe
        alone = self.head is not None and self.world == 1 and recipe.precision == "32-true"
        return alone and not is_random(recipe.augment)

    def training_batches(self, data: ImageData, start: int = 0) -> "DataLoader[Batch]":
        """Loads the training batches, with features in the place of images where only the head learns.

        Args:
            data: the images.
            start: the step to begin with.

        Returns:
            This process's parts of the batches, from that step to the last.
        """
        if not self.remembers:
            return data.training(start)
        self.augment.train()
        return data.training(start, Remembered(self.model, self.augment, data.train, self.recipe.channels_last))

    def _canonicalizer_loss(self, batch: Batch, draw: int) -> Tensor:
        """What the canonicaliser learns from this batch, moved anew and otherwise as it is."""
        model: Any = self.model
        moved, amounts = moved_at_random(
            model.canonicalizer, batch.images, self.recipe.seed, draw, self.rank, self.world
        )
        loss: Tensor = model.canonicalizer_loss(moved, amounts)
        return loss

    def test_step(self, batch: Batch, draw: int, split: str) -> None:
        """Counts the errors of a batch of a test split.

        Args:
            batch: the batch.
            draw: its number.
            split: the split.
        """
        self.augment.eval()
        self._step(batch, f"on {split}", draw)

    def _step(self, batch: Batch, place: str, draw: int) -> Tensor:
        images, targets = batch
        if self.recipe.task == "segmentation":
            images, targets = self.augment(images, draw, masks=targets)
            logits = self._logits(images)[:, 0]
            loss = F.binary_cross_entropy_with_logits(logits, targets.to(logits.dtype))
            said = (logits > 0).int()  # torchmetrics would take logits that all are in [0, 1] for probabilities
        else:
            if self.head is not None and images.dim() == 2:  # they are remembered features
                logits = said = self.head(images)
            else:
                logits = said = self._logits(self.augment(images, draw))
            loss = F.cross_entropy(logits, targets)
        for name, metric in self._counted(place).items():
            if name == "loss":
                metric.update(loss.detach(), len(images))
            else:
                metric.update(said.detach(), targets)
        return loss

    def _logits(self, images: Tensor) -> Tensor:
        if self.recipe.channels_last:
            images = images.contiguous(memory_format=torch.channels_last)
        logits: Tensor = self.model(images)
        return logits

    def take(self, place: str) -> dict[str, float]:
        """Gives what was counted by all processes since last asked, and counts anew.

        Args:
            place: ``"in training"``, or ``"on <split>"``.

        Returns:
            Losses and errors by name.
        """
        result = {}
        for name, metric in self._counted(place).items():
            if not metric.update_called:
                continue
            value = float(metric.compute())
            if not (name == "auc" and math.isnan(value)):
                result[_spoken(name)] = 1 - value if "accuracy" in name else value
            metric.reset()
        return result

    def unfinished(self) -> dict[str, Tensor]:
        """What was counted in training since last asked, to be saved; :meth:`count_on` goes on from there."""
        state: dict[str, Tensor] = self.counts["in training"].state_dict()
        return state

    def count_on(self, state: dict[str, Tensor]) -> None:
        """Goes on counting from what :meth:`unfinished` gave.

        Args:
            state: what :meth:`unfinished` gave; empty to begin anew.
        """
        if state:
            self.counts["in training"].load_state_dict(state)

    def counted(self, place: str) -> list[str]:
        """Names what :meth:`take` gives, at most.

        Args:
            place: ``"in training"``, or ``"on <split>"``.

        Returns:
            The names.
        """
        return [_spoken(name) for name in self._counted(place)]

    def _counted(self, place: str) -> dict[str, Metric]:
        metrics: Any = self.counts[place]
        return dict(metrics.items())


class BalancedAccuracy(Metric):
    """:func:`equicolor.metrics.balanced_accuracy`, counted batch by batch by all processes."""

    right: Tensor
    total: Tensor

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        for name in ("right", "total"):
            self.add_state(name, torch.zeros(num_classes, dtype=torch.long), dist_reduce_fx="sum")

    def update(self, logits: Tensor, targets: Tensor) -> None:
        """A batch of logits ``(B, classes)`` and targets ``(B,)``."""
        count = len(self.total)
        self.total = self.total + targets.bincount(minlength=count)
        self.right = self.right + targets[logits.argmax(1) == targets].bincount(minlength=count)

    def compute(self) -> Tensor:
        right, total = self.right.cpu(), self.total.cpu()
        return balanced_accuracy(Counts(total, right, right))  # how often each is called does not matter


class PairAUC(BinaryAUROC):
    """:func:`equicolor.metrics.pair_auc` of the second of two classes, of the images of all processes."""

    def update(self, logits: Tensor, targets: Tensor) -> None:
        """A batch of logits ``(B, 2)`` and targets ``(B,)``."""
        super().update((logits[:, 1] - logits[:, 0]).float().sigmoid(), targets)

    def compute(self) -> Tensor:  # type: ignore[override]  # torchmetrics' own overrides a curve's
        return torch.tensor(pair_auc(dim_zero_cat(self.preds), dim_zero_cat(self.target)))


class MeanLoss(Metric):
    """The mean loss of all images. torchmetrics' mean forgets the weights where it is to let NaN through.

    The total is a float64 once there is any, where the device is known to have that. Elsewhere, as on Apple's, it is a
    float32, and what its roundings took away is summed in ``lost``.
    """

    total: Tensor
    lost: Tensor
    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        for name, dtype in (("total", torch.float32), ("lost", torch.float32), ("count", torch.long)):
            self.add_state(name, torch.zeros((), dtype=dtype), dist_reduce_fx="sum")

    def update(self, loss: Tensor, count: int) -> None:
        """A mean loss of ``count`` images."""
        self.count += count
        part = loss * count
        if part.device.type in _HAVE_FLOAT64:
            self.total = self.total + part.double()
            return
        before, self.total = self.total, self.total + part
        taken = self.total - before  # of the part; what is missing of either is exact (Knuth's two-sum)
        self.lost = self.lost + (before - (self.total - taken)) + (part - taken)

    def compute(self) -> Tensor:
        return (self.total.cpu().double() + self.lost.cpu().double()) / self.count.cpu()


def new_model(recipe: Recipe, train: ImageSet, begins: bool = True) -> Model:
    """The recipe's network with the weights of its seed; the random numbers outside go on undisturbed.

    One of another library has its pretrained weights where the run ``begins``, and any otherwise.
    """
    options = dict(recipe.model_options)
    if recipe.task == "classification":
        options.setdefault("num_classes", train.num_classes)
    with torch.random.fork_rng(devices=[]), weights_file(recipe.weights if begins else None) as weights:
        if is_from_elsewhere(recipe.model):
            options |= {"weights": weights} if begins else {"pretrained": False}
        torch.default_generator.manual_seed(recipe.seed)
        model = create_model(recipe.model, group=recipe.group, **options)
        if recipe.canonicalize is None:
            return model
        # Around the network, so that its weights are those that it has without.
        canonicalizer = Canonicalizer(recipe.canonicalize, **recipe.canonicalize_options)
        return CanonicalizedModel(model, canonicalizer)


def prepared_as(recipe: Recipe, train: ImageSet) -> Preparation:
    """What a recipe does to every image, in training and in testing: what the network is saved with."""
    plan = Augment(recipe.augment, recipe.input_size or train.image_size).preparation
    return replace(plan, resize=train.image_size, fit=train.fit)


def new_optimizer(recipe: Recipe, model: nn.Module) -> torch.optim.Optimizer:
    """The recipe's optimiser of a network's parameters. Its rate is set by the loop, before every step."""
    make: Any = OPTIMIZERS[recipe.optimizer]
    try:
        optimizer: torch.optim.Optimizer = make(model.parameters(), lr=recipe.lr, **recipe.optimizer_options)
    except TypeError as error:
        raise ValueError(f"optimizer_options do not fit {recipe.optimizer}: {error}") from None
    return optimizer


def _spoken(name: str) -> str:
    """Errors are reported, accuracies are counted."""
    return name.replace("accuracy", "error")


def _metrics(recipe: Recipe, num_classes: int) -> nn.ModuleDict:
    metrics: dict[str, nn.Module] = {"loss": MeanLoss()}
    if recipe.task == "segmentation":
        metrics |= {"accuracy": BinaryAccuracy(), "iou": BinaryJaccardIndex()}
    else:
        # Counted over all images; the mean over classes would be another number.
        metrics["accuracy"] = MulticlassAccuracy(num_classes, average="micro")
    return nn.ModuleDict(metrics)
