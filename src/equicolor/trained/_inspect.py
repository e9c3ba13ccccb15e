"""A look inside a network: its feature maps under every group element, and how equivariant each layer is."""

from dataclasses import dataclass

from torch import Tensor, nn

from equicolor.color import as_images
from equicolor.groups import Element, Group
from equicolor.groups import group as as_group
from equicolor.measure import equivariance_error, evaluating, layer_outputs
from equicolor.nn import Canonicalizer
from equicolor.trained._canonical import CanonicalCurve, canonical_curves
from equicolor.trained._prepared import prepared
from equicolor.trained._rows import Match, matches_in_words, matching_rows

#: Errors up to this are rounding, of float32 and layers of it.
_ROUNDING = 1e-4
#: Layers whose errors differ by no more than such a factor are alike.
_FAR_LESS = 10


@dataclass(frozen=True, eq=False)
class Inspection:
    """The feature maps and equivariance errors of a network on one image, made by :func:`inspect_model`.

    Attributes:
        title: which network and layer.
        elements: what each of the G group elements does, in words.
        images: the image moved by each element, ``(G, C, H, W)``.
        maps: the feature maps there, ``(G, channels, h, w)``.
        channels: which channels of the layer those are.
        errors: layer → relative equivariance error of each element, ``(G,)``; the last is ``"output"``. NaN where a
            move leaves nothing of a window to compare.
        curves: how well its canonicalisers move along with the image, if it has any.
        move: the colour move by which the rows of a group network are shown to move, in words; empty for others.
        after_images: the moved image under each element, like ``images``; None for others.
        after: the feature maps of the moved image, like ``maps``; None for others.
        matches: of each row of ``after``, the row of ``maps`` that it is like, over all channels.
    """

    title: str
    elements: tuple[str, ...]
    images: Tensor
    maps: Tensor
    channels: tuple[int, ...]
    errors: dict[str, Tensor]
    curves: tuple[CanonicalCurve, ...] = ()
    move: str = ""
    after_images: Tensor | None = None
    after: Tensor | None = None
    matches: tuple[Match, ...] = ()

    def largest_error(self, layer: str) -> float:
        """The largest equivariance error of a layer, over the elements.

        Args:
            layer: the name of the layer.

        Returns:
            The error.
        """
        errors = self.errors[layer]
        return float(errors[~errors.isnan()].max())

    @property
    def is_exact(self) -> bool:
        """Whether the error of every layer is rounding."""
        return max(map(self.largest_error, self.errors)) <= _ROUNDING

    @property
    def has_story(self) -> bool:
        """Whether there is something to see in a chart of the layers: some err, and others by far less."""
        errors = [error for name in self.errors if (error := self.largest_error(name)) > 0]
        return not self.is_exact and max(errors) > _FAR_LESS * min(errors)

    def said(self) -> list[str]:
        """Says what was seen.

        Returns:
            Sentences, a paragraph each.
        """
        worst = max(self.errors, key=self.largest_error)
        size = self.largest_error(worst)
        found = [f"Moved by {self.move}: {matches_in_words(self.matches)}"] if self.matches else []
        if self.is_exact:
            found.append(f"Every layer is equivariant: relative errors are {size:.0e} at most, which is rounding.")
        else:
            output = self.largest_error("output")
            found.append(
                f"The relative equivariance error is largest in {worst}, {size:.1e}; of the output it is {output:.1e}."
            )
        return found


def inspect_model(
    model: nn.Module, image: Tensor, layer: str | None = None, channels: int = 6, group: Group | str | None = None
) -> Inspection:
    """Computes the feature maps of one image, and the equivariance error of every layer on it.

    Of a canonicaliser, the error is measured over a range of moves.

    Args:
        model: a network on a group, or a conventional one: its layers know no group, so it is shown what they make of
            the moved images, and the error is that of invariance.
        image: RGB, uint8 or in [0, 1], ``(3, H, W)``; it is prepared as ``model.preparation`` says.
        layer: whose maps to show, by its name in ``model.named_modules()``; by default what the first convolution
            gives, normalised and rectified: there maps still look like the image.
        channels: how many to show: those that differ most between the group elements.
        group: which colour moves; by default the network's own, and for a conventional network ``"hue4"``.

    Returns:
        The maps and the errors.

    Raises:
        ValueError: there is no such layer, or it gives no map under each element.
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
    name = layer or _early_map(model, outputs, group.order)
    if name not in outputs:
        known = [known for known, output in outputs.items() if _is_map(output, group.order)]
        raise ValueError(f"there is no layer {name!r} in this network: expected one of {', '.join(known)}")
    maps = outputs[name].cpu()
    if not _is_map(maps, group.order):
        raise ValueError(f"layer {name!r} gives no feature map under each of {group.order} elements: {maps.shape}")
    spread = maps.std(0, unbiased=False).flatten(1).norm(dim=1)
    chosen = spread.topk(min(channels, len(spread))).indices.sort().values
    after_images, after, matches, move = None, None, list[Match](), ""
    if own == group and group.order > 1:
        with evaluating(model):
            element = _one_step(group)
            moved = group.act_on_images(element, batch)
            whole = layer_outputs(model, moved, only=name)[name].cpu()
        after_images, after = group.lift(moved.cpu()), whole[:, chosen]
        matches, move = matching_rows(maps, whole), group.describe(element)
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
        move=move,
        after_images=after_images,
        after=after,
        matches=tuple(matches),
    )


def _one_step(group: Group) -> Element:
    """The element that moves by one step up, of the first factor of a product."""

    def steps(element: Element) -> tuple[int, ...]:
        return element if isinstance(element, tuple) else (element,)

    single = [element for element in group.elements if sum(map(abs, steps(element))) == sum(steps(element)) == 1]
    return max(single, key=steps)


def _is_map(output: Tensor, order: int) -> bool:
    return output.dim() == 4 and len(output) == order


def _early_map(model: nn.Module, outputs: dict[str, Tensor], order: int) -> str:
    """The last map before the second convolution, of the size of the first one's: of a canonicaliser's own, none."""
    maps = [name for name, output in outputs.items() if _is_map(output, order) and "canonicalizer" not in name]
    if not maps:
        raise ValueError(f"no layer of this network gives a map under each of {order} elements")
    weighty = [name for name in maps if _has_filters(model, name)]
    if not weighty:
        return maps[-1]
    end = maps.index(weighty[1]) if len(weighty) > 1 else len(maps)
    first = maps[maps.index(weighty[0]) : end]
    return [name for name in first if outputs[name].shape == outputs[first[0]].shape][-1]


def _has_filters(model: nn.Module, name: str) -> bool:
    layer = model.get_submodule(name.partition("#")[0])
    return any(parameter.dim() > 1 for parameter in layer.parameters(recurse=False))
