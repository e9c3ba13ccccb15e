"""The plan of a comparison: which networks, on which images, how often, and how long that will take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equicolor._tools.tables import Table
from equicolor._tools.words import spoken_time
from equicolor.comparison._columns import Column, columns_of
from equicolor.comparison._cost import multiplications
from equicolor.comparison._log import Log
from equicolor.comparison._measured import spoken_seeds
from equicolor.comparison._named import PLAIN, ROWS, described, named_rows
from equicolor.comparison._row import Row
from equicolor.comparison._runs import Runs
from equicolor.train import ImageData, Recipe, TrainingError, expected_seconds


@dataclass(frozen=True)
class Plan:
    """What is to be compared, checked against the images and the machine.

    Attributes:
        rows: the networks.
        columns: what they are tested on.
        folder: where runs and the report go.
        about: the images and the training, in a line each.
        seconds: what one run of each row takes, by label; None for rows that are finished.
        costs: multiplications for one image, in millions, by label.
        left: the runs of each row that are not finished, by label.
        reference: the row that others are held against: plain, or else the first.
        chance: the balanced error of guessing; None for segmentation.
        data: the images.
    """

    rows: Sequence[Row]
    columns: Sequence[Column]
    folder: Path
    about: Sequence[str]
    seconds: Mapping[str, float | None]
    costs: Mapping[str, float]
    left: Mapping[str, int]
    reference: str
    chance: float | None
    data: ImageData

    @property
    def recipe(self) -> Recipe:
        """The recipe that all rows share."""
        return self.rows[0].recipe

    @property
    def total(self) -> float:
        """The seconds that all unfinished runs will take."""
        return sum((self.seconds[row.label] or 0.0) * self.left[row.label] for row in self.rows)

    @property
    def count(self) -> str:
        """The number of networks, and of runs of each, in words."""
        return f"{len(self.rows)} networks × {spoken_seeds(len(self.recipe.seeds))}"

    @property
    def summary(self) -> str:
        """The number of runs, and how long they take, in a line."""
        every = sum(len(row.recipe.seeds) for row in self.rows)
        left = sum(self.left.values())
        text = f"{self.count} = {every} runs"
        if not left:
            return f"{text}, all of them finished."
        if left < every:
            text += f", {every - left} of them finished"
        return f"{text}. About {spoken_time(self.total)} on this machine."

    @property
    def table(self) -> Table:
        """The networks as a table."""
        lines = [
            [
                row.label,
                described(row.recipe),
                "finished" if seconds is None else spoken_time(seconds),
                f"{self.costs[row.label] / self.costs[self.reference]:.2f}",
            ]
            for row in self.rows
            for seconds in [self.seconds[row.label]]
        ]
        columns = ("network", "what it is", "one run", "multiplications")
        return Table(f"Networks, multiplications relative to {self.reference}", columns, lines, left=columns[:2])


def plan(
    recipe: Recipe,
    names: Sequence[str] = ROWS,
    folder: Path = Path("comparison"),
    log: Log | None = None,
) -> Plan:
    """Loads the images, builds every network once and times a few steps of those that are not trained yet.

    Args:
        recipe: data, network, training and seeds, that all rows share.
        names: the names of the rows, see :func:`named_rows`.
        folder: where runs are, or will be.
        log: where progress is said.

    Returns:
        What would be trained, and how long that would take.

    Raises:
        ValueError: a row cannot be trained on these images, or there is nothing to tell apart.
        TrainingError: the images are not those of finished runs.
    """
    rows = named_rows(recipe, names)
    data = ImageData(rows[0].recipe)
    train, log = data.train, log or Log(quiet=True)
    for line in data.introduction()[:-1]:
        log(line)
    if not data.tests:
        raise ValueError(f"say what to test on: {recipe.data} has no split that is called test. --test NAME NAME")
    runs, fingerprints = Runs(folder), data.fingerprints()
    seconds: dict[str, float | None] = {}
    left, costs = {}, {}
    for number, row in enumerate(rows, 1):
        finished = [runs.finished(each) for each in row.seeded]
        for run in finished:
            if run is not None:
                run.check_data(fingerprints)
        left[row.label] = finished.count(None)
        log(f"looking at {row.label} ({number} of {len(rows)})")
        try:
            costs[row.label] = multiplications(row.recipe, train)
            seconds[row.label] = expected_seconds(row.recipe, data) if left[row.label] else None
        except (ValueError, TypeError, RuntimeError) as error:
            if isinstance(error, TrainingError):
                raise
            raise ValueError(f"the row {row.label!r} cannot be trained: {error}. Leave it out: --rows …") from error
    labels, columns = [row.label for row in rows], columns_of(train, data.tests)
    return Plan(
        rows,
        columns,
        folder,
        _about(recipe, data, columns),
        seconds,
        costs,
        left,
        PLAIN if PLAIN in labels else labels[0],
        1 - 1 / train.num_classes if recipe.task == "classification" else None,
        data,
    )


def _about(recipe: Recipe, data: ImageData, columns: Sequence[Column]) -> list[str]:
    train = data.train
    size = recipe.input_size or train.image_size
    tests = ", ".join(f"{column.name} {column.images:,}" for column in columns)
    names = ", ".join(train.classes[:6]) + (", …" if train.num_classes > 6 else "")
    classes = (
        f"{train.num_classes} classes ({names})" if recipe.task == "classification" else "foreground and background"
    )
    epochs = data.steps / data.steps_per_epoch
    length = f"{data.steps:,} steps of {recipe.batch_size} images ({epochs:.3g} epoch{'' if epochs == 1 else 's'})"
    lines = [
        f"{recipe.title}: {classes}; {len(train):,} images to train on ({recipe.train_split}), {size}×{size}; "
        f"tested on {tests}.",
        f"{recipe.model}, {length}, {recipe.optimizer}, lr {recipe.lr:g}, {recipe.schedule}; "
        f"augmentation of all rows: {recipe.augment}; seed{'' if len(recipe.seeds) == 1 else 's'} "
        f"{', '.join(map(str, recipe.seeds))}.",
    ]
    if train.gray and train.shift is None:
        lines.append("These images have no colour of their own: rows that differ in colour alone will not differ.")
    return lines
