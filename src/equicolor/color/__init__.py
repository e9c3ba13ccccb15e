"""What a colour move does: pure functions of image tensors, which know nothing of groups or networks.

Images are tensors ``(*, 3, H, W)`` holding RGB in [0, 1], in any floating dtype and on any device; light
takes any number of channels. Half precision is computed in float32 and rounded once. ``uint8`` images are accepted and
divided by 255. Hue is in degrees throughout.
"""

from equicolor.color._balance import gray_world, linear_to_srgb, srgb_to_linear
from equicolor.color._hsl import (
    hsl_to_rgb,
    hsv_to_rgb,
    orbit,
    rgb_to_hsl,
    rgb_to_hsv,
    shift_hsl,
    shift_luminance,
    shift_saturation,
)
from equicolor.color._hue import shift_hue
from equicolor.color._images import Action, Shift, Space, as_images, check_action, check_range, check_space, working
from equicolor.color._level import median_level
from equicolor.color._light import (
    EXPOSURE,
    TEMPERATURE,
    TINT,
    light_orbit,
    shift_exposure,
    shift_light,
    shift_temperature,
    shift_tint,
)
from equicolor.color._normalize import (
    COLOR_NORMALIZATIONS,
    REINHARD_TARGET,
    ColorNormalization,
    check_color_normalization,
    macenko,
    normalize_color,
    reinhard,
)
from equicolor.color._rotation import rgb_rotation, rotate_rgb
from equicolor.color._stain import STAINS, shift_stain, stain_concentrations, stain_orbit

__all__ = [
    "COLOR_NORMALIZATIONS",
    "EXPOSURE",
    "REINHARD_TARGET",
    "STAINS",
    "TEMPERATURE",
    "TINT",
    "Action",
    "ColorNormalization",
    "Shift",
    "Space",
    "as_images",
    "check_action",
    "check_color_normalization",
    "check_range",
    "check_space",
    "gray_world",
    "hsl_to_rgb",
    "hsv_to_rgb",
    "light_orbit",
    "linear_to_srgb",
    "macenko",
    "median_level",
    "normalize_color",
    "orbit",
    "reinhard",
    "rgb_rotation",
    "rgb_to_hsl",
    "rgb_to_hsv",
    "rotate_rgb",
    "shift_exposure",
    "shift_hsl",
    "shift_hue",
    "shift_light",
    "shift_luminance",
    "shift_saturation",
    "shift_stain",
    "shift_temperature",
    "shift_tint",
    "srgb_to_linear",
    "stain_concentrations",
    "stain_orbit",
    "working",
]
