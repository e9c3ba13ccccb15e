"""What ``load`` returns: labelled images, fetched by whole batches, from memory or as a stream."""

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from equicolor._tools.images import CorruptImageError, Fit
from equicolor.data._fingerprint import Fingerprint, listed, sha256
from equicolor.data._random import permutation
from equicolor.data._sources import Encoded, Held, Source, hold, numbers, spread
from equicolor.data.shift import Shift
from equicolor.models import Task


class Batch(NamedTuple):
    """RGB images in [0, 1], ``(B, 3, S, S)`` float32; labels ``(B,)`` int64, or masks ``(B, S, S)`` int64.

    Images are uint8 in [0, 255] if their set was loaded with ``as_bytes=True``.
    """

    images: Tensor
    targets: Tensor


@dataclass(frozen=True, eq=False, repr=False)
class ImageSet(Dataset[Batch]):
    """Images and their labels, under a colour shift or none. Made by :func:`equicolor.data.load`.

    ``len`` is the number of images. Indexing with an integer gives one sample, with a slice or a list a :class:`Batch`;
    a ``DataLoader`` fetches whole batches too (``loader`` makes one).

    Attributes:
        name: of the data set, and ``split``: of it.
        labels: the class of each image, ``(N,)`` int64.
        classes: their names, in the order of the labels.
        task: ``"classification"``: targets are labels; ``"segmentation"``: targets are masks of foreground, 0 or 1.
        grey: the images have no colour of their own.
        fit: how those of other shapes were fitted into the square.
        shift: the colour shift applied to every batch.
        seed: what its draws depend on, beside the image's row in the original files.
        as_bytes: batches hold images as they are stored, uint8.
        rows: where in ``source`` each image is, ``(N,)``.
        original_rows: where in the original files each image is, ``(N,)``.
    """

    name: str
    split: str
    source: Source
    rows: Tensor
    original_rows: Tensor
    labels: Tensor
    classes: tuple[str, ...]
    task: Task = "classification"
    grey: bool = False
    fit: Fit = "crop"
    shift: Shift | None = None
    seed: int = 0
    as_bytes: bool = False
    draws: str = ""  # the original files whose rows the draws are numbered by
    masks: Source | None = None
    origin: tuple[Encoded, ...] = ()  # where images and masks were decoded from, if they were

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        size = f"{self.image_size}×{self.image_size}"
        under = f", under {self.shift}" if self.shift else ""
        where = "in memory" if self.held else "streaming"
        return f"<{self.name} {self.split}: {len(self):,} images of {size}, {self.num_classes} classes{under}, {where}>"

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    @property
    def image_size(self) -> int:
        """Height and width of the images."""
        return self.source.image_size

    @property
    def held(self) -> bool:
        """Whether the images are in memory."""
        return isinstance(self.source, Held)

    @property
    def images(self) -> Tensor:
        """All images as they are before any shift, uint8 ``(N, 3, S, S)``. Sets that stream have no such tensor."""
        if not isinstance(self.source, Held):
            raise AttributeError(
                f"{self.name} streams: its {len(self):,} images are not in memory. Iterate over batches or a loader, "
                "or load it with in_memory=True."
            )
        whole = len(self.rows) == len(self.source) and torch.equal(self.rows, torch.arange(len(self.rows)))
        images = self.source.images if whole else self.source.images[self.rows]
        return images.expand(-1, 3, -1, -1)

    @property
    def skipped_files(self) -> list[str]:
        """What could not be read so far and was left out (with ``on_error="skip"``), by workers too."""
        return [source.name(row) for source in self.origin for row in source.unreadable_rows()]

    @property
    def skipped(self) -> int:
        """How many images those are."""
        return sum(int(source.unreadable.sum()) for source in self.origin)

    def fingerprint(self) -> Fingerprint:
        """Which images these are, to be kept and compared: counts, classes and digests of names, sizes and labels.

        Files are not read, only asked for their sizes; of sets that are no image files, a few images are.
        """
        rows = self.original_rows
        if self.origin:
            names = [source.names(rows) for source in self.origin]
            contents = [source.contents(rows) for source in self.origin]
        else:
            sources = [self.source] if self.masks is None else [self.source, self.masks]
            names = [numbers(rows)]
            contents = [source.read(spread(self.rows))[0].numpy().tobytes() for source in sources]
        labels = sha256([numbers(self.labels)])
        return Fingerprint(len(self), self.classes, self.image_size, labels, sha256(names), sha256(contents))

    # ---------------------------------------------------------------------------------------------- fetching

    def __getitem__(self, index: Any) -> Batch:
        if isinstance(index, slice):
            return self.fetch(torch.arange(len(self))[index])
        if hasattr(index, "__len__") and not (isinstance(index, Tensor) and index.dim() == 0):
            return self.fetch(index)
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"{self.name} {self.split} has {len(self):,} images, index {place} is out of range")
        batch = self.fetch([place % len(self)])
        return Batch(batch.images[0], batch.targets[0])

    def __getitems__(self, indices: Sequence[int]) -> list[Batch]:
        """Samples for a ``DataLoader`` to collate as it likes; :meth:`loader` spares that."""
        batch = self.fetch(indices)
        return [Batch(image, target) for image, target in zip(*batch, strict=True)]

    def fetch(self, indices: Sequence[int] | Tensor) -> Batch:
        """Many samples at once, in the order asked for; those that cannot be read are left out, if so asked."""
        wanted = self._places(indices)
        images, kept = self.source.read(self.rows[wanted])
        if len(wanted) and not len(kept):
            raise CorruptImageError(
                f"none of the {len(wanted)} images of a batch of {self.name} {self.split} can be read"
            )
        wanted = wanted[kept]
        images = images.expand(-1, 3, -1, -1) if self.as_bytes else images.float().div_(255).expand(-1, 3, -1, -1)
        if self.shift is not None:
            images = self.shift.apply(images, self.original_rows[wanted], self.seed, self.draws, self.grey)
        if self.masks is None:
            return Batch(images, self.labels[wanted])
        masks, readable = self.masks.read(self.rows[wanted])
        return Batch(images[readable], masks[:, 0].long())

    def batches(
        self, batch_size: int, shuffle: bool = False, seed: int = 0, epoch: int = 0, drop_last: bool = False
    ) -> Iterator[Batch]:
        """All samples in batches, without workers. A shuffled order is a function of ``seed`` and ``epoch``."""
        if batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {batch_size}")
        order = permutation(len(self), seed, f"epoch {epoch}") if shuffle else torch.arange(len(self))
        for start in range(0, len(order), batch_size):
            indices = order[start : start + batch_size]
            if len(indices) == batch_size or not drop_last:
                yield self.fetch(indices)

    def loader(self, batch_size: int, **arguments: Any) -> "DataLoader[Batch]":
        """A ``DataLoader`` of batches; ``arguments`` are its own (``shuffle``, ``num_workers``, ``pin_memory`` …)."""
        return DataLoader(WholeBatches(self), batch_size, collate_fn=collate, **arguments)

    # ---------------------------------------------------------------------------------------------- derived sets

    def with_classes(self, classes: Sequence[str]) -> "ImageSet":
        """The same images, their classes numbered as in ``classes``: matched by name, never by position.

        The set may have fewer of them, in any order.

        Raises:
            ValueError: there are images of other classes, which are named; or two of one name.
        """
        names = tuple(classes)
        if names == self.classes:
            return self
        for those in (names, self.classes):
            twice = {repr(name) for name in those if those.count(name) > 1}
            if twice:
                raise ValueError(f"classes are matched by name, and several are called {', '.join(sorted(twice))}")
        there = [self.classes[label] for label in torch.unique(self.labels).tolist()]
        strangers = [repr(name) for name in there if name not in names]
        if strangers:
            raise ValueError(
                f"{self.name} {self.split} has images of {listed(strangers)}, which is none of the {len(names):,} "
                f"classes expected: {listed([repr(name) for name in names])}. Rename or leave out what is another class"
            )
        numbers = torch.tensor([names.index(name) if name in names else -1 for name in self.classes], dtype=torch.long)
        return replace(self, labels=numbers[self.labels], classes=names)

    def with_shift(self, shift: str | Shift | None) -> "ImageSet":
        """The same images under another shift (or none), for evaluation curves. Pixels are shared, not copied."""
        return replace(self, shift=None if shift is None else Shift.parse(shift), as_bytes=False)

    def subset(self, indices: Sequence[int] | Tensor) -> "ImageSet":
        """These samples alone, each with the colours it has here."""
        return self._select(self._places(indices))

    def sample(self, count: int, seed: int = 0) -> "ImageSet":
        """``count`` samples drawn without replacement. A smaller sample of the same seed is part of a larger one."""
        if not 0 <= count <= len(self):
            raise ValueError(f"{self.name} {self.split} has {len(self):,} images, cannot sample {count:,}")
        return self.subset(permutation(len(self), seed, "sample")[:count])

    def in_memory(self) -> "ImageSet":
        """The same set with all its images in one tensor; those that cannot be read are left out, if so asked."""
        source, kept = hold(self.source, self.rows)
        here = replace(self._select(kept), source=source, rows=torch.arange(len(kept)))
        if self.masks is None:
            return here
        masks, readable = hold(self.masks, self.rows[kept])
        here = here._select(readable)
        return replace(here, masks=masks, source=Held(source.images[here.rows]), rows=torch.arange(len(here)))

    def _places(self, indices: Sequence[int] | Tensor) -> Tensor:
        """Indices as a tensor of whole numbers; a mask of one boolean for each image selects where it is true."""
        places = torch.as_tensor(indices)
        if places.dtype == torch.bool:
            if places.shape != (len(self),):
                raise IndexError(f"a mask must have one entry for each of {len(self):,} images, got {places.numel():,}")
            return places.nonzero().flatten()
        if places.is_floating_point() and len(places):
            raise TypeError(f"images are chosen by whole numbers or by a mask, got {places.dtype}")
        return places.long()

    def _select(self, indices: Tensor) -> "ImageSet":
        return replace(
            self,
            rows=self.rows[indices],
            original_rows=self.original_rows[indices],
            labels=self.labels[indices],
        )


def collate(samples: Sequence[Batch] | Batch) -> Batch:
    """Samples stacked to a batch, for a ``DataLoader``; what is a batch already stays as it is."""
    if isinstance(samples, Batch):
        return samples
    return Batch(*(torch.stack(part) for part in zip(*samples, strict=True)))


class WholeBatches(Dataset[Batch]):
    """An image set whose batches are fetched at once and need no collating."""

    def __init__(self, images: ImageSet) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Batch:
        return self.images[index]

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        return self.images.fetch(indices)
