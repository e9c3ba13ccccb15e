"""What a user asks of an experiment, as data: how large, over which seeds, which rows, and which of them changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: In ``reduce``, stands for all rows.
EVERY = "*"


@dataclass(frozen=True)
class Setting:
    """How an experiment is to be run.

    Attributes:
        quick: minutes instead of hours: few images, short training, one seed.
        seeds: instead of those of the recipes.
        reduce: changes to the recipes of some rows, ``{"CEConv-3": {"train_size": 20000}}``, which they then show;
            those under ``"*"`` are for all rows, and a row's own come first.
        only: the rows wanted, by label; all if empty.
    """

    quick: bool = False
    seeds: tuple[int, ...] = ()
    reduce: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    only: tuple[str, ...] = ()

    def single_seed(self) -> None:
        """Refuses several seeds, for an experiment that shows one network of each kind."""
        for seeds in (self.seeds, *(changes.get("seeds", ()) for changes in self.reduce.values())):
            if len(seeds) > 1:
                raise ValueError(f"this experiment shows networks of one seed, got {', '.join(map(str, seeds))}")
