"""What a colour move does: pure functions of image tensors, which know nothing of groups or networks.

Images are tensors ``(*, 3, H, W)`` holding RGB in [0, 1], in any floating dtype and on any device. Half precision is
computed in float32 and rounded once. ``uint8`` images are accepted and divided by 255. Hue is in degrees throughout.
"""

from equicolor.color._hsl import (
    hsl_to_rgb,
    hsv_to_rgb,
    orbit,
    rgb_to_hsl,
    rgb_to_hsv,
    shift_luminance,
    shift_saturation,
)
from equicolor.color._hue import shift_hue
from equicolor.color._images import Action, Shift, Space, as_images, check_action, check_range, check_space
from equicolor.color._rotation import rgb_rotation, rotate_rgb

__all__ = [
    "Action",
    "Shift",
    "Space",
    "as_images",
    "check_action",
    "check_range",
    "check_space",
    "hsl_to_rgb",
    "hsv_to_rgb",
    "orbit",
    "rgb_rotation",
    "rgb_to_hsl",
    "rgb_to_hsv",
    "rotate_rgb",
    "shift_hue",
    "shift_luminance",
    "shift_saturation",
]
