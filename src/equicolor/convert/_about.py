"""What a network says about the images it was made for: timm's ``pretrained_cfg``."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from equicolor.models import Channels, Preparation


def about(model: nn.Module) -> dict[str, Any]:
    """What a network of timm's says about its images: ``mean``, ``std``, ``input_size``, ``crop_pct`` and more.

    Args:
        model: any network.

    Returns:
        A copy of its ``pretrained_cfg``; empty for networks without one.
    """
    found = getattr(model, "pretrained_cfg", None) or getattr(model, "default_cfg", None)
    return dict(found) if isinstance(found, Mapping) else {}


def normalization(config: Mapping[str, Any], mean: Channels | None, std: Channels | None) -> tuple[Channels, Channels]:
    """The mean and std of a network's images.

    Args:
        config: what the network says about its images, see :func:`about`.
        mean: the mean that was given; None for that of the config, or 0.
        std: the std that was given; None for that of the config, or 1.

    Returns:
        Mean and std.
    """
    return (
        config.get("mean", 0.0) if mean is None else mean,
        config.get("std", 1.0) if std is None else std,
    )


def preparation(config: Mapping[str, Any]) -> Preparation | None:
    """How images are prepared, by a config; None where it does not say, or not of squares.

    The short side is scaled to ``input_size / crop_pct``, rounded down, and the centre cut out; where ``crop_mode`` is
    ``"squash"``, both sides are scaled. Scaling is bilinear, whatever ``interpolation`` the config names.
    """
    size: Sequence[int] = config.get("input_size") or ()
    if len(size) != 3 or size[1] != size[2]:
        return None
    side, share = int(size[1]), float(config.get("crop_pct") or 1.0)
    scaled = max(side, math.floor(side / share + 1e-6))
    fit = "stretch" if config.get("crop_mode") == "squash" else "crop"
    return Preparation(side, scaled, fit, scaled if scaled != side else None)  # type: ignore[arg-type]
