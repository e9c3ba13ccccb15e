"""Files one can trust: a network's weights as safetensors beside a card in JSON, in a folder or on the hub.

A folder holds ``model.safetensors`` and ``config.json``, the names that the Hugging Face hub knows. Reading executes
nothing, and builds nothing that is larger than the weights in the file. The card carries the checksum of the weights,
so that the two are never mistaken for each other's.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from equicolor._tools.environment import version
from equicolor._tools.files import complete_files
from equicolor._tools.optional import require
from equicolor._tools.wrapped import unwrapped
from equicolor.models import Model, create_model, make_kit
from equicolor.nn import Lift

WEIGHTS, CARD = "model.safetensors", "config.json"
_needed = partial(require, purpose="reading and writing models", install="equicolor")
_FORMAT = 1
#: The elements of the largest group that is built because a file says so. A network of your own may have more.
MOST_ELEMENTS = 128


def save_pretrained(model: nn.Module, folder: str | os.PathLike[str], classes: Sequence[str] | None = None) -> Path:
    """Writes ``model`` into ``folder``, so that :func:`from_pretrained` gives it back.

    Files are complete when they appear under their names; what stood there before is replaced only then. What
    torch.compile, DataParallel, DDP, FSDP and lightning's Fabric wrapped is saved without them. Where FSDP keeps a part
    of the network in each process, all of them must call this.

    Args:
        model: a network of :func:`create_model`; or any other, whose architecture the reader then has to provide.
        folder: made where it does not exist.
        classes: the names of the logits, for whoever uses the model. Of a single logit, the name of the class that it
            speaks for, or the names of both that it tells apart, that one second.
    """
    safetensors = _needed("safetensors.torch")
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a network, a torch.nn.Module, got {type(model).__name__}")
    network = unwrapped(model)
    config = network.config if isinstance(network, Model) else None
    if isinstance(classes, str):
        raise TypeError(f"classes takes a name for each class, in a list, got {classes!r}")
    if classes is not None and config is not None:
        count = config["num_classes"]
        if len(classes) not in ((1, 2) if count == 1 else (count,)):
            raise ValueError(f"got {len(classes)} names of classes for a model with {count}")
    state = _state(model)
    if config is not None:
        _check_as_built(network, config, state)
    folder = Path(folder)
    weights = safetensors.save(state, metadata={"format": "pt"})
    card = {
        "library_name": "equicolor",
        "library_version": version("equicolor"),
        "format": _FORMAT,
        "architecture": config,
        "group": config["group"] if config else _name_of_group(network),
        "classes": None if classes is None else list(map(str, classes)),
        "normalisation": _normalisation(network),
        "parameters": _number_of_parameters(network, state),
        "sha256": hashlib.sha256(weights).hexdigest(),
    }
    with complete_files(folder, last=CARD, durable=True) as files:
        (files / WEIGHTS).write_bytes(weights)
        (files / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8", newline="\n")
    return folder


def from_pretrained(
    folder_or_hub_id: str | os.PathLike[str], model: nn.Module | None = None, revision: str | None = None
) -> nn.Module:
    """The network that :func:`save_pretrained` wrote, in eval mode, on the CPU.

    Only JSON and tensors are read: nothing from the files is executed. And nothing is built that is larger than the
    weights in the file, or on a group of more than 128 elements, which would take long.

    Args:
        folder_or_hub_id: a folder, or ``"owner/name"`` of a repository on the Hugging Face hub.
        model: the network to load the weights into, where the card names no architecture of :func:`create_model`: one
            made by :func:`convert`, say, or on a larger group.
        revision: a branch, tag or commit on the hub.

    Raises:
        FileNotFoundError: a file is missing, or there is no such folder or repository.
        ValueError: a file is damaged, or does not fit the network; the message says which.
    """
    folder = model_folder(folder_or_hub_id, revision)
    card = read_card(folder)
    weights = _weights(folder / WEIGHTS, card.get("sha256"))
    if model is None:
        with torch.device("meta"):  # takes no memory, whatever sizes the card asks for
            _check_fits(_built(card, folder / CARD), weights, folder / WEIGHTS)
        model = _built(card, folder / CARD)
    _check_fits(unwrapped(model), weights, folder / WEIGHTS)
    unwrapped(model).load_state_dict(weights)
    return model.eval()


def push_to_hub(model: nn.Module, hub_id: str, classes: Sequence[str] | None = None, **options: Any) -> str:
    """Publishes ``model`` as the repository ``hub_id`` (``"owner/name"``) on the Hugging Face hub; returns its address.

    ``options`` go to ``huggingface_hub.HfApi.upload_folder``: ``commit_message``, ``revision``, ``token`` and others.
    """
    hub = _needed("huggingface_hub")
    api = hub.HfApi(token=options.pop("token", None))
    api.create_repo(hub_id, exist_ok=True, private=options.pop("private", None))
    with tempfile.TemporaryDirectory() as folder:
        save_pretrained(model, folder, classes)
        (Path(folder) / "README.md").write_text(_model_card(hub_id, unwrapped(model)), encoding="utf-8")
        return str(api.upload_folder(repo_id=hub_id, folder_path=folder, **options))


def read_card(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The card beside the weights: architecture, group, classes, normalisation, the version that wrote it."""
    path = Path(folder) / CARD
    if not path.is_file():
        raise FileNotFoundError(f"there is no {CARD} in {path.parent}: expected a folder that save_pretrained wrote")
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}. Save or download the model again.") from None
    if not isinstance(card, dict) or card.get("library_name") != "equicolor":
        raise ValueError(f'{path} is no card of equicolor\'s: it does not say "library_name": "equicolor"')
    if not isinstance(card.get("format"), int) or card["format"] > _FORMAT:
        raise ValueError(
            f"{path} was written in format {card.get('format')!r} by equicolor {card.get('library_version')}, newer "
            "than this version can read: upgrade equicolor"
        )
    return card


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
    hub = _needed("huggingface_hub")
    try:
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=[WEIGHTS, CARD]))
    except Exception as error:
        raise FileNotFoundError(
            f"there is no folder {name} here, and the hub did not give a repository of that name: "
            f"{type(error).__name__}: {error}"
        ) from error


def _built(card: dict[str, Any], path: Path) -> Model:
    architecture = card.get("architecture")
    if architecture is None:
        raise ValueError(
            f"{path} names no architecture of create_model: build the network as it was built before it was saved, and "
            "give it: from_pretrained(folder, model=...)"
        )
    try:
        _check_order(**architecture)
        return create_model(**architecture)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path} describes a network that cannot be built: {error}") from None


def _check_order(group: object = None, canonicalize: object = None, **_: Any) -> None:
    """ValueError for a group on which a network would take long to build: no file is trusted with that."""
    if canonicalize is not None:
        _check_order(canonicalize.get("group") if isinstance(canonicalize, dict) else canonicalize)
    lives_on = make_kit(group).group if isinstance(group, str) else None
    if lives_on is not None and lives_on.order > MOST_ELEMENTS:
        raise ValueError(
            f"the group {group!r} has more than {MOST_ELEMENTS} elements, the most that are built because a file says "
            "so. If you trust it, build the network yourself and give it: from_pretrained(folder, model=...)"
        )


def _weights(path: Path, checksum: str | None) -> dict[str, Tensor]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path.name} in {path.parent}: the weights are missing")
    safetensors = _needed("safetensors.torch")
    data = path.read_bytes()
    if checksum is not None and hashlib.sha256(data).hexdigest() != checksum:
        raise ValueError(
            f"{path} is not the file that {CARD} beside it was written for (its SHA-256 differs): truncated, or from "
            "another model. Save or download both again."
        )
    try:
        weights: dict[str, Tensor] = safetensors.load(data)
    except Exception as error:
        raise ValueError(f"{path} is damaged: {error}. Save or download the model again.") from None
    return weights


def _check_fits(model: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    expected = model.state_dict()
    problems = [f"{name} is missing" for name in expected if name not in weights]
    problems += [f"{name} has no place" for name in weights if name not in expected]
    problems += [
        f"{name} has shape {tuple(weights[name].shape)}, expected {tuple(value.shape)}"
        for name, value in expected.items()
        if name in weights and weights[name].shape != value.shape
    ]
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise ValueError(f"{path} does not fit the network: {'; '.join(problems[:3])}{more}")


def _state(model: nn.Module) -> dict[str, Tensor]:
    """The state as safetensors takes it: on the CPU, contiguous, each tensor with memory of its own."""
    return {name: value.detach().to("cpu", copy=True).contiguous() for name, value in _gathered(model).items()}


def _gathered(model: nn.Module) -> dict[str, Tensor]:
    """The state of what a model wraps, under its own names; whole, where processes have it in parts and all ask."""
    model = getattr(model, "_forward_module", model)  # Fabric's asks the network, which may not know of its parts
    if not any("_fsdp_wrapped_module" in module._modules for module in model.modules()) and not any(
        hasattr(parameter, "full_tensor") for parameter in model.parameters()
    ):
        return unwrapped(model).state_dict()
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    state: dict[str, Any] = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
    return state


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


def _normalisation(model: nn.Module) -> dict[str, list[float]] | None:
    """The mean and std behind the lift, for red, green and blue."""
    for module in model.modules():
        if isinstance(module, Lift):
            return {"mean": module.mean.flatten().tolist(), "std": module.std.flatten().tolist()}
    return None


def _name_of_group(model: nn.Module) -> str | None:
    group = getattr(model, "group", None)
    return None if group is None else str(group)


def _model_card(hub_id: str, model: nn.Module) -> str:
    group = _name_of_group(model) or "no group"
    network = "" if isinstance(model, Model) else ", model=..."  # the network that the weights belong to
    return (
        "---\nlibrary_name: equicolor\ntags:\n- equicolor\n- image-classification\n---\n\n"
        f"# {hub_id.split('/')[-1]}\n\nA colour-equivariant network ({group}).\n\n"
        f'```python\nimport equicolor as ec\n\nmodel = ec.from_pretrained("{hub_id}"{network})\n```\n'
    )
