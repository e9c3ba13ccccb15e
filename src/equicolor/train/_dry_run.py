"""What a recipe would train, found out without writing anything: its images, its network, and how long it will take."""

from dataclasses import dataclass

from equicolor._tools.tables import Table
from equicolor._tools.words import spoken_time
from equicolor.data import Column
from equicolor.train._estimate import rehearsed
from equicolor.train._recipe import Recipe

#: More classes are counted, not listed.
_LISTED = 12


@dataclass(frozen=True)
class Plan:
    """What a recipe would train, and how long that would take.

    Attributes:
        recipe: the recipe.
        counts: the number of images of each split, train first.
        class_counts: the number of images of each class, for each split; none for segmentation.
        image_size: height and width of what the network sees.
        parameters: the number of parameters of the network.
        steps: steps of the optimiser.
        steps_per_epoch: steps of the optimiser in one pass over the images.
        seconds: what all of it will take, canonicaliser and testing included, as measured on a few steps.
        device: where they were measured.
    """

    recipe: Recipe
    counts: dict[str, int]
    class_counts: dict[str, dict[str, int]]
    image_size: int
    parameters: int
    steps: int
    steps_per_epoch: int
    seconds: float
    device: str

    def tables(self) -> list[Table]:
        """The plan as tables, for a person."""
        recipe = self.recipe
        root = recipe.data_options.get("root")
        tests = ", ".join(f"{split} {self.counts[split]:,}" for split in recipe.test_splits)
        rows = [
            ("data", f"{recipe.data}{f' in {root}' if root else ''}"),
            ("trained on", f"{recipe.train_split}: {self.counts[recipe.train_split]:,} images"),
            ("tested on", f"{tests or 'nothing'}"),
            ("classes", self._classes()),
            ("image size", f"{self.image_size}×{self.image_size}"),
            ("network", f"{recipe.model}, {recipe.group or 'no group'}, {self.parameters:,} parameters"),
            ("steps", f"{self.steps:,}: {self.steps / self.steps_per_epoch:g} epochs of {self.steps_per_epoch:,}"),
            ("batch", f"{recipe.batch_size:,} images"),
            ("time", self._time()),
        ]
        if recipe.canonicalize:
            rows.insert(6, ("canonicaliser", f"{recipe.canonicalize}, trained {recipe.canonicalizer_training}"))
        tables = [Table("What would be trained", ("", "value"), rows, left=("", "value"))]
        classes = list(next(iter(self.class_counts.values()), {}))
        if 0 < len(classes) <= _LISTED:
            found = [(split, *(f"{n:,}" for n in counts.values())) for split, counts in self.class_counts.items()]
            tables.append(Table("Images of each class", ("split", *classes), found))
        return tables

    def _classes(self) -> str:
        classes = list(next(iter(self.class_counts.values()), {}))
        if not classes:
            return "foreground and background"
        names = ", ".join(classes[:_LISTED]) + (", …" if len(classes) > _LISTED else "")
        return f"{len(classes):,}: {names}"

    def _time(self) -> str:
        epoch = spoken_time(self.seconds * self.steps_per_epoch / self.steps)
        return f"about {epoch} for an epoch, {spoken_time(self.seconds)} for all, on {self.device}, testing included"


def dry_run(recipe: Recipe) -> Plan:
    """Loads what a recipe trains on, builds the network and takes a few steps, by one process; writes nothing.

    Args:
        recipe: what to train, and how.

    Returns:
        What would be trained, and how long it would take.

    Raises:
        ValueError: as :func:`fit` would before it trains.
        TrainingError: as :func:`fit` would before it trains.

    Example:
        >>> dry_run(Recipe.load("hue_shift_digits:hue4")).parameters  # doctest: +SKIP
    """
    session, seconds = rehearsed(recipe)
    data = session.data
    sets = {recipe.train_split: data.train, **data.tests}
    labelled = sets if recipe.task == "classification" else {}
    return Plan(
        recipe,
        counts={split: len(images) for split, images in sets.items()},
        class_counts={split: Column(images.classes, images.labels).counts() for split, images in labelled.items()},
        image_size=recipe.input_size or data.train.image_size,
        parameters=sum(parameter.numel() for parameter in session.model.parameters()),
        steps=data.steps,
        steps_per_epoch=data.steps_per_epoch,
        seconds=seconds,
        device=str(session.fabric.device),
    )
