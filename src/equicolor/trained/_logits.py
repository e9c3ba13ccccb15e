"""What the logits of a network say, whether there is one of them or many, for an image or for each pixel."""

import torch
from torch import Tensor

from equicolor.deploy import as_probabilities


def class_probabilities(logits: Tensor) -> Tensor:
    """Turns logits into probabilities, one row for each image or pixel.

    Args:
        logits: ``(B, K)`` or ``(B, K, H, W)``; one logit is two classes.

    Returns:
        Probabilities, ``(B, K)`` or ``(B·H·W, K)``.

    Raises:
        ValueError: there are logits that are not finite, which say nothing.

    Example:
        >>> class_probabilities(torch.tensor([[0.0]])).tolist()
        [[0.5, 0.5]]
    """
    logits = logits.movedim(1, -1).flatten(0, -2)
    finite = torch.isfinite(logits).all(1)
    if not finite.all():
        raise ValueError(
            f"the network does not compute finite logits: {int((~finite).sum()):,} of {len(finite):,} predictions are "
            "NaN or infinite. Its weights are damaged, or diverged in training: use an earlier checkpoint, or train it "
            "again at a lower rate"
        )
    return as_probabilities(logits)
