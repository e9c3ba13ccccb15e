"""Networks in folders: weights as safetensors beside a card in JSON, and the card again as a page to read."""

import hashlib
import math
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from equicolor._tools.files import complete_files
from equicolor._tools.renamed import renamed
from equicolor._tools.short import short
from equicolor._tools.wrapped import unwrapped
from equicolor.files._bounds import check_bounds
from equicolor.files._card import MOST_BYTES, Card, names_fit
from equicolor.files._readme import README, is_ours, readme
from equicolor.files._shipped import OWNER, list_shipped, shipped_folder
from equicolor.files._state import (
    as_bytes,
    check_finite,
    check_fits,
    check_kinds,
    needed,
    read_weights,
    state_of,
    stored_shapes,
)
from equicolor.models import Model, Preparation, create_model, is_from_elsewhere
from equicolor.nn import Lift

#: The file that holds the weights of a network.
WEIGHTS = "model.safetensors"
#: The file that holds the card of a network.
CARD = "config.json"
#: The most bytes that are fetched from the hub because a repository has them: of the weights, and of the card.
MOST_FETCHED = {WEIGHTS: 20 << 30, CARD: MOST_BYTES}


@renamed(licence="license")
def save_pretrained(
    model: nn.Module,
    folder: str | os.PathLike[str],
    classes: Sequence[str] | None = None,
    *,
    preparation: Preparation | None = None,
    data: Mapping[str, Any] | None = None,
    recipe: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Mapping[str, float]] | None = None,
    license: str | None = None,
    overwrite_readme: bool = False,
) -> Path:
    """Saves a network and what is known about it, so that :func:`from_pretrained` gives it back.

    Files are complete when they appear under their names; what stood there before is replaced only then. What
    torch.compile, DataParallel, DDP, FSDP and lightning's Fabric wrapped is saved without them. Where FSDP keeps a part
    of the network in each process, all of them must call this.

    What is not given is taken from the card that ``model`` was read with; but ``data``, ``recipe`` and ``metrics`` only
    while its weights are those of that card.

    Args:
        model: a network of :func:`create_model`; or any other, whose architecture the reader then has to provide.
        folder: where to; it is made where it does not exist.
        classes: the names of the logits, for whoever uses the model. Of a single logit, the name of the class that it
            speaks for, or the names of both that it tells apart, that one second.
        preparation: how images are prepared for it; by default ``model.preparation``.
        data: what it was trained on: ``{"name": ..., "split": ...}`` and more.
        recipe: how it was trained.
        metrics: how good it is, of each test split: ``{"test": {"error": 0.05}}``; errors are fractions.
        license: the licence of the weights, by its identifier on the hub, ``"mit"``.
        overwrite_readme: write ``README.md`` also in the place of one that you wrote or changed; else that is kept.

    Returns:
        The folder.

    Example:
        >>> import tempfile
        >>> from equicolor.models import create_model
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = save_pretrained(create_model("z2cnn", "hue4", num_classes=2), folder, ["healthy", "sick"])
        ...     from_pretrained(folder).card.classes
        ('healthy', 'sick')
    """
    card, weights = _described(model, classes, preparation, data, recipe, metrics, license)
    folder = Path(folder)
    write_model(folder, card, weights, None if _is_users(folder / README) and not overwrite_readme else readme(card))
    return folder


def write_model(folder: Path, card: Card, weights: bytes, page: str | None) -> None:
    """All files of a model, the card last; without a page, what there is of one stays."""
    with complete_files(folder, last=CARD, durable=True) as files:
        (files / WEIGHTS).write_bytes(weights)
        (files / CARD).write_text(card.to_json(), encoding="utf-8", newline="\n")
        if page is not None:
            (files / README).write_text(page, encoding="utf-8", newline="\n")


@renamed(licence="license")
def card_of(model: nn.Module, classes: Sequence[str] | None = None, **about: Any) -> Card:
    """Makes the card that :func:`save_pretrained` would write.

    Args:
        model: the network.
        classes: the names of the logits.
        **about: ``preparation``, ``data``, ``recipe``, ``metrics`` and ``license``, as for :func:`save_pretrained`.

    Returns:
        The card.
    """
    names = ("preparation", "data", "recipe", "metrics", "license")
    return _described(model, classes, *(about.pop(name, None) for name in names), **about)[0]


def from_pretrained(
    folder_or_hub_id: str | os.PathLike[str], model: nn.Module | None = None, revision: str | None = None
) -> nn.Module:
    """Loads the network that :func:`save_pretrained` wrote, in eval mode, on the CPU.

    Only JSON and tensors are read: nothing from the files is executed. And nothing is built that is larger than the
    weights in the file, or on a group of more than 128 elements, which would take long.

    Args:
        folder_or_hub_id: a folder, or ``"owner/name"`` of a repository on the Hugging Face hub. Those of
            :func:`equicolor.files.list_shipped` come with the package, and are read from there.
        model: the network to load the weights into, where the card names no architecture of :func:`create_model`: one
            made by :func:`convert`, say, or on a larger group. Networks of timm and torchvision that
            ``create_model("timm:NAME", ...)`` made need none, but their library; nothing is downloaded.
        revision: a branch, tag or commit on the hub.

    Returns:
        The network, with its ``card`` (:class:`equicolor.files.Card`); ``model.preprocess(image)`` prepares images, as
        the card says.

    Raises:
        FileNotFoundError: a file is missing, or there is no such folder or repository.
        ValueError: a file is damaged, or does not fit the network; the message says which.

    Example:
        >>> from_pretrained("equicolor/shapes-hue4").card.classes
        ('cube', 'cylinder', 'sphere', 'capsule')
    """
    folder = model_folder(folder_or_hub_id, revision)
    return loaded(read_card(folder), folder / CARD, folder / WEIGHTS, model)


def loaded(card: Card, card_path: Path, path: Path, model: nn.Module | None = None) -> nn.Module:
    """The network of a card with the weights in a file, see :func:`from_pretrained`.

    Args:
        card: what it is.
        card_path: where that was read from, for errors.
        path: of the weights; if the card has a checksum, it is that of this file.
        model: the network to load them into, where the card names no architecture.
    """
    shapes = stored_shapes(path)  # no more than that is read, or built, of what does not fit together
    if model is None:
        with torch.device("meta"):  # takes no memory, whatever sizes the card asks for
            built = _built(card, card_path)
        check_fits(built, shapes, path)
        logits = built.config["num_classes"]
        if card.classes is not None and not names_fit(len(card.classes), logits):
            names = f"{len(card.classes)} names of classes"
            raise ValueError(f"{card_path}: classes has {names} for a network with {logits}")
        model = _built(card, card_path)
    network: Any = unwrapped(model)
    check_fits(network, shapes, path)
    weights = read_weights(path, card.sha256)
    check_kinds(network, weights, path)
    if isinstance(network, Model):  # others may have masks of infinities
        check_finite(weights, f"{path} holds no network that computes")
    network.load_state_dict(weights)
    network.card, network.preparation = card, card.preparation
    if not hasattr(network, "preprocess") and card.preparation is not None:
        network.preprocess = card.preparation
    return model.eval()


def read_card(folder: str | os.PathLike[str]) -> Card:
    """Reads the card of a saved network, of this format or an earlier one.

    Args:
        folder: where the network was saved.

    Returns:
        The card.

    Raises:
        FileNotFoundError: there is no card in the folder.

    Example:
        >>> read_card(saved_folder("equicolor/shapes-hue4")).group
        'hue4'
    """
    path = Path(folder) / CARD
    if not path.exists():
        raise FileNotFoundError(f"there is no {CARD} in {path.parent}: expected a folder that save_pretrained wrote")
    return Card.read(path)


def model_folder(folder_or_hub_id: str | os.PathLike[str], revision: str | None = None) -> Path:
    """The folder with the files of a model: the given one, or a copy of the repository of this name on the hub.

    Raises:
        FileNotFoundError: there is neither.
    """
    folder = Path(folder_or_hub_id)
    if folder.is_dir():
        return folder
    name = os.fspath(folder_or_hub_id)
    if not isinstance(folder_or_hub_id, str) or name.count("/") != 1 or name.startswith(("/", ".", "~")):
        raise FileNotFoundError(f"there is no folder {name}")
    if revision is None and (shipped := shipped_folder(name)):
        return shipped
    hub = needed("huggingface_hub")
    _check_sizes(hub, name, revision)
    try:
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=[WEIGHTS, CARD]))
    except Exception as error:
        ours = f" With the package come {', '.join(list_shipped())}." if name.startswith(f"{OWNER}/") else ""
        raise FileNotFoundError(
            f"there is no folder {name} here, and the hub did not give a repository of that name: "
            f"{type(error).__name__}: {error}{ours}"
        ) from error


def _check_sizes(hub: Any, name: str, revision: str | None) -> None:
    """ValueError where the files of a repository are larger than any of ours; where the hub cannot say, nothing."""
    try:
        files = hub.HfApi().model_info(name, revision=revision, files_metadata=True).siblings
    except Exception:  # a copy may be here already; if not, fetching it says what is wrong
        return
    for file in files or ():
        if (file.size or 0) > (most := MOST_FETCHED.get(file.rfilename, math.inf)):
            raise ValueError(
                f"{file.rfilename} of {name} on the hub has {file.size:,} bytes, more than {most:,}, the most that are "
                "fetched. If you trust it, download the repository yourself and give its folder."
            )


def saved_folder(run_or_model: str | os.PathLike[str]) -> Path:
    """Finds the folder of a saved network, also inside of a training run.

    Args:
        run_or_model: the folder of a network or of a run, or the name of a repository; ``~`` stands for the home
            folder.

    Returns:
        The folder that holds the weights and the card.

    Raises:
        ValueError: this is a file.
        FileNotFoundError: there is neither folder nor repository, or the run is not finished.
    """
    place = Path(run_or_model).expanduser()
    if not (place / CARD).exists() and (place / "model" / CARD).is_file():
        return place / "model"
    if (place / "recipe.yaml").is_file() and not (place / CARD).exists():
        command = shlex.join(["equicolor", "train", "--resume", str(place)])
        raise FileNotFoundError(f"the run in {place} is not finished, and has no network yet: go on with {command}")
    if place.is_file():
        raise ValueError(f"{place} is a file: expected the folder that holds it, with {CARD} and the weights")
    return model_folder(place if place.is_dir() else str(run_or_model))


# ------------------------------------------------------------------------------------------------ writing


def _described(
    model: nn.Module,
    classes: Sequence[str] | None,
    preparation: Preparation | None,
    data: Mapping[str, Any] | None,
    recipe: Mapping[str, Any] | None,
    metrics: Mapping[str, Mapping[str, float]] | None,
    license: str | None,
) -> tuple[Card, bytes]:
    """The card and the weights of a network."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a network, a torch.nn.Module, got {type(model).__name__}")
    if isinstance(classes, str):
        raise TypeError(f"classes takes a name for each class, in a list, got {classes!r}")
    network = unwrapped(model)
    config = network.config if isinstance(network, Model) else None
    state = state_of(model)
    if config is not None:
        _check_as_built(network, config, state)
        check_finite(state, "the network could not be read back")
    weights = as_bytes(state)
    checksum = hashlib.sha256(weights).hexdigest()
    before: Card = getattr(network, "card", None) or Card()
    said = before if before.sha256 == checksum else Card()  # of these very weights
    if classes is None and before.classes and (config is None or names_fit(len(before.classes), config["num_classes"])):
        classes = before.classes
    plan = preparation or getattr(network, "preparation", None)
    card = Card(
        architecture=config,
        source=config["name"] if config and is_from_elsewhere(config["name"]) else before.source,
        group=config["group"] if config else _name_of_group(network),
        task=getattr(network, "task", before.task),
        classes=None if classes is None else tuple(map(str, classes)),
        **({} if plan is None else vars(plan)),
        normalization=_normalization(network),
        data=said.data if data is None else dict(data),
        recipe=said.recipe if recipe is None else dict(recipe),
        metrics=said.metrics if metrics is None else _finite(metrics),
        license=license or before.license,
        parameters=_number_of_parameters(network, state),
        sha256=checksum,
    )
    return card, weights


def _finite(metrics: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    """Metrics as JSON takes them, which has no NaN."""
    return {
        split: {name: value if value is not None and math.isfinite(value) else None for name, value in found.items()}
        for split, found in metrics.items()
    }


def _is_users(path: Path) -> bool:
    """Whether there is a page that a user wrote, or changed."""
    return path.exists() and not is_ours(path.read_text(encoding="utf-8", errors="replace"))


def _check_as_built(network: nn.Module, config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """ValueError where the network is no longer what its config builds, so that it could not be read back."""
    try:
        with torch.device("meta"):
            built = create_model(**config)
    except ValueError as error:
        raise ValueError(f"the network could not be read back: {error}") from None
    if built.group != network.group:
        raise ValueError(
            f"the network could not be read back: {config['group']!r} is the name of another group, {built.group!r}. "
            "Give your factor a prefix of its own, and register it: equicolor.register_group"
        )
    expected = {name: value.shape for name, value in built.state_dict().items()}
    if expected != {name: value.shape for name, value in state.items()}:
        raise ValueError(
            f"the network is not what create_model(**model.config) builds ({config['name']}) any more: save it before "
            "optimize_for_inference and before layers are replaced, or save its state_dict yourself"
        )


def _number_of_parameters(network: nn.Module, state: dict[str, Tensor]) -> int | None:
    """Of the whole network; None where FSDP has put others in their places."""
    names = [name for name, _ in network.named_parameters()]
    return sum(state[name].numel() for name in names) if state.keys() >= set(names) else None


def _normalization(model: nn.Module) -> dict[str, list[float]] | None:
    """The mean and std behind the lift, for red, green and blue."""
    for module in model.modules():
        if isinstance(module, Lift):
            return {"mean": module.mean.flatten().tolist(), "std": module.std.flatten().tolist()}
    return None


def _name_of_group(model: nn.Module) -> str | None:
    group = getattr(model, "group", None)
    return None if group is None else str(group)


# ------------------------------------------------------------------------------------------------ reading


def _built(card: Card, path: Path) -> Model:
    architecture = card.architecture
    if architecture is None:
        raise ValueError(
            f"{path} names no architecture of create_model: build the network as it was built before it was saved, and "
            "give it: from_pretrained(folder, model=...)"
        )
    try:
        check_bounds(architecture)
        return create_model(**architecture)
    except Exception as error:  # there is no end to what a file can say
        raise ValueError(f"{path} describes a network that cannot be built: {short(error, 600)}") from None
