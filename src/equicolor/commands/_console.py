"""What the commands say beside their results: notes and progress bars, on stderr."""

import sys

from equicolor._tools.progress import counted, per_second, progress

__all__ = ["counted", "note", "per_second", "progress"]


def note(message: str) -> None:
    """A line for the user, beside the results and not among them."""
    print(message, file=sys.stderr)
