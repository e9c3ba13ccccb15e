"""Exact luminance: Lum-3 by the true group action and by the paper's clamped one, in darker and brighter light."""

from equicolor.experiments import Outcome, Runner, Setting, register_experiment
from equicolor.experiments._shifted import Part, error_under_shifts
from equicolor.experiments._stand_in import SHORT, shift_columns

_SHAPES = Part(
    "shapes",
    "Embedded shapes",
    "luminance_shift_shapes3d",
    {
        "Z2CNN": "z2cnn",
        "Z2CNN-aug": "z2cnn-aug",
        "Lum-3-clamp": "lum3-clamp",
        "Lum-3-exact": "lum3-exact",
        "Lum-3-clamp-wide": "lum3-clamp-wide",
        "Lum-3-exact-wide": "lum3-exact-wide",
    },
    shift_columns("luminance_shift_shapes3d"),
    images=500,
)


@register_experiment(
    "luminance",
    title="Exact and clamped luminance",
    about=(
        "Networks learn shapes in middle light (A) and are tested in less (B) and in more (C). Lum-3 acts by the "
        "paper's clamped shift or by the exact one; Z2CNN-aug is the plain network trained under jitter of luminance. "
        "Reduced: small networks and 480 shapes; about ten minutes of one CPU core."
    ),
    quick="A few hundred shapes, one seed.",
    place=120,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    return error_under_shifts(setting, runner, "lum", [_SHAPES], SHORT)
