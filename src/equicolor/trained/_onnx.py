"""A network that onnxruntime computes: an ONNX file of ``export_onnx``, or an opened network, exported for a moment."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

import torch
from torch import Tensor, nn

from equicolor._tools.devices import chosen_device
from equicolor._tools.optional import require
from equicolor._tools.words import first_line
from equicolor.color import as_images
from equicolor.deploy import export_onnx, onnx_session
from equicolor.files import CARD_KEY, Card
from equicolor.models import Model, Preparation
from equicolor.trained._open import Opened, open_model

#: onnxruntime's word for a kind of device of PyTorch's.
_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


#: Of a probability of 0, which has none: its logit is that of a probability as small as floats have them.
_LEAST = torch.finfo(torch.float32).tiny


class OnnxNetwork(nn.Module):
    """An ONNX file as a network, from RGB images in [0, 1] to logits.

    Of a file that prepares images itself, the logits are the logarithms of its probabilities, whose softmax they are.

    Args:
        path: a file that :func:`equicolor.export_onnx` wrote.
        device: ``"cpu"``, ``"cuda"`` if onnxruntime is made for it, or ``"auto"``.

    Attributes:
        card: what the file says about itself.
        image_size: height and width of the images that the network sees.
        prepares: whether the file prepares images itself.
        preparation: how images are prepared for it; of a file that prepares them itself, how they are brought to size.

    Raises:
        ValueError: it is no such file, or the device cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str], device: str = "auto") -> None:
        super().__init__()
        runtime = require("onnxruntime", "the backend onnx", install="equicolor[onnx]")
        provider = _provider(runtime, device)
        try:
            self._session = onnx_session(path, provider)
        except Exception as error:  # a damaged file can fail in any way
            raise ValueError(f"{path} cannot be read as an ONNX file: {first_line(error)}") from None
        given = self._session.get_modelmeta().custom_metadata_map.get(CARD_KEY)
        inputs = [(each.name, each.type, each.shape) for each in self._session.get_inputs()]
        outputs = [each.name for each in self._session.get_outputs()]
        kind = ([each[:2] for each in inputs], outputs)
        self.prepares = kind == ([("images", "tensor(uint8)")], ["probabilities"])
        if given is None or not (self.prepares or kind == ([("images", "tensor(float)")], ["logits"])):
            raise ValueError(
                f"{path} is no file of equicolor.export_onnx: expected the metadata {CARD_KEY}, an input 'images' of "
                "floats and an output 'logits', or of bytes and 'probabilities'"
            )
        try:
            self.card = Card.from_json(given)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        self.preparation: Preparation | None = self.card.preparation
        if self.prepares:
            if self.preparation is None:
                raise ValueError(f"{path} prepares images itself, and its card does not say to which size")
            self.image_size = self.preparation.image_size
            self.preparation = Preparation(self.preparation.side, fit=self.preparation.fit)
            return
        shape = inputs[0][2]
        if len(shape) != 4 or not isinstance(shape[2], int) or shape[2] != shape[3]:
            raise ValueError(f"{path} takes images of shape {shape}, expected squares of one size")
        self.image_size = shape[2]

    def forward(self, images: Tensor) -> Tensor:
        """Computes the logits of images.

        Args:
            images: ``(B, C, S, S)``, uint8 or in [0, 1], of the size that ``preparation`` makes them.

        Returns:
            Logits, ``(B, classes)``.
        """
        images = as_images(images, channels=None).float().cpu()
        if self.prepares:
            images = (images * 255).round().byte()
        (found,) = self._session.run(None, {"images": images.contiguous().numpy()})
        computed = torch.from_numpy(found)
        return computed.clamp(min=_LEAST).log() if self.prepares else computed


def _provider(runtime: object, device: str) -> str:
    kind = chosen_device(device).type
    there = cast("list[str]", runtime.get_available_providers())  # type: ignore[attr-defined]
    provider = _PROVIDERS.get(kind)
    if provider in there:
        return str(provider)
    if device == "auto":
        return _PROVIDERS["cpu"]
    raise ValueError(f"this onnxruntime cannot use {device!r}: it has {', '.join(there)}")


def open_onnx(path: str | os.PathLike[str], device: str = "auto", image_size: int | None = None) -> Opened:
    """Opens the network in an ONNX file that :func:`equicolor.export_onnx` wrote.

    Args:
        path: the file.
        device: as for :class:`OnnxNetwork`.
        image_size: height and width of its images; an error if they are not those of the file.

    Returns:
        The network and its card.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is for images of another size.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    network = OnnxNetwork(path, device)
    if image_size not in (None, network.image_size):
        raise ValueError(
            f"{path} takes images of {network.image_size}×{network.image_size} pixels alone, not of {image_size}: give "
            "the network that it was made of, or export that with another image_size"
        )
    if network.preparation is not None and not network.prepares:
        network.preparation = network.preparation.at(network.image_size)
    return Opened(cast("Model", network), network.card)


def open_network(
    place: str | os.PathLike[str],
    device: str = "auto",
    image_size: int | None = None,
    backend: Literal["torch", "onnx"] = "torch",
) -> Opened:
    """Opens a trained network by whatever the user has of it.

    Args:
        place: an ONNX file, or what :func:`open_model` takes.
        device: as for :func:`open_model`.
        image_size: show it images of another size than that of its training.
        backend: what computes it: ``"torch"``, or ``"onnx"``, which is onnxruntime. ONNX files are computed by that
            anyway.

    Returns:
        The network and its card.
    """
    path = Path(place).expanduser()
    if is_onnx(path):
        return open_onnx(path, device, image_size)
    opened = open_model(place, device, image_size)
    return as_onnx(opened, device) if backend == "onnx" else opened


def is_onnx(place: str | os.PathLike[str]) -> bool:
    """Whether this names an ONNX file, and not a folder or a repository.

    Args:
        place: a path or a name.

    Returns:
        True for an ONNX file.
    """
    path = Path(place).expanduser()
    return path.suffix.lower() == ".onnx" and not path.is_dir()


def as_onnx(opened: Opened, device: str = "auto") -> Opened:
    """Makes onnxruntime compute a network.

    Args:
        opened: the network.
        device: as for :class:`OnnxNetwork`.

    Returns:
        The same network, computed by onnxruntime.
    """
    plan = opened.preparation or Preparation(opened.model.image_size)
    with tempfile.TemporaryDirectory(prefix="equicolor-", ignore_cleanup_errors=True) as folder:
        network = OnnxNetwork(export_onnx(opened.model, Path(folder) / "model.onnx", plan.image_size), device)
    network.preparation = opened.preparation
    return replace(opened, model=cast("Model", network))
