"""A look inside a network: its feature maps under every group element, and how equivariant each layer is."""

from dataclasses import dataclass

from torch import Tensor, nn

from equicolor.color import as_images
from equicolor.groups import Group
from equicolor.groups import group as as_group
from equicolor.measure import equivariance_error, evaluating, layer_outputs
from equicolor.nn import Canonicalizer
from equicolor.trained._canonical import CanonicalCurve, canonical_curves
from equicolor.trained._prepared import prepared


@dataclass(frozen=True, eq=False)
class Inspection:
    """What :func:`inspect_model` saw.

    Attributes:
        title: which network and layer.
        elements: what each of the G group elements does, in words.
        images: the image moved by each element, ``(G, C, H, W)``.
        maps: the feature maps there, ``(G, channels, h, w)``.
        channels: which channels of the layer those are.
        errors: layer → relative equivariance error of each element, ``(G,)``; the last is ``"output"``. NaN where a
            move leaves nothing of a window to compare.
        curves: how well its canonicalisers move along with the image, if it has any.
    """

    title: str
    elements: tuple[str, ...]
    images: Tensor
    maps: Tensor
    channels: tuple[int, ...]
    errors: dict[str, Tensor]
    curves: tuple[CanonicalCurve, ...] = ()

    def largest_error(self, layer: str) -> float:
        """Of a layer, the largest over the elements."""
        errors = self.errors[layer]
        return float(errors[~errors.isnan()].max())


def inspect_model(
    model: nn.Module, image: Tensor, layer: str | None = None, channels: int = 6, group: Group | str | None = None
) -> Inspection:
    """The feature maps of one image, and the equivariance error of every layer on it; of canonicalisers, over a range.

    Args:
        model: a network on a group, or a conventional one: its layers know no group, so it is shown what they make of
            the moved images, and the error is that of invariance.
        image: RGB, uint8 or in [0, 1], ``(3, H, W)``; it is prepared as ``model.preparation`` says.
        layer: whose maps to show, by its name in ``model.named_modules()``; by default the last map of the network.
        channels: how many to show: those that differ most between the group elements.
        group: which colour moves; by default the network's own, and for a conventional network ``"hue4"``.
    """
    own: Group | None = getattr(model, "group", None)
    group = own or as_group("hue4") if group is None else as_group(group)
    if channels < 1:
        raise ValueError(f"channels must be positive, got {channels}")
    batch = prepared(model, as_images(image, group.channels)[None])
    errors = equivariance_error(model, batch, group, layers=True)
    lifted = group.lift(batch.cpu())
    with evaluating(model):
        # Where the network has this group, its own lift makes the moved images; else they are made for it.
        outputs = layer_outputs(model, batch if own == group else lifted.to(batch.device))
    name = layer or _last_map(outputs, group.order)
    if name not in outputs:
        known = [known for known, output in outputs.items() if _is_map(output, group.order)]
        raise ValueError(f"there is no layer {name!r} in this network: expected one of {', '.join(known)}")
    maps = outputs[name].cpu()
    if not _is_map(maps, group.order):
        raise ValueError(f"layer {name!r} gives no feature map under each of {group.order} elements: {maps.shape}")
    spread = maps.std(0, unbiased=False).flatten(1).norm(dim=1)
    chosen = spread.topk(min(channels, len(spread))).indices.sort().values
    config = getattr(model, "config", {"name": type(model).__name__})
    return Inspection(
        title=f"{config['name']}, {config.get('group') or 'no group'}: layer {name} under {group}",
        elements=tuple(group.describe(element) for element in group),
        images=lifted,
        maps=maps[:, chosen],
        channels=tuple(chosen.tolist()),
        errors=errors,
        curves=tuple(
            curve
            for module in model.modules()
            if isinstance(module, Canonicalizer)
            for curve in canonical_curves(module, batch)
        ),
    )


def _is_map(output: Tensor, order: int) -> bool:
    return output.dim() == 4 and len(output) == order


def _last_map(outputs: dict[str, Tensor], order: int) -> str:
    """The last layer with a map worth looking at: one of several pixels, if there is any."""
    maps = [name for name, output in outputs.items() if _is_map(output, order)]
    large = [name for name in maps if min(outputs[name].shape[2:]) >= 4]
    if not maps:
        raise ValueError(f"no layer of this network gives a map under each of {order} elements")
    return (large or maps)[-1]
