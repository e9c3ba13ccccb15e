"""What a classifier said of images, and what is true of them."""

from dataclasses import dataclass
from functools import cached_property, partial

import torch
from torch import Tensor

from equicolor.metrics._auc import ResampledAUC, pair_auc
from equicolor.metrics._calibration import BINS, ece_of, gaps_of
from equicolor.metrics._counts import Counts, Values
from equicolor.metrics._torchmetrics import torchmetrics

#: Of more predictions times classes, areas and calibration of each class against the rest get no interval: it would
#: take longer than the predictions did.
_MOST = 1_000_000


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of a classifier for N images and K classes.

    Attributes:
        probabilities: ``(N, K)`` float32.
        labels: the true classes, ``(N,)`` int64.
    """

    probabilities: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: Tensor) -> "Predictions":
        return Predictions(self.probabilities[rows], self.labels[rows])

    @property
    def num_classes(self) -> int:
        """The number of classes."""
        return self.probabilities.shape[1]

    @cached_property
    def confusion(self) -> Tensor:
        """How often class i (row) was called j (column), ``(K, K)`` int64."""
        metrics = torchmetrics()
        found: Tensor = metrics.multiclass_confusion_matrix(self.called, self.labels, self.num_classes)
        return found

    @cached_property
    def called(self) -> Tensor:
        """The likeliest class of each image, ``(N,)``."""
        return self.probabilities.argmax(1)

    @property
    def counts(self) -> Counts:
        """The counts of each class, over all images."""
        return Counts(self.confusion.sum(1), self.confusion.sum(0), self.confusion.diagonal())

    @property
    def count(self) -> int:
        """The number of predictions."""
        return len(self)

    @property
    def ece(self) -> float:
        """The expected calibration error: how far the confidence is from the share that is right, over 15 bins."""
        metrics = torchmetrics()
        said = self.probabilities.double()
        return float(metrics.multiclass_calibration_error(said, self.labels, self.num_classes, n_bins=BINS, norm="l1"))

    def values(self, positive: int | None = None) -> Values:
        """Computes the metrics; AUC and ECE of each class are those of its probability, against the rest.

        Args:
            positive: the class that the metrics are of; by default they are means over classes.

        Returns:
            The metrics.
        """
        metrics = torchmetrics()
        auc, ece = [], []
        for label in range(self.num_classes):
            said, truth = self.probabilities[:, label], self.labels == label
            auc.append(pair_auc(said, truth))
            there = bool(truth.any())
            own = metrics.binary_calibration_error(said.double(), truth.long(), n_bins=BINS, norm="l1")
            ece.append(float(own) if there else torch.nan)
        further = {"auc": torch.tensor(auc, dtype=torch.float64), "ece": torch.tensor(ece, dtype=torch.float64)}
        values = Values.of(self.counts, torch.tensor(self.ece), further, positive)
        return Values(*({name: each for name, each in part.items() if name != "iou"} for part in values))

    def resampled(self, weights: Tensor, positive: int | None = None) -> Values:
        """Computes the metrics of many resamples.

        Args:
            weights: how often each image is in each of them, ``(R, N)`` float32.
            positive: as for :meth:`values`.

        Returns:
            The metrics of each.
        """
        right = self._right
        places, drawn = (self.labels, self.called, self.labels[right]), weights.index_select(1, right)
        empty = torch.zeros(len(weights), self.num_classes)
        counts = Counts(*map(partial(empty.index_add, 1), places, (weights, weights, drawn)))
        ece = ece_of((weights @ self._gaps).view(len(weights), -1, BINS + 1), counts.true.sum(1, keepdim=True).double())
        further = {}
        if self._each:
            there = 0 * counts.right / counts.true  # 0, or NaN
            further["auc"] = torch.stack([area(weights) for area in self._areas], 1)
            further["ece"] = ece[:, 1:] + there
        return Values.of(counts, ece[:, 0], further, positive)

    @cached_property
    def _right(self) -> Tensor:
        """The rows where what was said is true."""
        return (self.called == self.labels).nonzero().flatten()

    @property
    def _each(self) -> bool:
        """Whether areas and calibration of each class are resampled."""
        return len(self) * self.num_classes <= _MOST

    @cached_property
    def _gaps(self) -> Tensor:
        """What each image adds to the bins of confidence, and then to those of each class."""
        gaps = [gaps_of(self.probabilities.amax(1), self.called == self.labels)]
        if self._each:
            gaps += [gaps_of(said, self.labels == label) for label, said in enumerate(self.probabilities.unbind(1))]
        return torch.cat(gaps, 1)

    @cached_property
    def _areas(self) -> list[ResampledAUC]:
        return [ResampledAUC(said, self.labels == label) for label, said in enumerate(self.probabilities.unbind(1))]
