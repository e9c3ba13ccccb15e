"""The rendered images and masks as sources, read by row numbers like those of any data set."""

import torch
from torch import Tensor

from equicolor.data._random import uniform
from equicolor.data.shapes._render import Shapes


class Rendered:
    """The embedded 3D shapes, drawn as they are asked for.

    ``drawn`` has the ranges of what varies beside their own factors, drawn for each image: ``saturation``, in [0, 1],
    and ``luminance``, an exact shift of it by more or less light, as in :func:`equicolor.color.shift_luminance`.
    """

    channels = 3

    def __init__(self, image_size: int, drawn: dict[str, tuple[float, float]], seed: int) -> None:
        self._shapes = Shapes(image_size=image_size)
        self._drawn, self._seed = drawn, seed
        self.image_size = image_size

    def __len__(self) -> int:
        return len(self._shapes)

    def read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        amounts = {
            name: low + (high - low) * uniform(rows, self._seed, name) for name, (low, high) in self._drawn.items()
        }
        saturation, luminance = amounts.get("saturation"), amounts.get("luminance")
        images = self._shapes.render(
            rows,
            saturation=None if saturation is None else saturation.float(),
            lighting=None if luminance is None else luminance.exp().float(),
        )
        return images, torch.arange(len(rows))


class RenderedMasks:
    """The masks of the objects on the embedded 3D shapes: 1 where the object covers at least half of a pixel."""

    channels = 1

    def __init__(self, image_size: int) -> None:
        self._shapes = Shapes(image_size=image_size)
        self.image_size = image_size

    def __len__(self) -> int:
        return len(self._shapes)

    def read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        return (self._shapes.coverage(rows)[:, 2:3] >= 0.5).to(torch.uint8), torch.arange(len(rows))
