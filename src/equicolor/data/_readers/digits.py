"""The embedded digits: 1,797 of them, 28×28, grey."""

import torch

from equicolor.data._readers import Raw, Request
from equicolor.data._sources import Held


def read(request: Request) -> Raw:
    """All of them."""
    from equicolor.data._digits import digits

    images, labels = digits()
    return Raw(Held(torch.as_tensor(images)), torch.as_tensor(labels).long(), tuple("0123456789"))
