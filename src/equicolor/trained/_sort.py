"""Sorting images by hue with the features of a hue-equivariant network: the paper's rule, and what is continuous in it.

*The band.* The paper compares two images by their features on the hue group, Ψ, and asks which element aligns them:

    argmin_k ‖ϕ(h_k, Ψ(x₁)) - Ψ(x₂)‖.

ϕ only permutes, so both norms stay what they are, and the argmin of the distance is the argmax of the correlation

    c_k = ⟨ϕ(h_k, Ψ(x₁)), Ψ(x₂)⟩ = Σ_j ⟨Ψ(x₁)_{j+k}, Ψ(x₂)_j⟩.

If x₂ is x₁ turned by k·360°/n, equivariance makes c_k the largest. That k is the band of x₂ as seen from x₁. What a
feature has in common with all its turned versions, its mean over the hues, adds the same to every c_k: it is removed
beforehand, and what remains is scaled to norm 1, so that c_k is a correlation in [-1, 1].

*Within the band.* Element j of Ψ(x) is s(j·360°/n), where s(α) is the feature of x turned by α: Ψ samples a function on
the circle. If x₂ is x₁ turned by any angle θ, then Ψ(x₂) samples s(α + θ), and where s has no frequencies from n/2 on,
c_k samples R(360°·k/n - θ), with R(t) = Σ_m a_m cos(mt) the autocorrelation of s. Its a_m are squares, so R is largest
at 0, and the largest value of the curve through the c_k is at θ exactly. That curve is the trigonometric polynomial of
the frequencies 0 < m < n/2: for n = 3 and 4 a single wave, whose crest is the phase of the first Fourier component.
(Frequency n/2 of an even n is left out: its phase cannot be seen in n samples, and it would pull all crests to
the middle or the edges of a band.) The crest is looked for inside the band that the paper's rule chose.

*Between the elements.* The s of a network is not that smooth, and with n = 3 or 4 samples the higher frequencies pass
for low ones. But images can be turned by any angle: the features of x turned by i/m of a step, i = 0 … m-1, sample s at
n·m places together. The same formulas then hold with n·m for n; the bands are still n, chosen by the paper's sum over m
pairs of images turned alike; and the mean that is removed is that over the elements, for each i. m is ``substeps``.

*The reference.* One image is a noisy reference for a thousand others. So all are aligned to it, what was aligned is
averaged, and all are aligned to the average, until no band changes; each round can only raise the sum of correlations.
The average lives in the frame of the reference image, whose own band is 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from equicolor._tools.crest import crest
from equicolor.color import as_images
from equicolor.groups import Factor, Group
from equicolor.measure import evaluating, layer_outputs

#: A feature whose part that depends on the hue is a smaller share of the whole is that of a grey image, and rounding.
_COLOURLESS = 2e-6


@dataclass(frozen=True, eq=False)
class HuePositions:
    """Where images stand on the circle of hues, as seen from one of them.

    Attributes:
        band: the paper's argmin over the group for each image, ``(B,)``, in 0 … n-1.
        degrees: band·360°/n, refined by at most half a band to either side, ``(B,)``; NaN where an image has no hue.
        alignment: the correlation with the reference there, ``(B,)``: how much of the feature agrees.
    """

    band: Tensor
    degrees: Tensor
    alignment: Tensor

    @property
    def order(self) -> Tensor:
        """The images in the order of their hues, ``(B,)``, from the first band on; those without hue come last."""
        return torch.argsort(self.degrees.nan_to_num(nan=math.inf), stable=True)

    def sections(self, hues: Factor) -> list[tuple[str, list[int]]]:
        """The images of each band, in their order; at last those without hue.

        Args:
            hues: the hues of the group.

        Returns:
            For each band, the name of its hue and its images.
        """
        order, grey = self.order.tolist(), self.degrees.isnan().tolist()
        bands = [
            (f"{hues.amount(k):g}{hues.unit}", [i for i in order if self.band[i] == k and not grey[i]])
            for k in hues.offsets
        ]
        return [*bands, ("no hue", [i for i in order if grey[i]])]


def hue_factor(group: Group | None) -> Factor:
    """The hues among the factors of a group: the first that goes around a circle.

    Args:
        group: the group; None for a conventional network.

    Returns:
        The factor.

    Raises:
        ValueError: where there is nothing to sort by.
    """
    hues = [factor for factor in (group.factors if group else ()) if factor.closes]
    if not hues or hues[0].order < 2:
        raise ValueError(
            f"sorting by hue takes a network on a group with hues, such as 'hue4', got {group or 'a conventional one'}"
        )
    return hues[0]


def on_hues(features: Tensor, group: Group) -> Tensor:
    """Gives a feature on a group an axis for its hues; all that is not a hue goes into the last.

    Args:
        features: a feature on the group, ``(G·B, *)``.
        group: the group, with n hues.

    Returns:
        The same values, ``(B, n, D)``.

    Example:
        >>> from equicolor.groups import Hue
        >>> on_hues(torch.rand(12 * 5, 16, 8, 8), Hue(12)).shape
        torch.Size([5, 12, 1024])
    """
    axis = [factor.closes for factor in group.factors].index(True)
    split = group.split(features)
    batch = len(group.shape)
    return split.movedim((batch, axis), (0, 1)).flatten(2)


def penultimate_map(model: nn.Module, images: Tensor, group: Group) -> str:
    """The name of the layer whose output is the paper's Ψ: the last map on the group before the last weights.

    Args:
        model: a network from images to logits.
        images: a batch to try it on.
        group: what its features live on.

    Returns:
        The name.

    Raises:
        ValueError: there is no such map.

    Example:
        >>> from equicolor.groups import Hue
        >>> from equicolor.models import create_model
        >>> penultimate_map(create_model("z2cnn", "hue4"), torch.rand(1, 3, 28, 28), Hue(4))
        'layers.18'
    """
    with evaluating(model):
        outputs = layer_outputs(model, images)
    names = [name for name in outputs if any(p.dim() > 1 for p in _layer(model, name).parameters(recurse=False))]
    before = list(outputs)[: list(outputs).index(names[-1])] if names else []
    maps = [name for name in before if outputs[name].dim() == 4 and len(outputs[name]) == group.order * len(images)]
    if not maps:
        raise ValueError(f"this network has no feature map on {group} before its last layer")
    return max(maps, key=lambda name: (min(outputs[name].shape[2:]) > 1, maps.index(name)))


def layer_features(model: nn.Module, layer: str) -> Callable[[Tensor], Tensor]:
    """Makes a function from images to the output of a layer.

    Args:
        model: the network.
        layer: the name of the layer.

    Returns:
        The function.
    """

    def features(images: Tensor) -> Tensor:
        with evaluating(model):
            return layer_outputs(model, images, only=layer)[layer]

    return features


def _layer(model: nn.Module, name: str) -> nn.Module:
    return model.get_submodule(name.partition("#")[0])


def fine_features(features: Callable[[Tensor], Tensor], images: Tensor, group: Group, substeps: int = 1) -> Tensor:
    """Computes the features of images on ``substeps`` times as many hues as the group has.

    Args:
        features: a function from images ``(B, 3, H, W)`` to features on the group ``(G·B, *)``, see
            :func:`layer_features`.
        images: RGB in [0, 1] or uint8.
        group: a group with hues among its factors.
        substeps: steps between one hue of the group and the next.

    Returns:
        The features, ``(B, n·substeps, D)``.

    Raises:
        ValueError: ``substeps`` is not positive.
    """
    if substeps < 1:
        raise ValueError(f"substeps must be positive, got {substeps}")
    hues, images = hue_factor(group), as_images(images)
    step = hues.amount(1) / substeps
    turned = [on_hues(features(hues.move(images, i * step) if i else images), group) for i in range(substeps)]
    return torch.stack(turned, 2).flatten(1, 2)


def hue_positions(features: Tensor, reference: int | None = None, rounds: int = 10, substeps: int = 1) -> HuePositions:
    """Finds the place of each image on the circle of hues.

    Args:
        features: the features of all images, ``(B, n·substeps, D)``, from :func:`fine_features`.
        reference: the image that the others are compared with, whose band is 0; by default the first with a hue.
        rounds: how often the reference is replaced by the average of what was aligned to it; 0 for the image itself.
        substeps: those of the features.

    Returns:
        The places.

    Raises:
        ValueError: none of the images has a hue, or the reference has none or is not there.

    Example:
        >>> wave = torch.cos(torch.arange(4) * torch.pi / 2 + torch.tensor([[0.0], [1.0]]))[..., None]  # 1 rad on
        >>> hue_positions(wave, rounds=0).degrees.round().tolist()
        [0.0, 57.0]
    """
    if features.dim() != 3 or features.shape[1] % substeps:
        raise ValueError(f"expected features (B, n·{substeps}, D), got shape {tuple(features.shape)}")
    centred, has_hue = _centred(features, substeps)
    if not has_hue.any():
        raise ValueError("there is nothing to sort by: none of the images has a hue, they are all grey")
    reference = int(has_hue.int().argmax()) if reference is None else reference
    if not 0 <= reference < len(features):
        raise ValueError(f"the reference is one of {len(features)} images, counted from 0, got {reference}")
    if not has_hue[reference]:
        raise ValueError(f"the reference image {reference} has no hue, it is grey: choose another one")

    template = centred[reference]
    band = _bands(template, centred, substeps)
    for _ in range(rounds):
        template = _average(centred, band * substeps)
        band, before = _bands(template, centred, substeps), band
        if torch.equal(band, before):
            break
    template = template.roll(-int(band[reference]) * substeps, dims=0)
    alignments = _alignments(template, centred)
    band = alignments[:, ::substeps].argmax(1)
    offset, height = crest(alignments.double(), band * substeps, reach=substeps / 2)
    return HuePositions(
        band=band,
        degrees=((band * substeps + offset) * (360 / features.shape[1])).masked_fill(~has_hue, math.nan),
        alignment=height.clamp(-1, 1),
    )


def _centred(features: Tensor, substeps: int) -> tuple[Tensor, Tensor]:
    """The part of each feature that tells one element of the group from another, with norm 1, and if there is any."""
    whole = features.flatten(1).norm(dim=1)
    elements = torch.unflatten(features, 1, (-1, substeps))
    centred = (elements - elements.mean(1, keepdim=True)).flatten(1, 2)
    norm = centred.flatten(1).norm(dim=1)
    has_hue = norm > _COLOURLESS * whole
    return centred * torch.where(has_hue, 1 / norm, 0.0)[:, None, None], has_hue


def _alignments(template: Tensor, features: Tensor) -> Tensor:
    """c_k for each image and hue, ``(B, n)``: the template ``(n, D)``, turned by k, correlated with each feature."""
    turned = torch.stack([template.roll(-k, dims=0) for k in range(len(template))])
    alignments: Tensor = features.flatten(1) @ (turned / template.norm()).flatten(1).T
    return alignments


def _bands(template: Tensor, features: Tensor, substeps: int) -> Tensor:
    """The element of the group that aligns each feature best, ``(B,)``: the paper's rule."""
    return _alignments(template, features)[:, ::substeps].argmax(1)


def _average(features: Tensor, places: Tensor) -> Tensor:
    """The features turned back from their places, added up: ``(n, D)``."""
    turned_back = [features[places == k].sum(0).roll(k, dims=0) for k in range(features.shape[1])]
    return torch.stack(turned_back).sum(0)
