"""Methods that ours is compared with, as layers: CEConv (Lengyel et al., 2023).

Networks of them are built by ``models``, like all others: ``create_model("resnet44", group="ceconv3")``. What is not
published by somebody else does not belong here.
"""

from equicolor.baselines._ceconv import CEConv2d, CEConvLift, CEConvTranspose2d
from equicolor.baselines._original import from_original

__all__ = ["CEConv2d", "CEConvLift", "CEConvTranspose2d", "from_original"]
