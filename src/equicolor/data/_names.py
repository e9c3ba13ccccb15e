"""What a user calls a data set, by name or by path, and which splits it has."""

import os
from pathlib import Path

import equicolor.data.sets  # noqa: F401  where all sets are registered
from equicolor._tools.short import short
from equicolor._tools.spelling import did_you_mean, spelled_as
from equicolor.data._description import Description, Found, Layout
from equicolor.data._errors import DataNotFoundError
from equicolor.data._registry import DATASETS
from equicolor.data._remote import is_address
from equicolor.data.sets.shards import holds_shards

Place = str | os.PathLike[str]
#: Files that list images.
TABLES = frozenset({".csv", ".tsv", ".parquet"})


def resolve(name: Place, root: Place | None = None) -> tuple[str, Place | None]:
    """Resolves what a user calls a data set, a name or a path, into a name and a root.

    A name of :func:`list_datasets` stays as it is. The path of a folder is ``"folder"`` with that root, the path of a
    CSV or Parquet file is ``"table"``, and a folder of numbered Parquet files or an address, ``s3://…``, is
    ``"shards"``.

    Args:
        name: the name of the set, or a path.
        root: where the set is; not beside a path.

    Returns:
        A name of :func:`list_datasets`, and the root.

    Raises:
        ValueError: there is no such set, or two places are given.
        DataNotFoundError: there is nothing at the path.

    Example:
        >>> resolve("digits")
        ('digits', None)
        >>> resolve(".")
        ('folder', '.')
    """
    given = spelled_as(os.fspath(name), DATASETS)
    if given in DATASETS:
        return given, root
    if is_address(given):
        if root is not None:
            raise _two_places(given, root)
        return "shards", given
    path = Path(given).expanduser()
    is_path = given.startswith(("~", ".")) or any(mark in given for mark in ("/", os.sep))
    is_table = path.suffix.lower() in TABLES
    if not os.path.exists(path):  # which says so of names that are too long, too
        if is_path or is_table:
            raise DataNotFoundError(f"there is no folder and no table {given}")
        raise ValueError(
            f"unknown data set {short(given)}.{did_you_mean(given, DATASETS)} There are {', '.join(DATASETS)}; or give "
            "the path of a folder or table"
        )
    if root is not None:
        raise _two_places(given, root)
    if path.is_dir():
        return "shards" if holds_shards(path) else "folder", given
    if not is_table:
        raise ValueError(f"{given} is no table of images: expected a folder, or a file {', '.join(sorted(TABLES))}")
    return "table", given


def _two_places(given: str, root: Place) -> ValueError:
    return ValueError(f"{given} is a path, and the root is {os.fspath(root)} besides: give one of the two")


def title(name: Place) -> str:
    """What to call a set in a few letters.

    Args:
        name: a name or a path.

    Returns:
        The name; of a path, its last part.

    Example:
        >>> title("labs/lab3/"), title("cells.csv"), title("cifar10")
        ('lab3', 'cells', 'cifar10')
    """
    given = os.fspath(name)
    path = Path(given).expanduser()
    if given in DATASETS:
        return given
    return (path.stem if path.suffix.lower() in TABLES else path.name) or path.resolve().name or given


def is_own(name: str) -> bool:
    """Whether a name of :func:`list_datasets` stands for files of the user's own, whose splits depend on them.

    Args:
        name: the name.

    Returns:
        True for ``"folder"``, ``"table"`` and ``"shards"``.

    Example:
        >>> is_own("folder"), is_own("cifar10")
        (True, False)
    """
    return DATASETS[name].look is not None


def splits_of(name: Place, root: Place | None = None, layout: Layout | None = None) -> tuple[str, ...]:
    """Lists the splits of a data set; of your own folders and tables, those that are there.

    Args:
        name: one of :func:`list_datasets`, or a path, as for :func:`load`.
        root: where the set is, as for :func:`load`.
        layout: what your folders are, as for :func:`load`.

    Returns:
        Their names. Folders and tables have ``"all"`` as the last, which is all of them together.

    Raises:
        DataNotFoundError: there are no such files.

    Example:
        >>> splits_of("hue_shift_mnist")
        ('train', 'test_a', 'test_b')
    """
    known, place = resolve(name, root)
    description = DATASETS[known]
    found = look(description, data_root(description, place), layout)
    return tuple(found.splits if found else description.splits)


def usual_test_splits(name: Place, root: Place | None = None) -> tuple[str, ...]:
    """Lists the splits to test on where none is named: those called *test*, or all of a set that is not cut.

    Args:
        name: the name of the set, or a path.
        root: where the set is; not beside a path.

    Returns:
        ``test`` where there is one, else all whose names begin so, else ``all`` images.

    Example:
        >>> usual_test_splits("cifar10")
        ('test',)
    """
    known, place = resolve(name, root)
    description = DATASETS[known]
    found = look(description, data_root(description, place), None)
    if found is None or (found.cut == "given" and "test" in found.splits):
        return ("test",)
    tests = tuple(split for split in found.splits if split.startswith("test"))
    return tests if found.cut == "given" and tests else ("all",)


def look(description: Description, home: Path, layout: Layout | None) -> Found | None:
    """What a user's own files are; None for sets of which that is known."""
    if description.look is None:
        if layout is not None:
            raise ValueError(f"layout says what your own folders are, {description.name} has one: leave it out")
        return None
    return description.look(home, layout)


def data_root(description: Description, root: Place | None) -> Path:
    """Where all data is: the given folder, that of the environment, or the cache."""
    if description.look and root is None:
        raise DataNotFoundError(f"load('{description.name}', root=...) takes {description.layout}")
    given = root or os.environ.get("EQUICOLOR_DATA") or Path.home() / ".cache" / "equicolor"
    return Path(given).expanduser()
