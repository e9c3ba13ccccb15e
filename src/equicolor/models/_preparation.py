"""How images are prepared for a network, the same way every time: brought to size, cut, colours normalised, made grey.

What is random, and only done in training, is augmentation, and lives in ``data``. Normalising is the network's own.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, overload

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from equicolor._tools.images import LONGEST, CorruptImageError, Decoding, Fit, decode, picture, said
from equicolor._tools.renamed import renamed
from equicolor.color import ColorNormalization, as_images, check_color_normalization, check_range, normalize_color

#: A file, an image of PIL's, an array ``(H, W, 3)``, a tensor ``(C, H, W)`` or a batch ``(B, C, H, W)``; or several.
Images: TypeAlias = str | os.PathLike[str] | Tensor | NDArray[np.uint8] | Sequence[Any] | Any

#: What red, green and blue add to the brightness (ITU-R BT.601).
_BRIGHTNESS = (0.299, 0.587, 0.114)


@renamed(grey="gray")
@dataclass(frozen=True)
class Preparation:
    """How images are prepared for a network: what is done to every image before it, in this order.

    Args:
        image_size: height and width of what the network sees.
        resize: images are first fitted into a square of this side; by default of ``image_size``.
        fit: how they are fitted: ``"crop"`` scales the short side and cuts out the centre, ``"stretch"`` scales both
            sides.
        crop: the square is then scaled to this side, and its centre of ``image_size`` cut out; None: it stays whole.
        gray: whether colours are taken away; three equal channels remain.
        color_normalization: what is done to the colours of each image before: ``"gray-world"``, ``"reinhard"`` or
            ``"macenko"``, see :func:`equicolor.color.normalize_color`; None: nothing.

    Example:
        >>> Preparation(24, gray=True)(torch.rand(2, 3, 40, 32)).shape
        torch.Size([2, 3, 24, 24])
    """

    image_size: int
    resize: int | None = None
    fit: Fit = "crop"
    crop: int | None = None
    gray: bool = False
    color_normalization: ColorNormalization | None = None

    def __post_init__(self) -> None:
        Decoding(self.image_size, self.fit)  # says what is wrong with them
        if self.resize is None:
            object.__setattr__(self, "resize", self.image_size)
        Decoding(self.side, self.fit)
        if self.crop is None and self.side != self.image_size:
            raise ValueError(f"images fitted into {self.side}×{self.side} are not of {self.image_size}: give crop")
        if self.crop is not None and self.crop < self.image_size:
            raise ValueError(f"cannot cut {self.image_size}×{self.image_size} out of {self.crop}×{self.crop}")
        if self.color_normalization is not None:
            check_color_normalization(self.color_normalization)

    @property
    def side(self) -> int:
        """The side of the square that images are fitted into first."""
        return self.image_size if self.resize is None else self.resize

    def at(self, image_size: int) -> "Preparation":
        """The same preparation for a network that is to see images of another size.

        Args:
            image_size: height and width of what the network sees.

        Returns:
            The preparation.
        """
        if image_size == self.image_size:
            return self
        scaled = [round(s * image_size / self.image_size) if s else None for s in (self.side, self.crop)]
        return replace(self, image_size=image_size, resize=scaled[0], crop=scaled[1])

    @overload
    def __call__(self, images: Images) -> Tensor: ...

    @overload
    def __call__(self, images: Images, masks: Tensor) -> tuple[Tensor, Tensor]: ...

    def __call__(self, images: Images, masks: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
        """A batch that the network takes.

        Args:
            images: the path of a file; an image of PIL's or an array ``(H, W, 3)``, uint8; a tensor ``(C, H, W)`` or
                ``(B, C, H, W)``, uint8 or in [0, 1]; or a list of any of these.
            masks: of a batch, ``(B, H, W)``: cut as the images are.

        Returns:
            Images in [0, 1], ``(B, C, image_size, image_size)``; with masks, both.

        Raises:
            CorruptImageError: a file cannot be read as an image; the message names it.
        """
        if masks is None:
            return self.finish(self._fitted(images))
        if not isinstance(images, Tensor):
            raise TypeError(f"masks go with a batch of images, a tensor, got {type(images).__name__}")
        pictures = self._fitted(images)
        fitted = _scaled(masks[:, None].to(pictures), self.side, self.fit)[:, 0]
        return self.finish(pictures, fitted.round().to(masks.dtype))

    @overload
    def finish(self, images: Tensor) -> Tensor: ...

    @overload
    def finish(self, images: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]: ...

    def finish(self, images: Tensor, masks: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
        """Does what follows on the first fitting, for images that were loaded in that size: the centre, and colours.

        Args:
            images: images in [0, 1] or uint8, ``(B, C, H, W)``.
            masks: their masks, ``(B, H, W)``, cut as the images are.

        Returns:
            Images in [0, 1]; with masks, both.
        """
        images = as_images(images, channels=None)
        if self.crop is not None:
            images = self._centre(images).clamp(0, 1)
            if masks is not None:
                masks = self._centre(masks[:, None].to(images))[:, 0].round().to(masks.dtype)
        if self.color_normalization is not None:
            images = normalize_color(images, self.color_normalization)
        if self.gray:
            images = gray(images)
        return images if masks is None else (images, masks)

    def _fitted(self, images: Images) -> Tensor:
        if isinstance(images, Tensor):
            batch = as_images(images, channels=None)
            if batch.dim() > 4:
                raise ValueError(f"expected an image (C, H, W) or a batch (B, C, H, W), got shape {tuple(batch.shape)}")
            check_range(batch)  # here: what is normalised already would be clipped below, and nobody would know
            return _scaled(batch if batch.dim() == 4 else batch[None], self.side, self.fit)
        if isinstance(images, str | os.PathLike):
            return _tensor(_read(Path(images).expanduser(), Decoding(self.side, self.fit)))
        if isinstance(images, Sequence):
            if not len(images):
                raise ValueError("there are no images in an empty list")
            return torch.cat([self._fitted(image) for image in images])
        return _tensor(picture(images, Decoding(self.side, self.fit)))

    def _centre(self, layers: Tensor) -> Tensor:
        """The short side scaled to ``crop``, then the centre cut out."""
        assert self.crop is not None
        height, width = layers.shape[-2:]
        if min(height, width) != self.crop:
            scaled = [max(self.crop, round(side * self.crop / min(height, width))) for side in (height, width)]
            layers = F.interpolate(layers, scaled, mode="bilinear", antialias=True)
        return _cut(layers, self.image_size, self.image_size)


def gray(images: Tensor) -> Tensor:
    """Takes the colours out of RGB images; three equal channels remain.

    Args:
        images: RGB in [0, 1], ``(B, 3, H, W)``.

    Returns:
        Their brightness (ITU-R BT.601), ``(B, 3, H, W)``.

    Example:
        >>> gray(torch.tensor([1.0, 0.0, 0.0]).view(1, 3, 1, 1)).flatten().tolist()
        [0.29899999499320984, 0.29899999499320984, 0.29899999499320984]
    """
    red, green, blue = as_images(images).unbind(-3)
    brightness = red * _BRIGHTNESS[0] + green * _BRIGHTNESS[1] + blue * _BRIGHTNESS[2]
    return brightness.unsqueeze(-3).expand_as(images)


def _read(path: Path, how: Decoding) -> NDArray[np.uint8]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        return decode(path, how, lambda: str(path))
    except CorruptImageError as error:  # whose advice is for data sets
        raise CorruptImageError(f"{path} cannot be read as an image ({said(error.__cause__ or error)})") from error


def _tensor(image: NDArray[np.uint8]) -> Tensor:
    """One RGB image ``(S, S, 3)`` of bytes as a batch."""
    return as_images(torch.from_numpy(image.copy()).permute(2, 0, 1)[None])


def _scaled(layers: Tensor, side: int, fit: Fit) -> Tensor:
    """``(B, C, H, W)`` fitted into a square; untouched where they have that size."""
    height, width = layers.shape[-2:]
    if (height, width) == (side, side):
        return layers
    short = min(height, width)
    if fit == "crop" and max(height, width) > LONGEST * short:
        height, width = (min(side, LONGEST * short + side % 2) for side in (height, width))
        layers = _cut(layers, height, width)
    size = [side, side] if fit == "stretch" else [max(side, round(s * side / short)) for s in (height, width)]
    if size != [height, width]:
        layers = F.interpolate(layers, size, mode="bilinear", antialias=True).clamp(0, 1)
    return _cut(layers, side, side)


def _cut(layers: Tensor, height: int, width: int) -> Tensor:
    top, left = (layers.shape[-2] - height) // 2, (layers.shape[-1] - width) // 2
    return layers[..., top : top + height, left : left + width]
