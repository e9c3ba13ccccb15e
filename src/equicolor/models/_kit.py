"""The layer kits: what a convolution, a lift, a pool and a width are in a conventional, a group and a CEConv network.

A network of the zoo is written once, in terms of a kit. Norms, activations and spatial pooling are the same in all
three: they treat the samples of a batch alike, and the group is stacked along the batch.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, Literal, TypeAlias

from torch import nn

from equicolor import algorithms
from equicolor._tools.strided import without_strided_points
from equicolor.baselines import CEConv2d, CEConvLift, CEConvTranspose2d
from equicolor.groups import Exposure, Group, Hue
from equicolor.groups import group as as_group
from equicolor.nn import Choice, GroupConv2d, GroupConvTranspose2d, GroupPool, Lift, Reduce, Window

#: How wide a group network is: as the paper's, in multiples of eight, or by a number of channels.
Width: TypeAlias = Literal["paper", "fast"] | int
#: A number for all channels of an image, or one for each.
Channels: TypeAlias = float | Sequence[float]
Maker: TypeAlias = Callable[..., nn.Module]

#: So many elements of a window at least are left to pool over.
_LEAST_POOLED = 3
_CECONV_NAME = re.compile(r"ceconv([0-9]+)")


@dataclass(frozen=True, kw_only=True)
class Kit:
    """The layers that a network is written with: on a group, without one, or as CEConv.

    The makers of convolutions take the arguments of :class:`torch.nn.Conv2d`.

    Attributes:
        config: what made this kit, as :func:`make_kit` takes it.
        group: what the features live on; None for a conventional network.
        lift: makes the layer from images to what the first convolution takes: checked and normalised.
        first: makes that first convolution, from its output channels on.
        conv: makes a convolution of features.
        conv_transpose: makes a transposed convolution of features.
        projection: makes the 1×1 convolution of a shortcut.
        pool: makes the layer from features on the group to invariant ones.
        narrowing: what divides the conventional widths to keep the number of parameters, given the filters' mean area.
    """

    config: dict[str, Any]
    group: Group | None
    lift: Maker
    first: Maker
    conv: Maker
    conv_transpose: Maker
    projection: Maker
    pool: Maker
    narrowing: Callable[[float], float]

    @property
    def lifts_in_first(self) -> bool:
        """Whether the first convolution lifts, by turning its filters, as CEConv's does."""
        return self.group is not None and self.lift().group != self.group

    def widths(self, conventional: Sequence[int], area: float = 9) -> list[int]:
        """The widths of this network for those of the conventional one.

        ``"paper"`` rounds down, ``"fast"`` to the nearest multiple of 8 and at least 8, where convolutions run best; a
        number is the first width, from which the others follow in proportion.

        Args:
            conventional: the widths of the conventional network.
            area: the mean area of its filters, in pixels.

        Returns:
            As many widths, by the kit's rule.
        """
        rule: Width = self.config["width"]
        if isinstance(rule, int):
            return [max(1, rule * width // conventional[0]) for width in conventional]
        narrowed = [width / self.narrowing(area) for width in conventional]
        if rule == "fast":
            return [max(8, 8 * math.floor(width / 8 + 0.5)) for width in narrowed]
        return [max(1, int(width)) for width in narrowed]

    def widths_behind(self, conventional: Sequence[int], area: float = 9) -> list[int]:
        """Widths of conventional layers behind the pooling: those that keep the parameter count.

        Args:
            conventional: the widths of the conventional network.
            area: the mean area of its filters.

        Returns:
            A width for each of them: the same, or in proportion to the first where the kit's rule is a number.
        """
        rule: Width = self.config["width"]
        if not isinstance(rule, int):
            return list(conventional)
        return [max(1, round(rule * self.narrowing(area) * width / conventional[0])) for width in conventional]

    def behind(self, convolution: nn.Module) -> "tuple[Kit, list[nn.Module]]":
        """The kit for what stands behind a convolution, and the layers that lead there.

        A valid convolution leaves smaller windows. Where another would leave too little of one to pool over, pooling
        comes at once, and what follows is conventional. Otherwise nothing changes.

        Args:
            convolution: the convolution before.

        Returns:
            The kit, and the layers.
        """
        group = getattr(convolution, "out_group", self.group)
        if self.config["window"] != "valid" or group is None:
            return self, []
        config = {name: value for name, value in self.config.items() if name != "group"}
        channels: int = config["in_channels"]
        if all(factor.closes or factor.order >= _LEAST_POOLED for factor in algorithms.inner(group).factors):
            return _group_kit(group, config, channels), []
        return _conventional_kit(config, channels), [GroupPool(group, config["reduce"])]


def make_kit(
    group: Group | str | None = None,
    width: Width = "paper",
    mean: Channels = 0.0,
    std: Channels = 1.0,
    algorithm: Choice = "auto",
    rescale: bool = False,
    window: Window = "zero",
    reduce: Reduce = "max",
    in_channels: int | None = None,
) -> Kit:
    """Makes the kit of a network: its layers on a group, without one, or as CEConv.

    Args:
        group: a group or its name; ``"ceconvN"`` for CEConv with N rotations; None for a conventional network.
        width: as in :func:`create_model`.
        mean: as in :func:`create_model`.
        std: as in :func:`create_model`.
        algorithm: as in :func:`create_model`.
        rescale: as in :func:`create_model`.
        window: as in :func:`create_model`.
        reduce: as in :func:`create_model`.
        in_channels: as in :func:`create_model`.

    Returns:
        The kit.

    Raises:
        ValueError: an argument has no such value, or does not go with the group.
    """
    if width not in ("paper", "fast") and not (type(width) is int and width >= 1):
        raise ValueError(f"width must be 'paper', 'fast' or the first width as a positive number, got {width!r}")
    config: dict[str, Any] = {"width": width, "mean": _plain(mean), "std": _plain(std), "algorithm": algorithm}
    config |= {"rescale": rescale, "window": window, "reduce": reduce}
    baseline = _CECONV_NAME.fullmatch(group) if isinstance(group, str) else None
    if group is not None and baseline is None:
        group = _group(group)
        if window == "valid" and any(not f.closes and f.order < _LEAST_POOLED + 2 for f in group.factors):
            raise ValueError(
                f"window='valid' takes windows of {_LEAST_POOLED + 2} elements at least, such as 'sat5', of which the "
                f"first convolution leaves {_LEAST_POOLED} to pool over; got {group}"
            )
        return _group_kit(group, config, in_channels)
    if rescale or window != "zero":
        asked = "rescale=True" if rescale else f"window={window!r}"
        raise ValueError(f"{asked} is for the edges of a truncated group such as 'sat3', not for group={group!r}")
    if baseline is not None:
        return _ceconv_kit(int(baseline[1]), config, in_channels)
    if reduce != "max":
        raise ValueError(f"reduce={reduce!r} is for pooling over a group, and a conventional network has none")
    return _conventional_kit(config, in_channels)


def _conventional_kit(config: dict[str, Any], in_channels: int | None) -> Kit:
    # The lift to a trivial group, the image itself, is what checks and normalises.
    lift = partial(Lift, Exposure(1), config["mean"], config["std"], in_channels=in_channels)
    channels = lift().in_channels
    return Kit(
        config={"group": None, **config, "in_channels": channels},
        group=None,
        lift=lift,
        first=partial(_conv, channels),
        conv=_conv,
        conv_transpose=_conv_transpose,
        projection=partial(_conv, kernel_size=1, bias=False),
        pool=nn.Identity,
        narrowing=lambda area: 1.0,
    )


def _group_kit(group: Group, config: dict[str, Any], in_channels: int | None) -> Kit:
    lift = partial(Lift, group, config["mean"], config["std"], in_channels=in_channels)
    channels = lift().in_channels
    how = {name: config[name] for name in ("algorithm", "rescale", "window")}
    taps = algorithms.taps(group, config["window"])
    return Kit(
        config={"group": str(group), **config, "in_channels": channels},
        group=group,
        lift=lift,
        first=partial(GroupConv2d, group, channels, **how),
        conv=partial(GroupConv2d, group, **how),
        conv_transpose=partial(GroupConvTranspose2d, group, **how),
        projection=partial(GroupConv2d, group, kernel_size=1, bias=False, **how),
        pool=partial(GroupPool, group, config["reduce"]),
        narrowing=lambda area: math.sqrt(taps),
    )


def _ceconv_kit(n: int, config: dict[str, Any], in_channels: int | None) -> Kit:
    if in_channels not in (None, 3):
        raise ValueError(f"CEConv turns the filters of red, green and blue: in_channels must be 3, got {in_channels!r}")
    group, how = Hue(n), {"algorithm": config["algorithm"]}
    return Kit(
        config={"group": f"ceconv{n}", **config, "in_channels": 3},
        group=group,
        lift=partial(Lift, Hue(1), config["mean"], config["std"]),  # the first convolution lifts
        first=partial(CEConvLift, n),
        conv=partial(CEConv2d, n, **how),
        conv_transpose=partial(CEConvTranspose2d, n, **how),
        # Not separable, as in the original: a 1×1 filter has no space to share.
        projection=partial(GroupConv2d, group, kernel_size=1, bias=False, **how),
        pool=partial(GroupPool, group, config["reduce"]),
        narrowing=lambda area: math.sqrt(1 + n / area),  # a separable filter of area a takes a + n parameters
    )


def _conv(*args: Any, **kwargs: Any) -> nn.Module:
    return without_strided_points(nn.Conv2d(*args, **kwargs))


def _conv_transpose(*args: Any, **kwargs: Any) -> nn.Module:
    return without_strided_points(nn.ConvTranspose2d(*args, **kwargs))


def _group(group: Group | str) -> Group:
    try:
        return as_group(group)
    except ValueError as error:
        raise ValueError(f"{error} For the CEConv baseline: 'ceconv3'. For the conventional network: None.") from None


def _plain(value: Channels) -> float | list[float]:
    """As JSON has it."""
    return float(value) if isinstance(value, Real) else [float(channel) for channel in value]  # type: ignore[union-attr]
