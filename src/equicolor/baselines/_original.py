"""Weights of CEConv's published code for the layers here: the same numbers, its elements in reversed order."""

from collections.abc import Mapping

import torch
from torch import Tensor

_MATRIX, _POINTWISE = "transformation_matrix", "pointwise_weight"


def from_original(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A state dict of the published CEConv layers under the names, and in the order, of those here.

    Element i of the original's lift has the filters turned by i steps; here element j sees the image turned by j steps,
    which are the filters turned *back*. So its element i is our element -i, and along their group axis hidden filters
    are reversed: the first stays, and number j changes places with number n - j. Features, theirs ``(B, C, n, H, W)``
    and ours ``(n·B, C, H, W)``, correspond in the same way.

    Args:
        weights: of one layer, ``{"weight": …, "pointwise_weight": …}``, or of a network, where such names stand behind
            the path of the layer. What is of no CEConv layer, as norms and the classifier, is left as it is, and paths
            are: the published networks for ImageNet pad their 7×7 stem by 1 and pool over the group before the spatial
            mean, so that none of :func:`create_model` computes what they do. Build theirs of these layers.

    Returns:
        What ``load_state_dict`` of :class:`CEConvLift`, of :class:`CEConv2d` and, for filters that are not separable,
        of ``GroupConv2d(Hue(n), ...)`` takes; of a network, with the same paths.

    Raises:
        ValueError: a lift was trained with a matrix of its own, which is no rotation and has no counterpart here.

    Example:
        >>> filters = {"weight": torch.rand(8, 4, 1, 3, 3), "pointwise_weight": torch.rand(8, 4, 3, 1, 1)}
        >>> {name: tuple(value.shape) for name, value in from_original(filters).items()}
        {'rotational': (8, 12, 1, 1), 'spatial': (8, 4, 3, 3)}
    """
    result: dict[str, Tensor] = {}
    for name, value in weights.items():
        path, _, own = name.rpartition(".")
        prefix = f"{path}." if path else ""
        if own == _MATRIX:
            _check_rotation(name, value)
            result[f"{prefix}rotation"] = value
        elif own == _POINTWISE:
            result[f"{prefix}rotational"] = _reversed(value)
        elif own == "weight" and value.dim() == 5 and prefix + _POINTWISE in weights:
            result[f"{prefix}spatial"] = value.squeeze(2)
        elif own == "weight" and value.dim() == 5:
            result[name] = _reversed(value)  # of a lift there is one element, and nothing to reverse
        else:
            result[name] = value
    return dict(sorted(result.items()))


def _reversed(filters: Tensor) -> Tensor:
    """``(out, in, n, kH, kW)`` to ``(out, n·in, kH, kW)``, the filter of element j in the place of that of -j."""
    order = filters.shape[2]
    places = torch.arange(order).neg() % order
    return filters[:, :, places.to(filters.device)].transpose(1, 2).flatten(1, 2).contiguous()


def _check_rotation(name: str, matrix: Tensor) -> None:
    turn = matrix.double().cpu()
    same = torch.stack([turn @ turn.mT, turn.mT @ turn])
    about_grey = torch.allclose(turn.sum(1), torch.ones(3).double(), atol=1e-5)
    if not (about_grey and torch.allclose(same, torch.eye(3).double(), atol=1e-5) and turn.det() > 0):
        raise ValueError(
            f"{name} is no rotation about the grey axis: this lift was trained with learnable=True in the original, "
            "and the filters of its elements have no counterpart here"
        )
