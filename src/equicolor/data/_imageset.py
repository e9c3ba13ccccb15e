"""What ``load`` returns: labelled images, fetched by whole batches, from memory or as a stream."""

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from equicolor._tools.images import CorruptImageError, Fit
from equicolor._tools.renamed import renamed
from equicolor._tools.words import named
from equicolor.data._column import Column
from equicolor.data._fingerprint import Fingerprint, sha256
from equicolor.data._random import permutation
from equicolor.data._shards import Shards
from equicolor.data._sources import Encoded, Held, Source, hold, numbers, spread
from equicolor.data._stream import stream_order
from equicolor.data.shift import Shift
from equicolor.models import Task


class Batch(NamedTuple):
    """A batch of images and their labels, or masks.

    Images are uint8 in [0, 255] if their set was loaded with ``as_bytes=True``.

    Attributes:
        images: RGB in [0, 1], ``(B, 3, S, S)`` float32; uint8 in [0, 255] if the set was loaded with ``as_bytes=True``.
        targets: labels ``(B,)``, or masks ``(B, S, S)``; int64.
    """

    images: Tensor
    targets: Tensor


@renamed(grey="gray")
@dataclass(frozen=True, eq=False, repr=False)
class ImageSet(Dataset[Batch]):
    """Images and their labels, under a colour shift or none; made by :func:`equicolor.data.load`.

    ``len`` is the number of images. Indexing with an integer gives one sample, with a slice or a list a :class:`Batch`;
    a ``DataLoader`` fetches whole batches too (``loader`` makes one).

    Attributes:
        name: the name of the data set.
        split: the name of its split.
        source: where images are read from.
        rows: where in ``source`` each image is, ``(N,)``.
        original_rows: where in the original files each image is, ``(N,)``.
        labels: the class of each image, ``(N,)`` int64.
        classes: their names, in the order of the labels.
        task: ``"classification"``, targets are labels; or ``"segmentation"``, targets are masks of foreground, 0 or 1.
        gray: whether the images have no colour of their own.
        fit: how those of other shapes were fitted into the square.
        shift: the colour shift applied to every batch.
        seed: what its draws depend on, beside the image's row in the original files.
        as_bytes: whether batches hold images as they are stored, uint8.
        draws: the original files whose rows the draws are numbered by.
        masks: where masks are read from, for segmentation.
        origin: where images and masks were decoded from, if they were.
        domains: where each image is from (a lab, a camera, a stain), where that is known.
        clusters: which images belong together (a slide, a patient), where that is known.
    """

    name: str
    split: str
    source: Source
    rows: Tensor
    original_rows: Tensor
    labels: Tensor
    classes: tuple[str, ...]
    task: Task = "classification"
    gray: bool = False
    fit: Fit = "crop"
    shift: Shift | None = None
    seed: int = 0
    as_bytes: bool = False
    draws: str = ""  # the original files whose rows the draws are numbered by
    masks: Source | None = None
    origin: tuple[Encoded, ...] = ()  # where images and masks were decoded from, if they were
    domains: Column | None = None
    clusters: Column | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        size = f"{self.image_size}×{self.image_size}"
        under = f", under {self.shift}" if self.shift else ""
        where = "in memory" if self.held else "streaming"
        return f"<{self.name} {self.split}: {len(self):,} images of {size}, {self.num_classes} classes{under}, {where}>"

    @property
    def num_classes(self) -> int:
        """The number of classes."""
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
        """All images as they are before any shift, uint8 ``(N, 3, S, S)``; sets that stream have no such tensor."""
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
        """The files that could not be read so far and were left out (with ``on_error="skip"``), by workers too."""
        return [source.name(row) for source in self.origin for row in source.unreadable.nonzero().flatten().tolist()]

    @property
    def skipped(self) -> int:
        """The number of images that were left out."""
        return sum(int(source.unreadable.sum()) for source in self.origin)

    def fingerprint(self) -> Fingerprint:
        """Makes a fingerprint of the images: counts, classes and digests of names, sizes and labels.

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
        """Reads many samples at once.

        Args:
            indices: which samples, in the order wanted.

        Returns:
            The batch; images that cannot be read are left out, if the set was loaded so.

        Raises:
            CorruptImageError: an image, or with ``on_error="skip"`` none of them, can be read.
        """
        wanted = self._places(indices)
        images, kept = self.source.read(self.rows[wanted])
        if len(wanted) and not len(kept):
            raise CorruptImageError(
                f"none of the {len(wanted)} images of a batch of {self.name} {self.split} can be read"
            )
        wanted = wanted[kept]
        images = images.expand(-1, 3, -1, -1) if self.as_bytes else images.float().div_(255).expand(-1, 3, -1, -1)
        if self.shift is not None:
            images = self.shift.apply(images, self.original_rows[wanted], self.seed, self.draws, self.gray)
        if self.masks is None:
            return Batch(images, self.labels[wanted])
        masks, readable = self.masks.read(self.rows[wanted])
        return Batch(images[readable], masks[:, 0].long())

    def batches(
        self, batch_size: int, shuffle: bool = False, seed: int = 0, epoch: int = 0, drop_last: bool = False
    ) -> Iterator[Batch]:
        """Goes through all samples in batches, without workers.

        Args:
            batch_size: samples of a batch.
            shuffle: whether in a shuffled order, which is a function of ``seed`` and ``epoch``.
            seed: what the order depends on.
            epoch: what the order depends on, too.
            drop_last: leave out the last batch where it is smaller.

        Returns:
            The batches, one after the other.

        Raises:
            ValueError: ``batch_size`` is not positive.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {batch_size}")
        order = self.order(batch_size, seed, epoch) if shuffle else torch.arange(len(self))
        for start in range(0, len(order), batch_size):
            indices = order[start : start + batch_size]
            if len(indices) == batch_size or not drop_last:
                yield self.fetch(indices)

    def order(self, batch_size: int, seed: int, epoch: int) -> Tensor:
        """A shuffled order of all samples, from which batches are cut: a function of ``seed`` and ``epoch`` alone.

        Shards, of which a part is read at a time, have one that reads few parts at a time.

        Args:
            batch_size: samples of a batch.
            seed: what the order depends on.
            epoch: what the order depends on, too.

        Returns:
            The indices, ``(N,)``.
        """
        if isinstance(self.source, Shards):
            return stream_order(self.source.group_of(self.rows), batch_size, seed, epoch)
        return permutation(len(self), seed, f"epoch {epoch}")

    def loader(self, batch_size: int, **arguments: Any) -> "DataLoader[Batch]":
        """Makes a ``DataLoader`` that fetches whole batches.

        Args:
            batch_size: samples of a batch.
            **arguments: others of ``DataLoader``: ``shuffle``, ``num_workers``, ``pin_memory`` …

        Returns:
            The loader.
        """
        return DataLoader(WholeBatches(self), batch_size, collate_fn=collate, **arguments)

    # ---------------------------------------------------------------------------------------------- derived sets

    def with_classes(self, classes: Sequence[str]) -> "ImageSet":
        """The same images, with their classes numbered as in a given list; matched by name, never by position.

        Args:
            classes: the names, in their order; the set may have fewer of them.

        Returns:
            The set.

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
                f"{self.name} {self.split} has images of {named(strangers)}, which is none of the {len(names):,} "
                f"classes expected: {named([repr(name) for name in names])}. Rename or leave out what is another class"
            )
        numbers = torch.tensor([names.index(name) if name in names else -1 for name in self.classes], dtype=torch.long)
        return replace(self, labels=numbers[self.labels], classes=names)

    def with_shift(self, shift: str | Shift | None) -> "ImageSet":
        """The same images under another shift, or none; pixels are shared, not copied.

        Args:
            shift: the shift, or its name.

        Returns:
            The set.
        """
        return replace(self, shift=None if shift is None else Shift.parse(shift), as_bytes=False)

    def subset(self, indices: Sequence[int] | Tensor) -> "ImageSet":
        """Some of the samples, each with the colours it has here.

        Args:
            indices: which samples.

        Returns:
            The set.
        """
        return self._select(self._places(indices))

    def sample(self, count: int, seed: int = 0) -> "ImageSet":
        """Draws samples without replacement; a smaller sample of the same seed is part of a larger one.

        Args:
            count: how many.
            seed: what the draw depends on.

        Returns:
            The set.

        Raises:
            ValueError: there are not so many.
        """
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
            domains=None if self.domains is None else self.domains[indices],
            clusters=None if self.clusters is None else self.clusters[indices],
        )


def collate(samples: Sequence[Batch] | Batch) -> Batch:
    """Stacks samples to a batch, for a ``DataLoader``.

    Args:
        samples: the samples; a batch stays as it is.

    Returns:
        The batch.
    """
    if isinstance(samples, Batch):
        return samples
    return Batch(*(torch.stack(part) for part in zip(*samples, strict=True)))


class WholeBatches(Dataset[Batch]):
    """An image set whose batches are fetched at once and need no collating.

    Args:
        images: the image set.
    """

    def __init__(self, images: ImageSet) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Batch:
        return self.images[index]

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        return self.images.fetch(indices)
