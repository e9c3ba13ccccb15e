"""The embedded digits: 1,797 of them, 28×28, grey."""

from typing import cast

from equicolor.data._readers import Raw, Request
from equicolor.data._sources import Held


def read(request: Request) -> Raw:
    """Those of one part, ``"train"`` or ``"test"``."""
    from equicolor.data._digits import Split, digits

    images, labels = digits(cast("Split", request.part))
    return Raw(Held(images), labels, tuple("0123456789"))
