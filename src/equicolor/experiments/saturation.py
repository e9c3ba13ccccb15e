"""Exact saturation: does the true group action generalise better than the paper's clamped one?"""

from equicolor.experiments import Outcome, Runner, Setting, register_experiment
from equicolor.experiments._shifted import Part, error_under_shifts
from equicolor.experiments._stand_in import SHORT, shift_columns

_SHAPES = Part(
    "shapes",
    "Embedded shapes",
    "saturation_shift_shapes3d",
    {
        "Z2CNN": "z2cnn",
        "Z2CNN-aug": "z2cnn-aug",
        "Sat-3-clamp": "sat3-clamp",
        "Sat-3-exact": "sat3-exact",
        "Sat-3-clamp-wide": "sat3-clamp-wide",
        "Sat-3-exact-wide": "sat3-exact-wide",
    },
    shift_columns("saturation_shift_shapes3d"),
    images=500,
)
_CIFAR = Part(
    "cifar10",
    "CIFAR-10",
    "cifar10_saturation",
    {
        "CIFAR-Z2CNN": "z2cnn",
        "CIFAR-Z2CNN-aug": "z2cnn-aug",
        "CIFAR-Sat-3-clamp": "sat3-clamp",
        "CIFAR-Sat-3-exact": "sat3-exact",
    },
    {"test": "unshifted"},
    images=1000,
)


@register_experiment(
    "saturation",
    title="Exact and clamped saturation",
    about=(
        "Networks learn shapes of middle saturation (A) and are tested on paler (B) and stronger colours (C); others "
        "learn CIFAR-10 and are tested under shifts of saturation. Sat-3 acts by the paper's clamped shift or by the "
        "exact one; Z2CNN-aug is the plain network trained under jitter of saturation. Reduced: small networks, 128 "
        "shapes (480 leave next to no errors) and one pass over CIFAR-10; about half an hour of one CPU core."
    ),
    quick="A few hundred shapes, one seed, no CIFAR-10.",
    place=110,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    return error_under_shifts(setting, runner, "sat", [_SHAPES] if setting.quick else [_SHAPES, _CIFAR], SHORT)
