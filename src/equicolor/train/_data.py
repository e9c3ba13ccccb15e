"""The images of a run: batches of a recipe's sets, addressed by the step they belong to.

Which images step s sees is a function of (seed, s): the order of an epoch is a hash of its number. So a run is resumed
by starting the sampler at s. There is no state of a loader to save, none that workers could have run ahead of, and a
change of the number of workers changes nothing.
"""

from collections.abc import Iterator

import torch
from torch.utils.data import DataLoader, Sampler

from equicolor.data import MEMORY_LIMIT, Batch, Fingerprint, ImageSet, WholeBatches, collate, load, permutation
from equicolor.train._errors import TrainingError
from equicolor.train._recipe import Recipe


class StepSampler(Sampler[list[int]]):
    """The indices of every part of every step, from ``start`` on: what one process sees of a whole training.

    A batch is shuffled as :meth:`equicolor.data.ImageSet.batches` shuffles, and divided among ``accumulate`` parts and
    ``world`` processes.

    >>> whole = list(StepSampler(count=10, batch_size=4, steps=6, seed=0))
    >>> list(StepSampler(count=10, batch_size=4, steps=6, seed=0, start=3)) == whole[3:]
    True
    """

    def __init__(
        self,
        count: int,
        batch_size: int,
        steps: int,
        seed: int,
        start: int = 0,
        accumulate: int = 1,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        if batch_size % (accumulate * world):
            raise ValueError(
                f"a batch of {batch_size} images cannot be divided among {world} processes that accumulate over "
                f"{accumulate} parts: choose a batch_size that is a multiple of {accumulate * world}"
            )
        if count < batch_size:
            raise ValueError(f"a batch of {batch_size} images cannot be drawn from {count:,}: choose a smaller one")
        self.count, self.batch_size, self.steps, self.seed, self.start = count, batch_size, steps, seed, start
        self.accumulate, self.rank, self.world = accumulate, rank, world

    @property
    def steps_per_epoch(self) -> int:
        return self.count // self.batch_size

    def __len__(self) -> int:
        return (self.steps - self.start) * self.accumulate

    def __iter__(self) -> Iterator[list[int]]:
        order, shuffled = torch.empty(0, dtype=torch.long), -1
        for step in range(self.start, self.steps):
            epoch, place = divmod(step, self.steps_per_epoch)
            if epoch != shuffled:
                order, shuffled = permutation(self.count, self.seed, f"epoch {epoch}"), epoch
            batch = order[place * self.batch_size : (place + 1) * self.batch_size]
            for part in batch.reshape(self.accumulate, self.world, -1)[:, self.rank]:
                yield part.tolist()


class ImageData:
    """The sets of a recipe, loaded. One pass over :meth:`training` is the whole training, all its epochs.

    Args:
        recipe: which sets.
        rank: of this process, of ``world``: each has its share of every batch.

    Attributes:
        train, tests: the sets.
        steps, steps_per_epoch: how long training is.
    """

    def __init__(self, recipe: Recipe, rank: int = 0, world: int = 1) -> None:
        self.recipe, self.rank, self.world = recipe, rank, world
        self.train = self._load(recipe.train_split, recipe.train_size)
        classes = self.train.classes
        self.tests = {s: self._load(s, recipe.test_size).with_classes(classes) for s in recipe.test_splits}
        if len(self.train) < recipe.batch_size:
            raise TrainingError(
                f"{recipe.data} {recipe.train_split} has {len(self.train):,} images, fewer than a batch of "
                f"{recipe.batch_size}: set a smaller batch_size"
            )

    def _load(self, split: str, size: int | None) -> ImageSet:
        """A split, or a sample of it; of a split that is rendered or decoded, no more than the sample is."""
        arguments = {"task": self.recipe.task, **self.recipe.data_options}
        if size is None:
            return load(self.recipe.data, split=split, **arguments)
        images = load(self.recipe.data, split=split, **{**arguments, "in_memory": False}).sample(size)
        fits = size * 3 * images.image_size**2 <= MEMORY_LIMIT
        return images.in_memory() if arguments.get("in_memory", fits) else images

    def fingerprints(self) -> dict[str, dict[str, Fingerprint]]:
        """Which images these are: ``{"training": {split: …}, "testing": {split: …}}``."""
        return {
            "training": {self.recipe.train_split: self.train.fingerprint()},
            "testing": {split: images.fingerprint() for split, images in self.tests.items()},
        }

    @property
    def steps_per_epoch(self) -> int:
        return len(self.train) // self.recipe.batch_size

    @property
    def steps(self) -> int:
        if self.recipe.iterations is not None:
            return self.recipe.iterations
        return (self.recipe.epochs or 0) * self.steps_per_epoch

    def training(self, start: int = 0) -> "DataLoader[Batch]":
        """The parts of batches from step ``start`` to the last."""
        recipe = self.recipe
        sampler = StepSampler(
            len(self.train),
            recipe.batch_size,
            self.steps,
            recipe.seed,
            start,
            recipe.accumulate,
            self.rank,
            self.world,
        )
        return self._loader(self.train, sampler)

    def testing(self) -> "dict[str, DataLoader[Batch]]":
        """This process's share of every test split, in order."""
        return {split: self._loader(images, self._share(len(images))) for split, images in self.tests.items()}

    def _share(self, count: int) -> list[list[int]]:
        """Batches of even size, so that every process has as many: sharded networks wait for each other."""
        batches = torch.arange(count).tensor_split(-(-count // max(self.recipe.batch_size, self.world)))
        return [batch.tensor_split(self.world)[self.rank].tolist() for batch in batches]

    def _loader(self, images: ImageSet, batches: Sampler[list[int]] | list[list[int]]) -> "DataLoader[Batch]":
        workers = self.recipe.workers
        return DataLoader(
            WholeBatches(images),
            batch_sampler=batches,
            collate_fn=collate,
            num_workers=workers,
            persistent_workers=False,
            pin_memory=torch.cuda.is_available(),
        )
