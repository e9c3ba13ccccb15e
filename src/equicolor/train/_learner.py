"""A network in training: what its logits are held against, how its errors are counted, which optimiser moves it."""

import math
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchmetrics import Metric
from torchmetrics.classification import BinaryAccuracy, BinaryAUROC, BinaryJaccardIndex, MulticlassAccuracy
from torchmetrics.utilities.data import dim_zero_cat

from equicolor.data import Augment, Batch, ImageSet
from equicolor.models import CanonicalizedModel, Model, Preparation, create_model
from equicolor.nn import Canonicalizer
from equicolor.train._canonical import moved_at_random
from equicolor.train._recipe import Recipe

_OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": torch.optim.SGD,
}
#: Kinds of devices all of which have float64; Apple's have none, some of Intel's neither.
_HAVE_FLOAT64 = ("cpu", "cuda")


class Learner(nn.Module):
    """A network in training, for classification or foreground segmentation: from batches to losses, and errors counted.

    It knows nothing of optimisers, devices and processes, which are the loop's.

    Args:
        recipe: what to train, and how.
        train: the set it is trained on, for its classes and image size; ``test_splits`` are the recipe's.
        rank: of this process, of ``world``: each draws its own augmentation.
    """

    def __init__(self, recipe: Recipe, train: ImageSet, rank: int = 0, world: int = 1) -> None:
        super().__init__()
        self.recipe, self.rank, self.world = recipe, rank, world
        self.model: nn.Module = new_model(recipe, train)
        if recipe.channels_last:
            self.model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        size = recipe.input_size or train.image_size
        self.augment = Augment(recipe.augment, size, seed=recipe.seed, rank=rank)
        # Of the training and of every test split; the space keeps the names apart from those of modules' methods.
        places = ("in training", *(f"on {split}" for split in recipe.test_splits))
        self.counts = nn.ModuleDict({place: _metrics(recipe, train.num_classes) for place in places})
        if recipe.task == "classification":
            for split in recipe.test_splits:
                tested: Any = self.counts[f"on {split}"]
                tested["balanced_accuracy"] = BalancedAccuracy(train.num_classes)
                if train.num_classes == 2:
                    tested["auc"] = PairAUC()

    def training_step(self, batch: Batch, draw: int) -> Tensor:
        """The mean loss of one part of a batch; ``draw`` numbers the parts of the whole training."""
        self.augment.train()
        if self.recipe.canonicalizer_training == "around":  # the network is not asked: it would learn nothing
            loss = self._canonicalizer_loss(batch, draw)
            self._counted("in training")["loss"].update(loss.detach(), len(batch.images))
            return loss
        loss = self._step(batch, "in training", draw)
        return loss if self.recipe.canonicalizer_training == "first" else loss + self._canonicalizer_loss(batch, draw)

    def _canonicalizer_loss(self, batch: Batch, draw: int) -> Tensor:
        """What the canonicaliser learns from this batch, moved anew and otherwise as it is."""
        model: Any = self.model
        moved, amounts = moved_at_random(
            model.canonicalizer, batch.images, self.recipe.seed, draw, self.rank, self.world
        )
        loss: Tensor = model.canonicalizer_loss(moved, amounts)
        return loss

    def test_step(self, batch: Batch, draw: int, split: str) -> None:
        """Counts a batch of a test split."""
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
            images = self.augment(images, draw)
            logits = said = self._logits(images)
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
        """What was counted ``"in training"`` or ``"on <split>"`` since last asked, by all processes. Counts anew."""
        result = {}
        for name, metric in self._counted(place).items():
            if not metric.update_called:
                continue
            value = float(metric.compute())
            if not (name == "auc" and math.isnan(value)):
                result[_spoken(name)] = 1 - value if "accuracy" in name else value
            metric.reset()
        return result

    def counted(self, place: str) -> list[str]:
        """What :meth:`take` gives there, at most."""
        return [_spoken(name) for name in self._counted(place)]

    def _counted(self, place: str) -> dict[str, Metric]:
        metrics: Any = self.counts[place]
        return dict(metrics.items())


class BalancedAccuracy(Metric):
    """The share of each class that was called so, in the mean over classes: chance is one over their number.

    torchmetrics' macro average counts a class that is predicted and never there as one all of which is wrong.
    """

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
        right, total = self.right.cpu().double(), self.total.cpu().double()
        return (right / total)[total > 0].mean()


class PairAUC(BinaryAUROC):
    """The area under the ROC curve of two classes: how often an image of the second has the higher score.

    NaN where there are images of one class alone, for which torchmetrics says 0.
    """

    def update(self, logits: Tensor, targets: Tensor) -> None:
        """A batch of logits ``(B, 2)`` and targets ``(B,)``."""
        super().update((logits[:, 1] - logits[:, 0]).float().sigmoid(), targets)

    def compute(self) -> Tensor:  # type: ignore[override]  # torchmetrics' own overrides a curve's
        target = dim_zero_cat(self.target)
        return super().compute() if target.min() < target.max() else torch.tensor(math.nan)


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


def new_model(recipe: Recipe, train: ImageSet) -> Model:
    """The recipe's network with the weights of its seed; the random numbers outside go on undisturbed."""
    options = dict(recipe.model_options)
    if recipe.task == "classification":
        options.setdefault("num_classes", train.num_classes)
    with torch.random.fork_rng(devices=[]):
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
    make: Any = _OPTIMIZERS[recipe.optimizer]
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
