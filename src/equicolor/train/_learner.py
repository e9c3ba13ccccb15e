"""The Lightning module: a network, what its logits are held against, and how its errors are counted."""

from typing import Any

import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule
from torch import Tensor, nn
from torchmetrics import Metric
from torchmetrics.classification import BinaryAccuracy, BinaryJaccardIndex, MulticlassAccuracy

from equicolor.data import Augment, Batch, ImageSet
from equicolor.models import Model, create_model
from equicolor.train._recipe import Recipe

_OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": torch.optim.SGD,
}
#: Kinds of devices all of which have float64; Apple's have none, some of Intel's neither.
_HAVE_FLOAT64 = ("cpu", "cuda")


class Learner(LightningModule):
    """A network in training, for classification or foreground segmentation.

    Works in a ``lightning.Trainer`` of one's own, with :class:`ImageData`, and drives :func:`equicolor.train.fit`.

    Args:
        recipe: what to train, and how.
        train: the set it is trained on, for its classes and image size; ``test_splits`` are the recipe's.
        steps: of the whole training, for the schedule.
        rank: of this process: each draws its own augmentation.
    """

    def __init__(self, recipe: Recipe, train: ImageSet, steps: int, rank: int = 0) -> None:
        super().__init__()
        self.recipe, self.steps = recipe, steps
        self.model: nn.Module = new_model(recipe, train)
        if recipe.channels_last:
            self.model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        size = recipe.input_size or train.image_size
        self.augment = Augment(recipe.augment, size, seed=recipe.seed, rank=rank)
        # Of the training and of every test split; the space keeps the names apart from those of modules' methods.
        places = ("in training", *(f"on {split}" for split in recipe.test_splits))
        self.counts = nn.ModuleDict({place: _metrics(recipe, train.num_classes) for place in places})

    def forward(self, images: Tensor) -> Tensor:
        """Logits."""
        if self.recipe.channels_last:
            images = images.contiguous(memory_format=torch.channels_last)
        logits: Tensor = self.model(images)
        return logits

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """The mean loss of one part of a batch; ``batch_idx`` counts the parts of the whole training."""
        self.augment.train()
        return self._step(batch, "in training", draw=batch_idx)

    def validation_step(self, batch: Batch, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Counts a batch of a test split."""
        self.augment.eval()
        self._step(batch, f"on {self.recipe.test_splits[dataloader_idx]}", draw=batch_idx)

    def _step(self, batch: Batch, place: str, draw: int) -> Tensor:
        images, targets = batch
        if self.recipe.task == "segmentation":
            images, targets = self.augment(images, draw, masks=targets)
            logits = self(images)[:, 0]
            loss = F.binary_cross_entropy_with_logits(logits, targets.to(logits.dtype))
        else:
            images = self.augment(images, draw)
            logits = self(images)
            loss = F.cross_entropy(logits, targets)
        counts = self.counts[place]
        assert isinstance(counts, nn.ModuleDict)
        for name, metric in counts.items():
            assert isinstance(metric, Metric)
            if name == "loss":
                metric.update(loss.detach(), len(images))
            else:
                metric.update(logits.detach(), targets)
        return loss

    def take(self, place: str) -> dict[str, float]:
        """What was counted ``"in training"`` or ``"on <split>"`` since last asked, by all processes. Counts anew."""
        counts = self.counts[place]
        assert isinstance(counts, nn.ModuleDict)
        result = {}
        for name, metric in counts.items():
            assert isinstance(metric, Metric)
            value = float(metric.compute())
            result["error" if name == "accuracy" else name] = 1 - value if name == "accuracy" else value
            metric.reset()
        return result

    def on_validation_epoch_end(self) -> None:
        """Logs the test splits, in a ``lightning.Trainer``."""
        for split in self.recipe.test_splits:
            self.log_dict({f"{split} {name}": value for name, value in self.take(f"on {split}").items()})

    def new_optimizer(self) -> torch.optim.Optimizer:
        """The optimiser of the recipe, on the network's parameters."""
        make: Any = _OPTIMIZERS[self.recipe.optimizer]
        try:
            optimizer: torch.optim.Optimizer = make(
                self.model.parameters(), lr=self.recipe.lr, **self.recipe.optimizer_options
            )
        except TypeError as error:
            raise ValueError(f"optimizer_options do not fit {self.recipe.optimizer}: {error}") from None
        return optimizer

    def configure_optimizers(self) -> Any:
        """The same with its schedule, for a ``lightning.Trainer``."""
        optimizer = self.new_optimizer()

        def factor(step: int) -> float:
            return self.recipe.rate(step, self.steps) / self.recipe.lr

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


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
        return create_model(recipe.model, group=recipe.group, **options)


def _metrics(recipe: Recipe, num_classes: int) -> nn.ModuleDict:
    metrics: dict[str, nn.Module] = {"loss": MeanLoss()}
    if recipe.task == "segmentation":
        metrics |= {"accuracy": BinaryAccuracy(), "iou": BinaryJaccardIndex()}
    else:
        # Counted over all images; the mean over classes would be another number.
        metrics["accuracy"] = MulticlassAccuracy(num_classes, average="micro")
    return nn.ModuleDict(metrics)
