"""What stands between two group convolutions in one pass over memory: compiled pieces, around convolutions as they are.

In inference :func:`fuse_glue`, which ``optimize_for_inference(..., compile=True)`` calls; in training
:func:`fuse_for_training`.
"""

from equicolor.fusion._inference import fuse_glue
from equicolor.fusion._training import fuse_for_training

__all__ = ["fuse_for_training", "fuse_glue"]
