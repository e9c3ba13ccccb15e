"""The images of a run: batches of a recipe's sets, addressed by the step they belong to.

Which images step s sees is a function of (seed, s): the order of an epoch is a hash of its number. So a run is resumed
by starting the sampler at s. There is no state of a loader to save, none that workers could have run ahead of, and a
change of the number of workers changes nothing.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from equicolor.data import (
    MEMORY_LIMIT,
    Batch,
    Fingerprint,
    ImageSet,
    Shards,
    WholeBatches,
    collate,
    describe,
    is_own,
    load,
    permutation,
)
from equicolor.train._errors import TrainingError
from equicolor.train._recipe import Recipe

#: Options of :func:`equicolor.data.load` by which files of the user's own are found and cut.
_LOOKED_FOR = {"root", "layout", "seed"}


class StepSampler(Sampler[list[int]]):
    """The indices of every part of every step: what one process sees of a whole training.

    A batch is shuffled as :meth:`equicolor.data.ImageSet.batches` shuffles, and divided among parts and processes.

    Args:
        count: the number of images.
        batch_size: images of one step, over all processes.
        steps: the number of steps.
        seed: what the order depends on.
        start: the first step.
        accumulate: into how many parts each process divides its share of a batch.
        rank: the number of this process.
        world: the number of processes.
        order: gives the order of an epoch; by default that of images in memory.

    Example:
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
        order: Callable[[int], Tensor] | None = None,
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
        self.order = order or (lambda epoch: permutation(count, seed, f"epoch {epoch}"))

    @property
    def steps_per_epoch(self) -> int:
        """The steps of one pass over the images."""
        return self.count // self.batch_size

    def __len__(self) -> int:
        return (self.steps - self.start) * self.accumulate

    def __iter__(self) -> Iterator[list[int]]:
        order, shuffled = torch.empty(0, dtype=torch.long), -1
        for step in range(self.start, self.steps):
            epoch, place = divmod(step, self.steps_per_epoch)
            if epoch != shuffled:
                order, shuffled = self.order(epoch), epoch
            batch = order[place * self.batch_size : (place + 1) * self.batch_size]
            for part in batch.reshape(self.accumulate, self.world, -1)[:, self.rank]:
                yield part.tolist()


class ImageData:
    """The image sets of a recipe, loaded.

    One pass over :meth:`training` is the whole training, all its epochs.

    Args:
        recipe: says which sets.
        rank: the number of this process; each has its share of every batch.
        world: the number of processes.
        loaded: the images of another recipe, which are not read again if they are those of this one.

    Attributes:
        train: the set that is trained on.
        tests: the sets that are tested on, by split.
    """

    def __init__(self, recipe: Recipe, rank: int = 0, world: int = 1, loaded: "ImageData | None" = None) -> None:
        self.recipe, self.rank, self.world = recipe, rank, world
        if loaded is not None and _images_of(loaded.recipe) == _images_of(recipe):
            train, tests = loaded.train, loaded.tests
        else:
            train = self._load(recipe.train_split, recipe.train_size)
            tests = {s: self._load(s, recipe.test_size).with_classes(train.classes) for s in recipe.test_splits}
        self.train: ImageSet = train
        self.tests: dict[str, ImageSet] = tests
        for split, images in self.tests.items():
            if not len(images):
                raise TrainingError(f"{recipe.data} {split} has no images to test on: choose other test_splits")
        if recipe.task == "classification" and len(self.train.classes) < 2:
            alone = ", ".join(map(repr, self.train.classes))
            raise TrainingError(
                f"{recipe.data} {recipe.train_split} has images of one class alone, {alone}: there is nothing to tell "
                "apart. Images of each class belong into a folder of its own"
            )
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

    def introduction(self) -> list[str]:
        """The lines that a user sees before training: what was found in files of their own, and what is trained on."""
        about: list[str] = []
        if is_own(self.recipe.data):
            options = {name: self.recipe.data_options[name] for name in _LOOKED_FOR & self.recipe.data_options.keys()}
            about = describe(self.recipe.data, **options).lines()
        shown = repr(self.train).strip("<>").removeprefix(f"{self.recipe.data} ")
        return [*about, f"training on {self.recipe.title} {shown}"]

    def fingerprints(self) -> dict[str, dict[str, Fingerprint]]:
        """The fingerprints of the images, ``{"training": {split: …}, "testing": {split: …}}``."""
        return {
            "training": {self.recipe.train_split: self.train.fingerprint()},
            "testing": {split: images.fingerprint() for split, images in self.tests.items()},
        }

    @property
    def steps_per_epoch(self) -> int:
        """The steps of one pass over the images."""
        return len(self.train) // self.recipe.batch_size

    @property
    def steps(self) -> int:
        """The steps of the whole training."""
        if self.recipe.iterations is not None:
            return self.recipe.iterations
        return (self.recipe.epochs or 0) * self.steps_per_epoch

    def training(self, start: int = 0, instead: Dataset[Batch] | None = None) -> "DataLoader[Batch]":
        """Loads the parts of batches of the training.

        Args:
            start: the first step.
            instead: what stands in the place of the images, one for each.

        Returns:
            A loader, to the last step.
        """
        recipe = self.recipe
        if isinstance(self.train.source, Shards):
            self.train.source.share(self.world)
        sampler = StepSampler(
            len(self.train),
            recipe.batch_size,
            self.steps,
            recipe.seed,
            start,
            recipe.accumulate,
            self.rank,
            self.world,
            partial(self.train.order, recipe.batch_size, recipe.seed),
        )
        return self._loader(instead or WholeBatches(self.train), sampler)

    def testing(self) -> "dict[str, DataLoader[Batch]]":
        """Loads this process's share of every test split, in order."""
        return {
            split: self._loader(WholeBatches(images), self._share(len(images))) for split, images in self.tests.items()
        }

    def _share(self, count: int) -> list[list[int]]:
        """Batches of even size, so that every process has as many: sharded networks wait for each other."""
        batches = torch.arange(count).tensor_split(-(-count // max(self.recipe.batch_size, self.world)))
        return [batch.tensor_split(self.world)[self.rank].tolist() for batch in batches]

    def _loader(self, images: Dataset[Batch], batches: Sampler[list[int]] | list[list[int]]) -> "DataLoader[Batch]":
        workers = self.recipe.workers
        return DataLoader(
            images,
            batch_sampler=batches,
            collate_fn=collate,
            num_workers=workers,
            persistent_workers=False,
            pin_memory=torch.cuda.is_available(),
        )


def _images_of(recipe: Recipe) -> tuple[object, ...]:
    """The fields of a recipe that say which images it has."""
    sizes = (recipe.train_size, recipe.test_size)
    return (recipe.data, recipe.data_options, recipe.task, recipe.train_split, recipe.test_splits, *sizes)
