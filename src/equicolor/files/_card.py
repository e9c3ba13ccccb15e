"""The card of a network: what it is, how its images are prepared, what it was trained on and how good it was there."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from equicolor._tools.environment import version
from equicolor._tools.files import json_text
from equicolor._tools.images import Fit
from equicolor._tools.renamed import renamed
from equicolor._tools.short import short
from equicolor.color import COLOR_NORMALIZATIONS, ColorNormalization
from equicolor.models import Preparation, Task, list_models

#: Of the cards that are written. A reader takes all formats up to this one: see ``_UPGRADES``.
FORMAT = 4
#: Of the largest file that is read as a card: room for the names of a hundred thousand classes.
MOST_BYTES = 8 << 20
#: The largest side of images that is prepared because a file says so.
MOST_PIXELS = 8192
#: Fields that were spelled otherwise up to format 2.
_BRITISH = {"grey": "gray", "normalisation": "normalization", "licence": "license"}


@renamed(**_BRITISH)
@dataclass(frozen=True, kw_only=True)
class Card:
    """The card of a network: what is written beside its weights, as JSON.

    Attributes:
        architecture: the arguments of :func:`equicolor.create_model`; None for a network that it does not make.
        source: where a network comes from that is none of the zoo's, ``"timm:resnet18"``; ``architecture`` says how it
            was converted.
        group: what it is equivariant to, by name; None for a conventional network.
        task: ``"classification"`` of images, or ``"segmentation"`` of pixels.
        classes: the names of the logits. For a single logit, the name of the class it speaks for, or the names of both,
            that one second.
        image_size: height and width of what the network sees; None where nobody recorded it.
        resize: see :class:`equicolor.models.Preparation`.
        fit: see :class:`equicolor.models.Preparation`.
        crop: see :class:`equicolor.models.Preparation`.
        gray: see :class:`equicolor.models.Preparation`.
        color_normalization: see :class:`equicolor.models.Preparation`.
        normalization: ``{"mean": [...], "std": [...]}`` of each channel; the network itself applies it, after the lift.
        data: what it was trained on: ``{"name", "split", "images", "fingerprint"}``.
        recipe: how it was trained, the fields of a :class:`equicolor.train.Recipe`.
        metrics: how good it is on each test split, ``{"test": {"error": 0.05}}``; errors are fractions, None is what
            has no value.
        license: the licence of the weights, by its identifier on the hub, ``"mit"``.
        parameters: the number of parameters.
        sha256: the checksum of the file with the weights.
        library_version: the version of equicolor that wrote the card.
        format: the format of the card.

    Raises:
        ValueError: a field holds something else than it should; the message names it.
    """

    architecture: dict[str, Any] | None = None
    source: str | None = None
    group: str | None = None
    task: Task = "classification"
    classes: tuple[str, ...] | None = None
    image_size: int | None = None
    resize: int | None = None
    fit: Fit = "crop"
    crop: int | None = None
    gray: bool = False
    color_normalization: ColorNormalization | None = None
    normalization: dict[str, list[float]] | None = None
    data: dict[str, Any] | None = None
    recipe: dict[str, Any] | None = None
    metrics: dict[str, dict[str, float | None]] = field(default_factory=dict)
    license: str | None = None
    parameters: int | None = None
    sha256: str | None = None
    library_version: str | None = field(default_factory=lambda: version("equicolor"))
    format: int = FORMAT

    def __post_init__(self) -> None:
        for name, (fits, expected) in _EXPECTED.items():
            value = getattr(self, name)
            if not fits(value):
                raise ValueError(f"{name} must be {expected}, got {short(value)}")
        object.__setattr__(self, "classes", None if self.classes is None else tuple(self.classes))
        logits = (self.architecture or {}).get("num_classes")
        if self.classes is not None and isinstance(logits, int) and not names_fit(len(self.classes), logits):
            raise ValueError(f"classes has {len(self.classes)} names of classes for a model with {logits}")
        try:
            _ = self.preparation
        except ValueError as error:
            raise ValueError(f"image_size, resize and crop do not go together: {error}") from None

    @property
    def preparation(self) -> Preparation | None:
        """How images are prepared; None where the card does not say."""
        if self.image_size is None:
            return None
        return Preparation(self.image_size, self.resize, self.fit, self.crop, self.gray, self.color_normalization)

    @property
    def name(self) -> str:
        """A short name for the network."""
        network = (self.architecture or {}).get("name") or self.source or "network"
        return f"{network}-{self.group}" if self.group else str(network)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON takes them."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {"library_name": "equicolor", **values, "classes": None if self.classes is None else list(self.classes)}

    def to_json(self) -> str:
        """All fields as JSON; :meth:`from_json` reads it."""
        return json_text(self.to_dict(), indent=2) + "\n"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Card":
        """Makes a card from its fields, of this format or an earlier one.

        Args:
            values: the fields by name; those that are not known are left out.

        Returns:
            The card.

        Raises:
            ValueError: this is no card, it is of a newer format, or a field holds something else than it should.
        """
        if not isinstance(values, Mapping) or values.get("library_name") != "equicolor":
            raise ValueError('it is no card of equicolor\'s: it does not say "library_name": "equicolor"')
        found: Any = values.get("format")
        if not _is_count(found):
            raise ValueError(f"format must be a whole number from 1 to {FORMAT}, got {short(found)}")
        if found > FORMAT:
            raise ValueError(
                f"it was written in format {short(found)} by equicolor {short(values.get('library_version'))}, newer "
                "than this version can read: upgrade equicolor"
            )
        upgraded = dict(values)
        for number in range(found, FORMAT):
            upgraded = _UPGRADES[number](upgraded)
        known = {entry.name for entry in fields(cls)}
        return cls(**{name: value for name, value in upgraded.items() if name in known} | {"format": FORMAT})

    @classmethod
    def from_json(cls, text: str) -> "Card":
        """Makes a card from its JSON.

        Args:
            text: what :meth:`to_json` gave, in this format or an earlier one.

        Returns:
            The card.

        Raises:
            ValueError: the text is damaged, or as for :meth:`from_dict`.
        """
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"it is damaged: {error}. Save or download the model again.") from None
        return cls.from_dict(values)

    @classmethod
    def read(cls, path: Path) -> "Card":
        """Reads a card from a file.

        Args:
            path: the file.

        Returns:
            The card.

        Raises:
            ValueError: there is no card in it; the message names the file, and what is wrong with it.
        """
        if not path.is_file():
            raise ValueError(f"{path} is no file, expected the card of a network")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise ValueError(f"{path} has {size:,} bytes, too many for the card of a network")
        try:
            return cls.from_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def names_fit(names: int, logits: int) -> bool:
    """Whether so many names can be those of so many logits: a single one may have those of both its classes."""
    return names in ((1, 2) if logits == 1 else (logits,))


def _from_format_1(values: dict[str, Any]) -> dict[str, Any]:
    """Cards of before images were part of it: their preparation is not known, the task is that of the architecture."""
    architecture = values.get("architecture")
    name = architecture.get("name") if isinstance(architecture, Mapping) else None
    return {"task": "segmentation" if name in list_models(task="segmentation") else "classification", **values}


def _in_american(values: dict[str, Any]) -> dict[str, Any]:
    """Cards of before their fields were spelled as the library's other names are."""
    return {_BRITISH.get(name, name): value for name, value in values.items()}


def _from_format_3(values: dict[str, Any]) -> dict[str, Any]:
    """Cards of when there was one normalisation of colours, there or not."""
    balanced = values.get("gray_world", False)
    if not isinstance(balanced, bool):
        raise ValueError(f"gray_world must be true or false, got {short(balanced)}")
    return {"color_normalization": "gray-world" if balanced else None, **values}


#: Format → what makes the fields of its cards those of the next. An entry is added with a format, and never removed.
_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: _from_format_1,
    2: _in_american,
    3: _from_format_3,
}


# ------------------------------------------------------------------------------------------------ what fields may hold


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_number_of(value: object) -> bool:
    return value is None or _is_count(value) or (value == 0 and isinstance(value, int) and value is not False)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_side(value: object) -> bool:
    return value is None or (_is_count(value) and value <= MOST_PIXELS)  # type: ignore[operator]


def _is_text(value: object) -> bool:
    return value is None or (isinstance(value, str) and len(value) < 1000)


def _is_arguments(value: object) -> bool:
    return value is None or (isinstance(value, dict) and all(isinstance(name, str) for name in value))


def _is_names(value: object) -> bool:
    return value is None or (isinstance(value, list | tuple) and all(isinstance(name, str) for name in value))


def _is_normalization(value: object) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, dict)
        and value.keys() == {"mean", "std"}
        and all(
            isinstance(each, list) and all(_is_number(n) and math.isfinite(n) for n in each) for each in value.values()
        )
        and all(std > 0 for std in value["std"])
    )


def _is_metrics(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(each, dict) and all(number is None or _is_number(number) for number in each.values())
        for each in value.values()
    )


_SIDE = f"a number of pixels from 1 to {MOST_PIXELS}, or null"
_EXPECTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "architecture": (_is_arguments, "the arguments of create_model by name, or null"),
    "source": (_is_text, "text or null"),
    "group": (_is_text, "the name of a group or null"),
    "task": (lambda task: task in ("classification", "segmentation"), "'classification' or 'segmentation'"),
    "classes": (_is_names, "a list of names or null"),
    "image_size": (_is_side, _SIDE),
    "resize": (_is_side, _SIDE),
    "fit": (lambda fit: fit in ("crop", "stretch"), "'crop' or 'stretch'"),
    "crop": (_is_side, _SIDE),
    "gray": (lambda gray: isinstance(gray, bool), "true or false"),
    "color_normalization": (
        lambda how: how is None or how in COLOR_NORMALIZATIONS,
        f"one of {', '.join(map(repr, COLOR_NORMALIZATIONS))}, or null",
    ),
    "normalization": (_is_normalization, '{"mean": [...], "std": [...]} of finite numbers, std above 0, or null'),
    "data": (_is_arguments, "names and values, or null"),
    "recipe": (_is_arguments, "the fields of a recipe, or null"),
    "metrics": (_is_metrics, "numbers by name, of each split"),
    "license": (_is_text, "text or null"),
    "parameters": (_is_number_of, "a whole number or null"),
    "sha256": (_is_text, "text or null"),
    "library_version": (_is_text, "text or null"),
    "format": (_is_count, "a positive whole number"),
}
