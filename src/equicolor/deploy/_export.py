"""A network as a file of any format, which is there only if it computes what the network does."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn

from equicolor._tools.files import complete_files
from equicolor._tools.optional import require
from equicolor.deploy._compare import Agreement, agreement, expected_of, made_up_images
from equicolor.deploy._graph import plain_copy
from equicolor.deploy._onnx import export_onnx
from equicolor.deploy._program import CARD_FILE, export_program
from equicolor.files import CARD_KEY, Card, card_in, card_of, from_single, save_single
from equicolor.models import Preparation

#: What a network is written as: ONNX, a program of PyTorch, or weights with their card inside.
Format: TypeAlias = Literal["onnx", "torch-export", "safetensors"]

#: How the names of files end, by format.
SUFFIXES: dict[Format, str] = {"onnx": ".onnx", "torch-export": ".pt2", "safetensors": ".safetensors"}
#: The largest difference that rounding explains, of numbers up to 1; and where PIL rounds pixels another way.
ROUNDING, ROUNDED_PIXELS = 1e-3, 2e-2


@dataclass(frozen=True)
class Exported:
    """A file that was exported, and how well it agrees with the network that it was made of.

    Attributes:
        path: where it is.
        bytes: its size, with what stands in a second file.
        agreement: with the network, on the images that were given, or on images that were made up.
    """

    path: Path
    bytes: int
    agreement: Agreement


def export_network(
    model: nn.Module,
    path: str | os.PathLike[str],
    to: Format = "onnx",
    *,
    image_size: int | None = None,
    with_preparation: bool = False,
    images: Tensor | None = None,
    tolerance: float | None = None,
) -> Exported:
    """Exports a network to a file, and compares the two.

    A file that differs is an error, and not left behind.

    Args:
        model: any network; left as it is.
        path: where to.
        to: ``"onnx"``, see :func:`export_onnx`; ``"torch-export"``, see :func:`export_program`; ``"safetensors"``, the
            weights and the card, see :func:`equicolor.files.save_single`.
        image_size: height and width of what the network is shown; by default those of ``model.preparation``.
        with_preparation: whether the file takes uint8 images of any size and gives probabilities.
        images: images to compare on, uint8 ``(B, C, H, W)``; by default some that are made up.
        tolerance: the largest difference allowed, of numbers up to 1, and of larger ones in proportion; by default what
            rounding explains.

    Returns:
        The file and how well it agrees.

    Raises:
        ValueError: the file computes something else, or the network cannot be written in this format.
    """
    if to not in get_args(Format):
        raise ValueError(f"unknown format {to!r}: expected one of {', '.join(map(repr, get_args(Format)))}")
    if with_preparation and to == "safetensors":
        raise ValueError("safetensors hold weights and no graph, which preparation could be part of: take onnx")
    path = Path(path)
    plan = preparation_of(model, image_size)
    if images is None:
        images = made_up_images(plain_copy(model), plan.side)
    expected = expected_of(model, plan, images, with_preparation)
    with complete_files(path.parent, last=path.name) as files:
        draft = files / path.name
        if to == "safetensors":
            save_single(model, draft)
        else:
            write = export_onnx if to == "onnx" else export_program
            write(model, draft, plan.image_size, with_preparation)
        found = open_exported(draft, to, plain_copy(model))(images if with_preparation else plan(images))
        result = agreement(found, expected)
        most = tolerance or (ROUNDED_PIXELS if with_preparation else ROUNDING)
        check_agreement(result.largest / result.scale, most, f"as {to}", "in its largest number")
        size = sum(file.stat().st_size for file in files.iterdir())
    return Exported(path, size, result)


def check_agreement(difference: float, most: float, how: str, where: str) -> None:
    """ValueError where a file differs too much from the network."""
    if not difference <= most:
        raise ValueError(
            f"written {how}, the network computes something else: the difference is {difference:.2g} {where}, and at "
            f"most {most:.2g} is allowed. No file was left behind; a larger tolerance allows it"
        )


def preparation_of(model: nn.Module, image_size: int | None = None) -> Preparation:
    """How images are prepared for a network that is to be exported.

    Args:
        model: the network.
        image_size: height and width of what it is shown; by default those of its card.

    Returns:
        The preparation.

    Raises:
        ValueError: nobody says in which size.
    """
    plan = card_of(model).preparation
    size = image_size or (plan.image_size if plan else getattr(model, "image_size", None))
    if size is None:
        raise ValueError("nobody says which size images have for this network: give an image_size")
    return (plan or Preparation(size)).at(size)


def open_exported(
    path: str | os.PathLike[str], to: Format | None = None, model: nn.Module | None = None
) -> Callable[[Tensor], Tensor]:
    """Opens a file that :func:`export_network` wrote, as a function from images to logits or probabilities.

    Args:
        path: the file.
        to: its format; by default as its name ends.
        model: the network to load weights into, where the card names no architecture.

    Returns:
        The function.

    Raises:
        ValueError: the end of its name does not say what it is.
    """
    path = Path(path)
    to = to or _format_of(path)
    if to == "onnx":
        session = onnx_session(path)
        return lambda images: torch.from_numpy(session.run(None, {"images": images.numpy()})[0])
    module: Any
    if to == "torch-export":
        module = torch.export.load(path).module()
    else:
        module = from_single(path, model if card_in(path).architecture is None else None)

    def computed(images: Tensor) -> Tensor:
        with torch.no_grad():
            result: Tensor = module(images)
            return result.float()

    return computed


def exported_card(path: str | os.PathLike[str], to: Format | None = None) -> Card:
    """Reads the card inside of a file that :func:`export_network` wrote, of any format.

    Args:
        path: the file.
        to: its format; by default as its name ends.

    Returns:
        The card.

    Raises:
        ValueError: there is none.
    """
    path = Path(path)
    to = to or _format_of(path)
    if to == "safetensors":
        return card_in(path)
    text: str | bytes | None
    if to == "onnx":
        text = onnx_session(path).get_modelmeta().custom_metadata_map.get(CARD_KEY)
    else:
        beside: dict[str, Any] = {CARD_FILE: ""}
        torch.export.load(path, extra_files=beside)
        text = beside[CARD_FILE]
    if not text:
        raise ValueError(f"{path} has no card of equicolor's")
    return Card.from_json(text if isinstance(text, str) else text.decode())


def _format_of(path: Path) -> Format:
    for to, suffix in SUFFIXES.items():
        if path.suffix.lower() == suffix:
            return to
    raise ValueError(f"the name of {path} says no format: expected an end of {', '.join(SUFFIXES.values())}")


def onnx_session(path: str | os.PathLike[str], provider: str = "CPUExecutionProvider") -> Any:
    """Opens an ONNX file with onnxruntime, with as many threads as PyTorch has, and silent but for errors.

    Args:
        path: the file.
        provider: the execution provider of onnxruntime.

    Returns:
        The session.
    """
    runtime = require("onnxruntime", "running ONNX files", install="equicolor[onnx]")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3  # errors
    return runtime.InferenceSession(os.fspath(path), options, providers=[provider])
