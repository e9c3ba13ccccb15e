"""A recipe: everything that decides what a training run computes, as data. The paper's are in ``recipes/``."""

import dataclasses
import math
import os
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
import yaml  # type: ignore[import-untyped]

from equicolor._tools.short import short
from equicolor.data import DataNotFoundError, is_own, resolve, splits_of, title
from equicolor.data.augment import BRING_TO_SIZE, spelled, steps_of
from equicolor.groups import group as as_group
from equicolor.models import Task, check_model_name, is_from_elsewhere
from equicolor.nn import Canonicalizer
from equicolor.train._around import described
from equicolor.train._options import check_options, meant_among
from equicolor.train._recipe_files import FORMAT, changed, read_fields, renewed
from equicolor.train._recipe_values import known, typed

Precision = Literal["32-true", "16-mixed", "bf16-mixed", "64-true"]

#: The elements of the largest group that is trained on.
_MOST_ELEMENTS = 1024


@dataclass(frozen=True)
class Recipe:
    """The hyperparameters of a training run.

    Fields can be given as strings too, as a command line does.

    Attributes:
        data: a name of :func:`equicolor.data.list_datasets`, or the path of your own images, a folder or a table.
        model: a name of :func:`equicolor.list_models`, ``timm:NAME`` or ``torchvision:NAME``.
        group: the group of the model, by name; None for the conventional network.
        data_options: further arguments of :func:`equicolor.data.load`.
        model_options: further arguments of :func:`equicolor.create_model`.
        task: ``"classification"``, or ``"segmentation"`` of foreground, by masks.
        train_split: what is trained on.
        test_splits: what errors are reported on; by default the splits whose names begin with *test*.
        train_size: train on a sample of so many images only.
        test_size: test on a sample of so many images of each test split only.
        input_size: height and width that the network sees, where ``augment`` brings images to size (``photo``); by
            default that of the set.
        augment: the pipeline of :class:`equicolor.data.Augment`.
        optimizer: the optimiser.
        optimizer_options: further arguments of torch's optimiser.
        lr: the initial learning rate.
        schedule: how the learning rate falls.
        warmup: the steps over which the learning rate first rises.
        epochs: how many passes over the images; this or ``iterations``.
        iterations: how many steps of the optimiser; this or ``epochs``.
        batch_size: images of one step, over all processes. The last, incomplete batch of an epoch is left out: every
            step sees as many images, whichever way they are divided.
        accumulate: into how many parts each process divides its share of a batch, to save memory.
        clip: the largest norm of the gradient.
        seed: what weights, order and augmentation depend on.
        seeds: the seeds that the paper's statistics are over.
        precision: the precision of the computation, in Lightning's words.
        compile: whether to compile the network.
        channels_last: whether images and filters have this memory format.
        deterministic: whether to use only algorithms whose results do not vary, which exact resumption needs on a GPU.
        checkpoint_every: steps between checkpoints.
        log_every: steps between lines of the metrics.
        evaluate_every: epochs between evaluations on the test splits; 0 for at the end alone.
        loggers: beside ``csv`` and ``tensorboard`` also ``wandb``, ``mlflow``, ``comet`` and ``neptune``.
        accelerator: Lightning's, see ``docs/training.md``.
        devices: Lightning's, see ``docs/training.md``.
        nodes: Lightning's, see ``docs/training.md``.
        strategy: Lightning's, see ``docs/training.md``.
        workers: processes that read images; sets that are held in memory need none.
        canonicalize: the colour moves that are undone before the network looks, by name, ``"temp-tint"``.
        canonicalize_options: further arguments of :class:`equicolor.nn.Canonicalizer`.
        canonicalizer_steps: how long the canonicaliser is trained by itself.
        canonicalizer_training: how the canonicaliser learns. ``"first"``: by itself and without labels for
            ``canonicalizer_steps``, then it stays as it is. ``"together"``: it goes on learning with the network after
            these, from both losses. ``"around"``: it alone learns, without labels and all of the run, and the network
            of ``around`` stays as it is.
        around: the trained network for that: the folder of a run or of a saved model, or a name on the hub. It is read
            once, when the run begins. ``model``, ``group`` and ``model_options`` are those of its card.
        weights: of a network of timm or torchvision, what to begin with instead of those that are downloaded: a file,
            ``.safetensors`` or ``.pth``; or the folder of a run, or of a saved model, of the same network without a
            group. Its classifier goes with it where there are as many classes.
        license: the licence of the weights, for the card of the network, by its identifier on the hub, ``"mit"``.
        train_only: ``"head"``, the classifier alone learns, and all before it stays as it is, statistics of norms too.
            Where ``augment`` draws nothing, what the others make of an image is computed once. ``"weights"``: all of
            the network learns but the statistics of its batch norms, which stay those of its pretraining.
        fuse: on a CPU, whether to compile what stands between group convolutions, see
            :func:`equicolor.fuse_for_training`; ``compile`` compiles all of the network.
    """

    data: str
    model: str
    group: str | None = None
    data_options: dict[str, Any] = field(default_factory=dict)
    model_options: dict[str, Any] = field(default_factory=dict)
    task: Task = "classification"
    train_split: str = "train"
    test_splits: list[str] = field(default_factory=list)
    train_size: int | None = None
    test_size: int | None = None
    input_size: int | None = None
    augment: str = "none"
    optimizer: Literal["adam", "adamw", "sgd"] = "adam"
    optimizer_options: dict[str, Any] = field(default_factory=dict)
    lr: float = 1e-3
    schedule: Literal["constant", "cosine"] = "constant"
    warmup: int = 0
    epochs: int | None = None
    iterations: int | None = None
    batch_size: int = 128
    accumulate: int = 1
    clip: float | None = None
    seed: int = 1999
    seeds: list[int] = field(default_factory=lambda: [1999, 2000, 2001])
    precision: Precision = "32-true"
    compile: bool = False
    channels_last: bool = True
    deterministic: bool = True
    checkpoint_every: int = 500
    log_every: int = 20
    evaluate_every: int = 1
    loggers: list[str] = field(default_factory=lambda: ["csv", "tensorboard"])
    accelerator: str = "auto"
    devices: int = 1
    nodes: int = 1
    strategy: Literal["auto", "ddp", "fsdp"] = "auto"
    workers: int = 0
    canonicalize: str | None = None
    canonicalize_options: dict[str, Any] = field(default_factory=dict)
    canonicalizer_steps: int = 1000
    canonicalizer_training: Literal["first", "together", "around"] = "first"
    around: str | None = None
    weights: str | None = None
    license: str | None = None
    train_only: Literal["head", "weights"] | None = None
    fuse: bool = False

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for entry in dataclasses.fields(self):
            object.__setattr__(self, entry.name, typed(hints[entry.name], getattr(self, entry.name), entry.name))
        self._resolve_data()
        object.__setattr__(self, "augment", spelled(self.augment))
        check_model_name(self.model)
        if self.weights is not None and not is_from_elsewhere(self.model):
            raise ValueError(f"weights are for networks such as timm:resnet18, not for {self.model}: see around")
        self._check_group()
        for options in ("model_options", "data_options", "optimizer_options", "canonicalize_options"):
            given = getattr(self, options)
            check_options(options, given, self.model, self.optimizer, around=self.around is not None)
        self._check_splits()
        for logger in self.loggers:
            known("logger", logger, ("csv", "tensorboard", "wandb", "mlflow", "comet", "neptune"))
        resizing = BRING_TO_SIZE & set(steps_of(self.augment))
        if self.input_size is not None and not resizing:
            raise ValueError(
                f"input_size is for pipelines that bring images to size, such as 'photo'; {self.augment!r} does not: "
                "load the images in the size wanted, with data_options.image_size"
            )
        if (self.epochs is None) == (self.iterations is None):
            raise ValueError(
                f"a recipe says how long to train by epochs or by iterations, one of the two (--epochs 10, or "
                f"epochs: 10 in YAML); this one has epochs={self.epochs} and iterations={self.iterations}"
            )
        positive = ("epochs", "iterations", "batch_size", "accumulate", "lr", "clip", "devices", "nodes")
        for name in (*positive, "train_size", "test_size", "input_size", "checkpoint_every", "log_every"):
            value = getattr(self, name)
            if value is not None and not (0 < value < math.inf):
                raise ValueError(f"{name} of a recipe must be positive, got {value}")
        if self.canonicalize is not None:
            with torch.device("meta"):  # draws nothing
                Canonicalizer(self.canonicalize, **self.canonicalize_options)  # says what is wrong with it
        self._check_around()
        if self.compile and self.fuse:
            raise ValueError("compile: true compiles all of a network, fuse: true what stands between: choose one")
        if self.train_only is not None and (self.task, self.canonicalizer_training) != ("classification", "first"):
            raise ValueError(
                f"train_only: {self.train_only} is for classifiers, and for canonicalisers that are trained first; "
                f"this recipe has task={self.task!r} and canonicalizer_training={self.canonicalizer_training!r}"
            )
        for name in ("warmup", "evaluate_every", "seed", "workers", "canonicalizer_steps"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} of a recipe cannot be negative, got {getattr(self, name)}")

    def _resolve_data(self) -> None:
        """A path as the name of the data is a folder or a table of the user's own."""
        given = self.data_options.get("root")
        name, root = resolve(self.data, given)
        object.__setattr__(self, "data", name)
        if root is not None and root != given:
            object.__setattr__(self, "data_options", {**self.data_options, "root": os.fspath(root)})

    def _check_splits(self) -> None:
        """Against those there are; by default, all whose names begin with *test* are tested on."""
        try:
            names = splits_of(self.data, self.data_options.get("root"), self.data_options.get("layout"))
        except DataNotFoundError:  # files of the user's own, elsewhere: a recipe can be read without them
            if not self.test_splits:
                raise
            return
        if not self.test_splits:
            tests = [split for split in names if split.startswith("test")]
            if not tests and is_own(self.data):
                raise ValueError(
                    f"{self.data_options['root']} has no split whose name begins with 'test': say which to test on by "
                    f"test_splits. There are {', '.join(names)}"
                )
            object.__setattr__(self, "test_splits", tests)
        for split in (self.train_split, *self.test_splits):
            known(f"split of {self.data}", split, names)

    def _check_group(self) -> None:
        if self.group is None or re.fullmatch(r"ceconv[0-9]{1,2}", self.group):
            return
        if (order := as_group(self.group).order) > _MOST_ELEMENTS:
            raise ValueError(
                f"the group {self.group!r} has {order:,} elements, too many to train on: a recipe takes "
                f"{_MOST_ELEMENTS:,} at the most"
            )

    def _check_around(self) -> None:
        if self.around is not None and self.canonicalizer_training == "first":
            object.__setattr__(self, "canonicalizer_training", "around")
        if self.canonicalizer_training == "first":
            return
        if self.canonicalize is None:
            raise ValueError(
                f"canonicalizer_training {self.canonicalizer_training!r} is that of a canonicaliser, and this recipe "
                "has none: say which moves it is to undo, canonicalize: temp-tint"
            )
        if (self.canonicalizer_training == "around") != (self.around is not None):
            raise ValueError(
                "a canonicaliser learns around a network that stays as it is, or together with one; this recipe has "
                f"canonicalizer_training={self.canonicalizer_training!r} and around={self.around!r}. around takes the "
                "folder of a run or of a saved model"
            )

    # ---------------------------------------------------------------------------------------------- reading, writing

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str], overrides: Mapping[str, Any] | None = None) -> "Recipe":
        """Loads a recipe of the paper by name, or one of your own from a YAML file, with some fields changed.

        Args:
            name_or_path: one of :func:`list_recipes`, or a path. A variant follows after a colon:
                ``"hue_shift_mnist:z2cnn"``.
            overrides: fields and their values; ``{"model_options.bias": False}`` changes one option of several.

        Returns:
            The recipe.
        """
        return cls.from_dict(changed(read_fields(name_or_path), overrides or {}))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Recipe":
        """Makes a recipe from its fields.

        Args:
            values: the fields by name; dotted names stand for single options, as in :meth:`load`.

        Returns:
            The recipe.

        Raises:
            ValueError: there is no such field, or it is of a newer format.
        """
        values = renewed(changed({}, values))
        if values.get("around") and "model" not in values:
            values |= described(values["around"])
        names = [entry.name for entry in dataclasses.fields(cls)]
        for name in values:
            if name not in names:
                likely = meant_among(names, str(name), values.get("model"))
                hint = f"Did you mean {likely!r}?" if likely else f"There are {', '.join(names)}."
                raise ValueError(f"unknown field of a recipe {short(name)}. {hint}")
        missing = [name for name in ("data", "model") if name not in values]
        if missing:
            raise ValueError(f"a recipe needs {' and '.join(missing)}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as YAML and JSON take them."""
        return dataclasses.asdict(self)

    def to_yaml(self) -> str:
        """All fields as YAML; :meth:`load` reads it back."""
        values = {"format": FORMAT, **self.to_dict()}
        return str(yaml.safe_dump(values, sort_keys=False, allow_unicode=True))

    def replace(self, **changes: Any) -> "Recipe":
        """The same recipe with some fields changed.

        Args:
            **changes: fields and their values; a nested option by its dotted name in a dict.

        Returns:
            The recipe.
        """
        return type(self).from_dict(changed(self.to_dict(), changes))

    def at_size(self, image_size: int) -> "Recipe":
        """The same recipe for images of another size.

        Args:
            image_size: height and width of what the network sees.

        Returns:
            The recipe.

        Raises:
            ValueError: it is no positive number.
        """
        if image_size < 1:
            raise ValueError(f"image_size must be a positive number of pixels, for height and width, got {image_size}")
        if self.input_size is not None:  # the pipeline brings them to it, from images as large as they are
            return self.replace(input_size=image_size)
        return self.replace(data_options={"image_size": image_size})

    # ---------------------------------------------------------------------------------------------- what follows

    @property
    def title(self) -> str:
        """A short name for the images; files of the user's own are called by their place.

        Example:
            >>> Recipe("digits", "z2cnn", epochs=1).title
            'digits'
        """
        return title(self.data_options["root"]) if is_own(self.data) else self.data

    @property
    def network(self) -> str:
        """What to call the network: its name, its group, and the moves that are undone before.

        Example:
            >>> Recipe("digits", "z2cnn", canonicalize="temp-tint", epochs=1).network
            'z2cnn (canonicalised by temp-tint)'
        """
        undone = f"canonicalised by {self.canonicalize}" if self.canonicalize else None
        return f"{self.model} ({', '.join(filter(None, [self.group, undone])) or 'no group'})"

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step: a function of the step alone, so that nothing is to be saved.

        Args:
            step: the step, from 0 on.
            steps: the number of all steps.

        Returns:
            The rate.

        Example:
            >>> recipe = Recipe("digits", "z2cnn", lr=0.1, schedule="cosine", iterations=100)
            >>> [round(recipe.rate(step, 100), 3) for step in (0, 50, 99)]
            [0.1, 0.05, 0.0]
        """
        if step < self.warmup:
            return self.lr * (step + 1) / self.warmup
        if self.schedule == "constant":
            return self.lr
        done = (step - self.warmup) / max(1, steps - self.warmup)
        return self.lr * 0.5 * (1 + math.cos(math.pi * done))


def meant(name: str, likeness: float = 0.6) -> str | None:
    """Guesses which field or option of a recipe was meant by a name that is none.

    Args:
        name: as it was given.
        likeness: how much alike the two are at least, from 0 to 1.

    Returns:
        The name of a field, or of an option with that of its field.

    Example:
        >>> meant("epoch"), meant("image_size"), meant("momentum")
        ('epochs', 'data_options.image_size', 'optimizer_options.momentum')
    """
    names = [entry.name for entry in dataclasses.fields(Recipe)]
    return name if name in names else meant_among(names, name, likeness=likeness)
