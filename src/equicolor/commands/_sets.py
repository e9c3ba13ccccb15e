"""The sets that ``evaluate`` was given, by name or by path, and what each is called in tables and files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class NamedSet:
    """A split of a data set, or of a folder or table of the user's own.

    Attributes:
        name, root: as :func:`equicolor.data.load` takes them.
        split: which part; ``"all"`` is the whole of what is not cut into splits.
        label: what it is called, unlike all others of the same command.
    """

    name: str
    root: Path | None
    split: str
    label: str

    @property
    def title(self) -> str:
        """For a table."""
        return self.label if self.split == "all" else f"{self.label} {self.split}"

    @property
    def stem(self) -> str:
        """For files."""
        return f"{self.label}-{self.split}"


def named_sets(data: Sequence[str], root: Path | None, splits: Sequence[str]) -> list[NamedSet]:
    """Every split of every set, each once; what does not exist is an error before anything is computed.

    Args:
        data: names of data sets and paths.
        root: where the named ones are.
        splits: of each; by default ``test``; of a path all that begin so, or else all images.
    """
    if not data:
        raise ValueError("give a data set or the path of a folder, or several")
    from equicolor.data import AmbiguousLayoutError, resolve, splits_of, usual_test_splits

    found = []
    for given, label in zip(data, _labels(data), strict=True):
        name, at = resolve(given, root)
        place = None if at is None else Path(at)
        try:
            there, usual = splits_of(name, at), ("test",) if _is_named(given) else usual_test_splits(name, at)
        except AmbiguousLayoutError:  # what the folders are may have been said in training
            there, usual = (), ("test",)
        for split in dict.fromkeys(splits or usual):
            if there and split not in there:
                raise ValueError(f"{given} has no split {split!r}: expected one of {', '.join(map(repr, there))}")
            found.append(NamedSet(name, place, split, label))
    return found


def _labels(data: Sequence[str]) -> list[str]:
    """Paths by their last part, or by as many as tell them apart.

    >>> _labels(["digits", "a/cells/", "b/cells", "b/lab.csv"])
    ['digits', 'a-cells', 'b-cells', 'lab']
    """
    parts = [(given,) if _is_named(given) else _parts(given) for given in data]
    twice = [given for place, given in enumerate(data) if parts[place] in parts[:place]]
    if twice:
        raise ValueError(f"{twice[0]} is given twice")
    labels = []
    for own in parts:
        length = 1
        while sum(other[-length:] == own[-length:] for other in parts) > 1:
            length += 1
        labels.append("-".join(own[-length:]))
    return labels


def _is_named(given: str) -> bool:
    from equicolor.data import list_datasets

    return given in list_datasets()


def _parts(given: str) -> tuple[str, ...]:
    path = Path(given).expanduser()
    path = path if path.is_dir() else path.with_suffix("")
    return tuple(part for part in Path(os.path.abspath(path)).parts if part != os.sep)


def free_stem(folder: Path, stem: str, endings: Sequence[str]) -> Path:
    """``folder/stem``, or with a number behind it where there is such a file already: none is overwritten."""
    number, path = 1, folder / stem
    while any(path.with_name(path.name + ending).exists() for ending in endings):
        number += 1
        path = folder / f"{stem}-{number}"
    return path
