"""The images that a command was given, as files or as a data set: how many there are, and in batches."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from equicolor._tools.cells import printable
from equicolor.commands._shared import BadFiles, DataSet

if TYPE_CHECKING:
    from torch import Tensor

    from equicolor.data import ImageSet
    from equicolor.models import Preparation
    from equicolor.trained import Opened, Place


@dataclass(frozen=True)
class Chosen:
    """Files, or the images of a data set, in the size that a network is shown."""

    plan: "Preparation"
    bad: BadFiles
    paths: "Sequence[Place]" = ()
    images: "ImageSet | None" = None

    def __len__(self) -> int:
        return len(self.paths if self.images is None else self.images)

    def without(self, is_done: Callable[[str], bool]) -> "Chosen":
        """Those that are still to do, by their printable names."""
        from equicolor.trained import image_names

        if self.images is None:
            return replace(self, paths=[path for path in self.paths if not is_done(printable(str(path)))])
        left = [place for place, name in enumerate(image_names(self.images)) if not is_done(printable(name))]
        return replace(self, images=self.images.subset(left))

    def batches(self, batch_size: int, workers: int = 0) -> "Iterator[tuple[list[str], Tensor]]":
        """Names and images; files are decoded by ``workers`` threads."""
        from equicolor.trained import file_batches, set_batches

        if self.images is not None:
            return set_batches(self.images, batch_size)
        return file_batches(self.paths, self.plan.side, batch_size, self.bad, self.plan.fit, workers)


def chosen_images(files: Sequence[str], data: DataSet | None, opened: "Opened", bad: BadFiles) -> Chosen:
    """The images that a command was given: files, folders and globs, or a data set."""
    from equicolor.models import Preparation
    from equicolor.trained import find_images

    if bool(files) == (data is not None):
        raise ValueError("give either images (files, folders, globs) or a data set, --data digits")
    plan = opened.preparation or Preparation(opened.model.image_size)
    if data is not None:
        return Chosen(plan, bad, images=data.load(opened))
    return Chosen(plan, bad, find_images(files, bad))
