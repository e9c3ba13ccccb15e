"""What can go wrong with data on disk, as two exceptions."""

#: How a message ends that tells those who write Python what would fetch the files.
BY_CALL = "; load(..., download=True) fetches them."


class DataNotFoundError(FileNotFoundError):
    """The files of a data set are not where they were looked for. The message says which to put where."""

    def without_code(self) -> str:
        """The message for those who type commands."""
        return str(self).replace(BY_CALL, ".")


class CorruptImageError(ValueError):
    """A file that should hold an image cannot be read. The message names it."""
