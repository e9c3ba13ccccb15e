"""A recipe: everything that decides what a training run computes, as data. The paper's are in ``recipes/``."""

import dataclasses
import difflib
import math
import os
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
import yaml  # type: ignore[import-untyped]

import equicolor
from equicolor.data import list_datasets
from equicolor.data.augment import BRING_TO_SIZE, steps_of
from equicolor.models import Task, list_models
from equicolor.nn import Canonicalizer
from equicolor.train._around import described

Precision = Literal["32-true", "16-mixed", "bf16-mixed", "64-true"]

#: Of the recipes that are written; one that does not say its format is of the first.
FORMAT = 1
#: Fields that were renamed: old → new. Entries stay, so that old recipes do: see CONTRIBUTING.
_RENAMED: dict[str, str] = {}


@dataclass(frozen=True)
class Recipe:
    """The hyperparameters of a run. Fields can be given as strings too, as a command line does.

    Attributes:
        data: a name of :func:`equicolor.data.list_datasets`; ``data_options`` go to :func:`equicolor.data.load`.
        train_split, test_splits: what is trained on, and what errors are reported on; by default the set's test splits.
        train_size, test_size: train on a sample of so many images only; test on one of each test split.
        input_size: height and width that the network sees, where ``augment`` brings images to size (``photo``); by
            default that of the set.
        task: ``"classification"``, or ``"segmentation"`` of foreground, by masks.
        model: a name of :func:`equicolor.list_models`; ``model_options`` go to :func:`equicolor.create_model`.
        group: of the model, by name; None for the conventional network.
        canonicalize: the colour moves that are undone before the network looks, by name, ``"temp-tint"``.
            ``canonicalize_options`` go to :class:`equicolor.nn.Canonicalizer`.
        canonicalizer_training: ``"first"``, by itself and without labels for ``canonicalizer_steps``, then it stays as
            it is; ``"together"``, it goes on learning with the network after these, from both losses; ``"around"``, it
            alone learns, without labels and all of the run, and the network of ``around`` stays as it is.
        around: the trained network that stays so: the folder of a run or of a saved model, or a name on the hub. It is
            read once, when the run begins. ``model``, ``group`` and ``model_options`` are those of its card.
        augment: the pipeline of :class:`equicolor.data.Augment`.
        optimizer: ``optimizer_options`` go to torch's.
        lr: the initial learning rate. ``schedule``: how it falls; ``warmup``: the steps over which it first rises.
        epochs, iterations: how long; exactly one of the two. An iteration is one step of the optimiser.
        batch_size: images of one step, over all processes. The last, incomplete batch of an epoch is left out: every
            step sees as many images, whichever way they are divided.
        accumulate: into how many parts each process divides its share of a batch, to save memory.
        clip: the largest norm of the gradient.
        seed: of weights, order and augmentation. ``seeds``: those that the paper's statistics are over.
        precision: of the computation, in Lightning's words.
        compile: compile the network. ``channels_last``: the memory format of images and filters.
        deterministic: only algorithms whose results do not vary, which exact resumption needs on a GPU.
        checkpoint_every, log_every: steps between checkpoints, and between lines of the metrics.
        evaluate_every: epochs between evaluations on the test splits; 0: at the end alone.
        loggers: beside ``csv`` and ``tensorboard`` also ``wandb``, ``mlflow``, ``comet`` and ``neptune``.
        accelerator, devices, nodes, strategy: Lightning's, see ``docs/training.md``. ``workers``: processes that read
            images; sets that are held in memory need none.
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

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for entry in dataclasses.fields(self):
            object.__setattr__(self, entry.name, _as(hints[entry.name], getattr(self, entry.name), entry.name))
        _known("data set", self.data, list_datasets())
        _known("model", self.model, list_models())
        if not self.test_splits:
            tests = [split for split in list_datasets()[self.data] if split.startswith("test")]
            object.__setattr__(self, "test_splits", tests)
        for split in (self.train_split, *self.test_splits):
            _known(f"split of {self.data}", split, list_datasets()[self.data])
        for logger in self.loggers:
            _known("logger", logger, ("csv", "tensorboard", "wandb", "mlflow", "comet", "neptune"))
        resizing = BRING_TO_SIZE & set(steps_of(self.augment))
        if self.input_size is not None and not resizing:
            raise ValueError(
                f"input_size is for pipelines that bring images to size, such as 'photo'; {self.augment!r} does not: "
                "load the images in the size wanted, with data_options.image_size"
            )
        if (self.epochs is None) == (self.iterations is None):
            raise ValueError(
                f"a recipe says how long to train by epochs or by iterations, one of the two; this one has "
                f"epochs={self.epochs} and iterations={self.iterations}"
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
        for name in ("warmup", "evaluate_every", "seed", "workers", "canonicalizer_steps"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} of a recipe cannot be negative, got {getattr(self, name)}")

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
        """A recipe of the paper by name, or one of your own from a YAML file, with some fields changed.

        Args:
            name_or_path: one of :func:`list_recipes`, or a path. A variant follows after a colon:
                ``"hue_shift_mnist:z2cnn"``.
            overrides: fields and their values; ``{"model_options.bias": False}`` changes one option of several.
        """
        name, variant = os.fspath(name_or_path), ""
        if not Path(name).is_file():
            name, _, variant = name.partition(":")
        path = _paper_recipes().get(name, Path(name).expanduser())
        if not path.is_file():
            close = difflib.get_close_matches(name, _paper_recipes(), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise FileNotFoundError(
                f"there is no recipe {name!r}.{hint} There are {', '.join(_paper_recipes())}; or give the path of a "
                "YAML file."
            )
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, yaml.YAMLError) as error:
            raise ValueError(f"{path} is no readable YAML: {error}") from None
        if not isinstance(content, dict):
            raise ValueError(f"{path} is no recipe: expected fields and their values, got {type(content).__name__}")
        variants = content.pop("variants", {})
        if variant:
            _known(f"variant of {name}", variant, variants)
            content = _changed(content, variants[variant])
        return cls.from_dict(_changed(content, overrides or {}))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Recipe":
        """The recipe with these fields; dotted names stand for single options, as in :meth:`load`."""
        values = _renewed(_changed({}, values))
        if values.get("around") and "model" not in values:
            values |= described(values["around"])
        names = [entry.name for entry in dataclasses.fields(cls)]
        for name in values:
            _known("field of a recipe", name, names)
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
        """The same recipe with some fields changed; a nested option by its dotted name in a dict."""
        return type(self).from_dict(_changed(self.to_dict(), changes))

    # ---------------------------------------------------------------------------------------------- what follows

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, from 0 on, of so many: a function of nothing else, so nothing is to be saved.

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


def list_recipes() -> dict[str, tuple[str, ...]]:
    """The paper's recipes by name, each with its variants.

    >>> list_recipes()["hue_shift_mnist"][0]
    'z2cnn'
    """
    return {
        name: tuple(yaml.safe_load(path.read_text(encoding="utf-8")).get("variants", {}))
        for name, path in _paper_recipes().items()
    }


def _paper_recipes() -> dict[str, Path]:
    """Beside the package in an installed wheel, at the top of the repository in a clone."""
    package = Path(equicolor.__file__).parent
    for folder in (package / "recipes", package.parents[1] / "recipes"):
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    return {}


def _renewed(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a recipe of this format or an earlier one, under their names of now."""
    written = values.pop("format", 1)
    if not isinstance(written, int) or not 1 <= written <= FORMAT:
        raise ValueError(
            f"the recipe is of format {written!r}, this version reads formats up to {FORMAT}: upgrade equicolor"
        )
    twice = [f"{old} and {new}" for old, new in _RENAMED.items() if old in values and new in values]
    if twice:
        raise ValueError(f"a recipe has {twice[0]}, which are names of one field: keep the second")
    if (learns := values.pop("canonicalizer_learns", None)) is not None:  # its values were others, too
        values.setdefault("canonicalizer_training", "together" if learns in (True, "true") else "first")
    return {_RENAMED.get(name, name): value for name, value in values.items()}


def _changed(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` with ``changes``. Options join those that are there; how long is said anew in one way."""
    result = dict(values)
    for name, value in changes.items():
        outer, _, inner = name.partition(".")
        if inner:
            value = {inner: yaml.safe_load(value) if isinstance(value, str) else value}
        if isinstance(value, Mapping):
            value = {**(result.get(outer) or {}), **value}
        result[outer] = value
    for one, other in (("epochs", "iterations"), ("iterations", "epochs")):
        if changes.get(one) is not None and other not in changes:
            result[other] = None
    return result


def _known(what: str, name: str, names: typing.Iterable[str]) -> None:
    names = list(names)
    if name not in names:
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"unknown {what} {name!r}.{hint} There are {', '.join(names)}.")


def _as(kind: Any, value: Any, name: str) -> Any:
    """``value`` as a field of this type holds it; strings are read as YAML reads them."""
    origin, choices = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        if value is None or value in ("null", "none", "None"):
            return None
        return _as(choices[0], value, name)
    if origin is Literal:
        _known(f"{name} of a recipe", value, choices)
        return value
    if isinstance(value, str) and kind is not str:
        value = float(value) if kind is float and _is_number(value) else yaml.safe_load(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if origin is list:
        items = value if isinstance(value, list | tuple) else [value]
        return [_as(choices[0], item, name) for item in items]
    plain = origin or kind
    if plain is dict and value is None:
        return {}
    if not isinstance(value, plain) or (isinstance(value, bool) and plain is not bool):
        raise ValueError(f"{name} of a recipe must be {_spoken(plain)}, got {value!r}")
    return dict(value) if plain is dict else value


def _is_number(text: str) -> bool:
    """Also 1e-3, which YAML 1.1 reads as text."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _spoken(kind: type) -> str:
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text", dict: "names and values"}
    return words.get(kind, kind.__name__)
