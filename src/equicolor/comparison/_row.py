"""A row of a table: a network and the recipe that it is trained by, over several seeds."""

from dataclasses import dataclass, replace

from equicolor.train import Recipe


@dataclass(frozen=True)
class Row:
    """A row of a table: a network, trained by one recipe over several seeds.

    Attributes:
        label: what it is called.
        recipe: how it is trained; its ``seeds`` are those of the row.
        reduced: how this differs from the experiment's own protocol, in words; empty if it does not.
    """

    label: str
    recipe: Recipe
    reduced: str = ""

    @property
    def title(self) -> str:
        """The label, with how the row is reduced beside it."""
        return f"{self.label} [{self.reduced}]" if self.reduced else self.label

    @property
    def marked(self) -> str:
        """The label for pictures, which only mark that a row is reduced."""
        return f"{self.label}*" if self.reduced else self.label

    @property
    def seeded(self) -> list[Recipe]:
        """The recipe with each of its seeds."""
        return [replace(self.recipe, seed=seed) for seed in self.recipe.seeds]
