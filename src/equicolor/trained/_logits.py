"""What the logits of a network say, whether there is one of them or many, for an image or for each pixel."""

import torch
from torch import Tensor


def class_probabilities(logits: Tensor) -> Tensor:
    """Logits ``(B, K)`` or ``(B, K, H, W)`` as probabilities ``(B, K)`` or ``(B·H·W, K)``; one logit is two classes.

    >>> class_probabilities(torch.tensor([[0.0]])).tolist()
    [[0.5, 0.5]]
    """
    logits = logits.movedim(1, -1).flatten(0, -2)
    if logits.shape[1] == 1:
        return torch.cat([torch.sigmoid(-logits), torch.sigmoid(logits)], 1)
    return logits.softmax(1)
