"""What the commands share: data sets as their options name them, and what cannot be read."""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from equicolor._tools.cells import printable
from equicolor.commands import _console as console

if TYPE_CHECKING:
    from equicolor.data import ImageSet
    from equicolor.models import Task
    from equicolor.trained import Opened


@dataclass(frozen=True)
class DataSet:
    """A data set as the options of a command name it; see :func:`equicolor.data.load`.

    ``limit``: a sample of so many images, by ``seed``; ``class_``: those of one class; ``only``: the one at this index.
    """

    name: str
    root: Path | None
    split: str
    shift: str | None
    limit: int | None
    download: bool
    class_: str | None = None
    only: int | None = None
    seed: int = 0

    def load(self, opened: "Opened", task: "Task" = "classification") -> "ImageSet":
        """The images in the size that the network is shown. Errors speak of options of the command line."""
        from equicolor.data import AmbiguousLayoutError, DataNotFoundError, is_own, load, resolve

        known, _ = resolve(self.name, self.root)
        plan = opened.preparation
        some = any(choice is not None for choice in (self.limit, self.class_, self.only))
        fetch = partial(
            load,
            self.name,
            self.root,
            self.split,
            self.shift,
            seed=opened.seed_of(known),
            image_size=None if plan is None else plan.side,
            fit=None if plan is None else plan.fit,
            download=self.download,
            task=task,
            in_memory=False if some else None,  # of a large set, only what is asked for is read
        )
        try:
            try:
                images = fetch()
            except AmbiguousLayoutError:
                if (layout := opened.layout_of(known)) is None:
                    raise
                images = fetch(layout=layout)  # folders that the user has said of in training what they are
        except DataNotFoundError as error:
            hint = "" if self.download or is_own(known) else " Or add --download to fetch it."
            raise DataNotFoundError(error.without_code() + hint) from error
        if self.class_ is not None:
            if self.class_ not in images.classes:
                raise ValueError(f"{self.name} has no class {self.class_!r}: there are {', '.join(images.classes)}")
            images = images.subset((images.labels == images.classes.index(self.class_)).nonzero().flatten())
        if self.only is not None:
            if not 0 <= self.only < len(images):
                raise ValueError(f"{self.name} {self.split} has {len(images):,} images, there is no index {self.only}")
            images = images.subset([self.only])
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"--limit must be positive, got {self.limit}")
        return images if self.limit is None or self.limit >= len(images) else images.sample(self.limit, self.seed)


class BadFiles:
    """Files that cannot be used: each is reported as it is met, all are counted in the end."""

    def __init__(self, quiet: bool = False) -> None:
        self.messages: list[str] = []
        self.quiet = quiet

    def __call__(self, name: str, problem: str) -> None:
        self.messages.append(printable(f"{name}: {problem}"))
        if not self.quiet:
            print(self.messages[-1], file=sys.stderr)

    def report(self, good: int) -> None:
        """Says how many there were; an error if there was nothing else."""
        bad = len(self.messages)
        if not good:
            raise ValueError(f"none of the images could be read ({bad:,} failed)" if bad else "there are no images")
        if bad:
            print(f"{bad:,} of {good + bad:,} could not be read", file=sys.stderr)


def say_what_is_unknown(opened: "Opened") -> None:
    """A note where the card is too old to say how images were prepared, or which class is which."""
    if opened.preparation is None:
        console.note(
            "Note: the card of this network does not say how images were prepared in training. They are taken as they "
            "are; --image_size says in which size."
        )
    if opened.card.classes is None and opened.card.task == "classification":
        console.note("Note: the card of this network names no classes. They are matched by their position.")
