"""What is known of images beside their classes, such as the lab or the slide that each is from."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Column:
    """A name for each of N images, such as the lab it is from.

    Attributes:
        names: those there are, each once.
        codes: which of them each image has, ``(N,)`` int64.
    """

    names: tuple[str, ...]
    codes: Tensor

    @classmethod
    def of(cls, values: Sequence[str], names: Sequence[str] | None = None) -> "Column":
        """Makes a column from a name for each image.

        Args:
            values: the names.
            names: the order in which they are listed; by default that of the alphabet.

        Returns:
            The column.

        Example:
            >>> Column.of(["pink", "blue", "pink"])
            Column(names=('blue', 'pink'), codes=tensor([1, 0, 1]))
        """
        listed = tuple(sorted(set(values)) if names is None else names)
        places = {name: place for place, name in enumerate(listed)}
        return cls(listed, torch.tensor([places[value] for value in values], dtype=torch.long))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Tensor) -> "Column":
        """The column of these images alone, with the same names."""
        return Column(self.names, self.codes[rows])

    def counts(self) -> dict[str, int]:
        """How many images have each name.

        Example:
            >>> Column.of(["rome", "oslo", "rome"]).counts()
            {'oslo': 1, 'rome': 2}
        """
        return dict(zip(self.names, self.codes.bincount(minlength=len(self.names)).tolist(), strict=True))

    @property
    def values(self) -> list[str]:
        """The name of each image."""
        return [self.names[code] for code in self.codes.tolist()]
