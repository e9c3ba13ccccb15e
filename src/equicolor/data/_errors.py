"""What can go wrong with data on disk, as two exceptions."""


class DataNotFoundError(FileNotFoundError):
    """The files of a data set are not where they were looked for. The message says which to put where."""


class CorruptImageError(ValueError):
    """A file that should hold an image cannot be read. The message names it."""
