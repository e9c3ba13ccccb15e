"""What a segmenter said of the pixels of images, counted for each image: pixels of one image are not independent."""

from dataclasses import dataclass

import torch
from torch import Tensor

from equicolor.metrics._calibration import BINS, bins_of, ece_of
from equicolor.metrics._counts import Counts, Values
from equicolor.metrics._torchmetrics import torchmetrics


@dataclass(frozen=True, eq=False)
class Pixels:
    """The predictions of a segmentation, counted: of N images, background and foreground.

    The probabilities are not kept, so there is no AUC.

    Attributes:
        each: the pixels of each image by class, ``(N, 2)``.
        gaps: the sums of right - confidence in each bin of confidence, ``(N, 16)`` float64.
        own_gaps: the same of the probability of each class against the rest, ``(N, 2, 16)``.
    """

    each: Counts
    gaps: Tensor
    own_gaps: Tensor

    @classmethod
    def of(cls, probabilities: Tensor, labels: Tensor) -> "Pixels":
        """Counts the pixels of images.

        Args:
            probabilities: the probabilities of both classes for every pixel, ``(N, P, 2)``.
            labels: the classes, ``(N, P)``.

        Returns:
            The counts.
        """
        metrics = torchmetrics()
        confidence, called = probabilities.max(2)
        found = metrics.multiclass_stat_scores(called, labels, 2, average="none", multidim_average="samplewise")
        right, wrongly, _, _, true = found.unbind(-1)
        gaps = _summed(confidence, called == labels)
        own = [_summed(probabilities[..., label], labels == label) for label in range(2)]
        return cls(Counts(true, right + wrongly, right), gaps, torch.stack(own, 1))

    @classmethod
    def joined(cls, parts: "list[Pixels]") -> "Pixels":
        """Puts the images of several parts together.

        Args:
            parts: the parts.

        Returns:
            All images.
        """
        counts = Counts(*(torch.cat(those) for those in zip(*(part.each for part in parts), strict=True)))
        return cls(counts, torch.cat([p.gaps for p in parts]), torch.cat([p.own_gaps for p in parts]))

    def __len__(self) -> int:
        return len(self.gaps)

    def __getitem__(self, rows: Tensor) -> "Pixels":
        return Pixels(Counts(*(part[rows] for part in self.each)), self.gaps[rows], self.own_gaps[rows])

    @property
    def counts(self) -> Counts:
        """The counts of each class, over the pixels of all images."""
        return Counts(*(part.sum(0) for part in self.each))

    @property
    def confusion(self) -> Tensor:
        """How many pixels of class i (row) were called j (column), ``(2, 2)`` int64."""
        true, _, right = self.counts
        wrong = true - right
        return torch.stack([torch.stack([right[0], wrong[0]]), torch.stack([wrong[1], right[1]])])

    @property
    def count(self) -> int:
        """The number of pixels."""
        return int(self.counts.true.sum())

    @property
    def ece(self) -> float:
        """The expected calibration error of all pixels."""
        return float(ece_of(self.gaps.sum(0), torch.tensor(self.count)))

    def values(self, positive: int | None = None) -> Values:
        """Computes the metrics over all pixels.

        Args:
            positive: the class that the metrics are of; by default they are means over classes.

        Returns:
            The metrics.
        """
        every = self.resampled(torch.ones(1, len(self)), positive)
        return Values(*({name: value[0] for name, value in part.items()} for part in every))

    def resampled(self, weights: Tensor, positive: int | None = None) -> Values:
        """Computes the metrics of many resamples.

        Args:
            weights: how often each image is in each of them, ``(R, N)`` float32.
            positive: as for :meth:`values`.

        Returns:
            The metrics of each.
        """
        weights = weights.double()
        counts = Counts(*(weights @ part.double() for part in self.each))
        count = counts.true.sum(1)
        own = torch.einsum("rn,nkb->rkb", weights, self.own_gaps)
        there = 0 * counts.right / counts.true  # 0, or NaN
        further = {"ece": ece_of(own, count[:, None]) + there}
        return Values.of(counts, ece_of(weights @ self.gaps, count), further, positive)


def _summed(confidence: Tensor, truth: Tensor) -> Tensor:
    """Of each image, ``(N, P)``, the sums of truth - confidence in each bin, ``(N, 16)``."""
    gaps = torch.zeros(len(confidence), BINS + 1, dtype=torch.float64)
    return gaps.scatter_add_(1, bins_of(confidence), truth.double() - confidence.double())
