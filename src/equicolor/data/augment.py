"""Augmentation of whole batches on their device, each sample with its own draw, reproducible from (seed, step).

A pipeline is named by its steps, or by presets of steps, joined by ``+``: ``"cifar"``, ``"photo+resnet-aug"``,
``"crop+flip+gray"``. Resized crops and colour jitter are kornia's. Shifted crops and flips only move whole
pixels, which indexing does two to four times faster; jitter of one colour move alone (``hue-jitter``, ``temp-jitter``)
is this library's own shift, and there is one for every factor that is registered, a user's own among them.

Draws do not depend on any generator's past: step number s of seed k draws the same in every run. So a run that is
resumed at step s goes on exactly as if it had not stopped, and nothing has to be saved.

What a pipeline does without drawing, in training and in testing alike, is no augmentation: it is the *preparation* of
images, which the network is saved with.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from equicolor import color
from equicolor._tools.optional import require
from equicolor._tools.spelling import american, spelled_as
from equicolor.data._random import key
from equicolor.groups import Factor, rgb_factors
from equicolor.models import Preparation, gray

Operation: TypeAlias = Callable[[Tensor], Tensor]

#: The pipelines of the paper's experiments. Where the paper is silent, they are those of the authors' code: its CIFAR
#: networks are trained on shifted and mirrored images, those of photographs (Caltech-101, Pets, Cars, STL-10) on random
#: resized crops, those of 3D Shapes and Tiny-ImageNet on mirrored images, those of Hue-shift MNIST, Camelyon17 and
#: small NORB on the images as they are. ResNet-gray sees no colour, in training and in testing. ResNet-aug is trained
#: under hue jitter of up to a quarter of the circle. Jitter of light and of stain (haematoxylin, eosin, DAB) is ours.
PRESETS: dict[str, tuple[str, ...]] = {
    "none": (),
    "mnist": (),
    "camelyon17": (),
    "small_norb": (),
    "shapes3d": ("flip",),
    "tiny_imagenet": ("flip",),
    "cifar": ("crop", "flip"),
    "photo": ("resized-crop", "flip"),
    "resnet-gray": ("gray",),
    "resnet-aug": ("hue-jitter",),
    "light-jitter": ("temp-jitter", "tint-jitter"),
    "hed-jitter": ("hema-jitter", "eosin-jitter", "dab-jitter"),
}


#: Steps that draw nothing.
_DETERMINED = frozenset({"center-crop", "gray", "gray-world"})
#: Steps that make images of another size of those they are given.
BRING_TO_SIZE = frozenset({"resized-crop", "center-crop"})


@dataclass(frozen=True)
class Step:
    """One step of training.

    A ``geometric`` step moves pixels, and with them masks. One that ``copies`` makes no new values: it takes bytes too.
    """

    operation: Operation
    geometric: bool = False
    copies: bool = False


class Augment(nn.Module):
    """Random changes to batches of RGB images in [0, 1], which stay RGB in [0, 1].

    In training mode (``.train()``, the default) every step applies. In evaluation mode only the ``preparation``, which
    testing shares: images are brought to size by a resize and a centre crop, colours are normalised, grey stays grey.
    Normalising is the network's own.

    Args:
        pipeline: steps and presets joined by ``+``. Steps: ``crop`` (random, after padding by an eighth with black),
            ``flip``, ``resized-crop``, ``center-crop``, ``color-jitter``, ``gray``, at most one of ``gray-world``,
            ``reinhard`` and ``macenko`` (see :func:`equicolor.color.normalize_color`), and for each registered factor
            ``hue-jitter``, ``sat-jitter``, ``temp-jitter``, …: its moves drawn evenly from ± its ``reach``. The name of
            the quantity will do, too: ``saturation-jitter``. British spelling is understood.
        image_size: height and width of the result.
        seed: what all draws depend on, together with the step number.
        rank: the number of this process, where several train one model: each draws for itself.
    """

    def __init__(self, pipeline: str, image_size: int, seed: int = 0, rank: int = 0) -> None:
        super().__init__()
        if image_size < 1:
            raise ValueError(f"image_size must be a positive number of pixels, got {image_size}")
        self.pipeline, self.image_size, self.seed, self.rank = pipeline, image_size, seed, rank
        steps = steps_of(pipeline)
        self._steps = [_step(name)(image_size) for name in steps]
        self.preparation = Preparation(
            image_size,
            crop=_uncut(image_size) if set(steps) & BRING_TO_SIZE else None,
            gray="gray" in steps,
            color_normalization=next((how for how in color.COLOR_NORMALIZATIONS if how in steps), None),
        )

    def forward(self, images: Tensor, step: int = 0, masks: Tensor | None = None) -> Any:
        """Augments a batch by the draws of a step.

        Masks of 0 and 1 move with the pixels; colours do not concern them.

        Args:
            images: RGB in [0, 1], or uint8, ``(B, 3, H, W)``.
            step: the number of the training step; the same step draws the same.
            masks: their masks, ``(B, H, W)``.

        Returns:
            The images; with masks, both.

        Raises:
            ValueError: the images are no batch of RGB images.
        """
        if images.dim() != 4 or images.shape[1] != 3:
            raise ValueError(f"expected a batch of RGB images (B, 3, H, W), got shape {tuple(images.shape)}")
        if not self.training:
            return self.preparation.finish(images) if masks is None else self.preparation.finish(images, masks)
        with _drawing(self.seed, self.rank, step):
            if masks is None:
                return _floats(self._run(images))
            both = torch.cat([_floats(images), masks[:, None].to(torch.get_default_dtype())], dim=1)
            both = self._run(both)
            return both[:, :3], both[:, 3].round().to(masks.dtype)

    def _run(self, layers: Tensor) -> Tensor:
        """All steps, to RGB ``(B, 3, H, W)``, or to RGB and a mask ``(B, 4, H, W)``. Bytes stay so while they can."""
        for step in self._steps:
            if step.copies:
                layers = step.operation(layers)
                continue
            layers = _floats(layers)
            if step.geometric or layers.shape[1] == 3:
                layers = step.operation(layers).clamp(0, 1)  # resampling and jitter overshoot
            else:
                layers = torch.cat([step.operation(layers[:, :3]).clamp(0, 1), layers[:, 3:]], dim=1)
        return layers

    def extra_repr(self) -> str:
        """What ``repr`` shows."""
        return f"{self.pipeline!r}, image_size={self.image_size}, seed={self.seed}, rank={self.rank}"


def steps_of(pipeline: str) -> tuple[str, ...]:
    """The steps that a pipeline's name stands for.

    >>> steps_of("cifar+resnet-gray")
    ('crop', 'flip', 'gray')
    """
    steps: list[str] = []
    for part in spelled(pipeline).split("+"):
        if part not in PRESETS and part not in (*_STEPS, *_jittered()):
            raise ValueError(
                f"unknown augmentation {part!r} in {pipeline!r}: expected presets ({', '.join(PRESETS)}) or steps "
                f"({', '.join([*_STEPS, *_jittered()])}), joined by '+'"
            )
        steps += PRESETS.get(part, (part,))
    if sum(step in BRING_TO_SIZE for step in steps) > 1:
        raise ValueError(
            f"{pipeline!r} brings images to size twice: it may have one of {', '.join(sorted(BRING_TO_SIZE))}"
        )
    if sum(step in color.COLOR_NORMALIZATIONS for step in steps) > 1:
        raise ValueError(
            f"{pipeline!r} normalises colours twice: it may have one of {', '.join(color.COLOR_NORMALIZATIONS)}"
        )
    return tuple(steps)


def is_random(pipeline: str) -> bool:
    """Whether a pipeline draws anything: an image is then another one each time.

    >>> is_random("gray"), is_random("flip+gray")
    (False, True)
    """
    return not _DETERMINED.issuperset(steps_of(pipeline))


def spelled(pipeline: str) -> str:
    """The name of a pipeline in American spelling, as steps and presets have it.

    >>> spelled("flip+colour-jitter+grey")
    'flip+color-jitter+gray'
    """
    names = (*PRESETS, *_STEPS, *_jittered())
    return "+".join(spelled_as(part, names) for part in pipeline.split("+"))


def _floats(images: Tensor) -> Tensor:
    """Bytes divided by 255 as in :func:`equicolor.color.as_images`, by a pass less; floats as they are."""
    if images.dtype == torch.uint8:
        return images.to(torch.get_default_dtype()).div_(255)
    return images if images.is_floating_point() else color.as_images(images)


@contextmanager
def _drawing(seed: int, rank: int, step: int) -> Iterator[None]:
    """Draws inside depend on the arguments alone; draws outside go on as if nothing had been drawn."""
    with torch.random.fork_rng(devices=[]):
        # kornia draws its parameters on the CPU, so the draws are the same for every device.
        torch.default_generator.manual_seed(int(key(seed, f"augment {rank} {step}")) & 0x7FFFFFFFFFFFFFFF)
        yield


# ------------------------------------------------------------------------------------------------ steps


def _kornia() -> Any:
    return require("kornia.augmentation", "augmentation")


def _crop(size: int) -> Step:
    padding = size // 8

    def apply(images: Tensor) -> Tensor:
        padded = nn.functional.pad(images, (padding,) * 4)
        count, _, height, width = padded.shape
        if min(height, width) < size:
            raise ValueError(f"cannot crop {size}×{size} from images of {tuple(images.shape[-2:])}: load them larger")
        top, left = (torch.randint(side - size + 1, (count,)).to(images.device) for side in (height, width))
        windows = padded.unfold(2, size, 1).unfold(3, size, 1)  # every window, as a view
        return windows[torch.arange(count, device=images.device), :, top, left]

    return Step(apply, geometric=True, copies=True)


def _flip(size: int) -> Step:
    def apply(images: Tensor) -> Tensor:
        chosen = (torch.rand(len(images)) < 0.5).nonzero().flatten().to(images.device)
        return images.index_copy(0, chosen, images[chosen].flip(-1))

    return Step(apply, geometric=True, copies=True)


def _resized_crop(size: int) -> Step:
    random = _kornia().RandomResizedCrop((size, size), scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3))
    return Step(random, geometric=True)


def _center_crop(size: int) -> Step:
    return Step(Preparation(size, crop=_uncut(size)).finish, geometric=True)


def _uncut(size: int) -> int:
    """The side of images of which the centre is cut out in testing: 256 for 224."""
    return round(size * 8 / 7)


def _step(name: str) -> Callable[[int], Step]:
    return _STEPS[name] if name in _STEPS else _jitter(_jittered()[name])


def _jittered() -> dict[str, Factor]:
    """The factors by the names of their jitter, by prefix and by quantity; but for those that need arguments."""
    named: dict[str, Factor] = {}
    for prefix, factor in rgb_factors().items():
        named |= {f"{prefix}-jitter": factor, f"{american(factor.quantity.replace(' ', '-').lower())}-jitter": factor}
    return named


def list_jitters() -> tuple[str, ...]:
    """The presets and steps that move colours at random, by their shortest names.

    >>> list_jitters()[:4]
    ('light-jitter', 'hed-jitter', 'color-jitter', 'hue-jitter')
    """
    presets = [name for name in PRESETS if name.endswith("-jitter")]
    return (*presets, "color-jitter", *dict.fromkeys(f"{kind.prefix}-jitter" for kind in _jittered().values()))


def _jitter(factor: Factor) -> Callable[[int], Step]:
    """The moves of a factor, drawn evenly from [-reach, reach)."""

    def apply(images: Tensor) -> Tensor:
        amounts = (2 * torch.rand(len(images)) - 1) * factor.reach
        return factor.move(images, amounts.to(images)[:, None, None, None])

    return lambda size: Step(apply)


def _color_jitter(size: int) -> Step:
    return Step(_kornia().ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1))


def _gray(size: int) -> Step:
    return Step(gray)


def _normalize(how: color.ColorNormalization) -> Callable[[int], Step]:
    return lambda size: Step(partial(color.normalize_color, how=how))


_STEPS: dict[str, Callable[[int], Step]] = {
    "crop": _crop,
    "flip": _flip,
    "resized-crop": _resized_crop,
    "center-crop": _center_crop,
    "color-jitter": _color_jitter,
    "gray": _gray,
    **{how: _normalize(how) for how in color.COLOR_NORMALIZATIONS},
}
