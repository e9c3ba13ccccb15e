"""What is said where data is missing; what cannot be read is a ``CorruptImageError`` of ``_tools.images``."""

#: How a message ends that tells those who write Python what would fetch the files.
BY_CALL = "; load(..., download=True) fetches them."


class DataNotFoundError(FileNotFoundError):
    """The files of a data set are not where they were looked for. The message says which to put where."""

    def without_code(self) -> str:
        """The message for those who type commands."""
        return str(self).replace(BY_CALL, ".")
