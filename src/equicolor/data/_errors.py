"""What is said where data is missing or damaged; of an image it is a ``CorruptImageError`` of ``_tools.images``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equicolor._tools.short import short

#: How a message ends that tells those who write Python what would fetch the files.
BY_CALL = "; load(..., download=True) fetches them."


class DataNotFoundError(FileNotFoundError):
    """Raised where the files of a data set are not where they were looked for; the message says which to put where."""

    def without_code(self) -> str:
        """The message without what is for programs, for those who type commands."""
        return str(self).replace(BY_CALL, ".")


class AmbiguousLayoutError(ValueError):
    """Raised where a tree of folders could be splits of classes, or classes; the message says how to tell which."""


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """A block that reads a file: whatever its contents make fail inside becomes a ValueError that names it.

    Libraries that read formats have a dozen ways to say that a file is damaged, and most do not say which.
    """
    try:
        yield
    except (ImportError, DataNotFoundError):
        raise
    except Exception as error:
        if isinstance(error, ValueError | OSError) and str(path) in " ".join(str(error).split()):
            raise
        said = short(error, 300)
        reason = f"{type(error).__name__}: {said}" if said else type(error).__name__
        raise ValueError(f"{path} cannot be read ({reason}): it is damaged, or no such file. Replace it.") from error
