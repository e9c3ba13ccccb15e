"""Generalisation to colour shift in the wild: nine networks on six sets of photographs."""

from equicolor.experiments import Outcome, Published, Runner, Setting, register_experiment
from equicolor.experiments._several import error_over_data
from equicolor.experiments._stand_in import stand_in

_DATA = {
    "caltech101": "Caltech 101",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "stanford_cars": "Stanford Cars",
    "oxford_pets": "Oxford Pets",
    "stl10": "STL-10",
}
#: The quick version takes one recipe of each kind, ResNet-44 and ResNet-18.
_QUICK = ("cifar10", "stl10")
_RECIPES = {
    "ResNet": "resnet",
    "ResNet-gray": "resnet-gray",
    "ResNet-aug": "resnet-aug",
    "Hue-3": "hue3",
    "Hue-4": "hue4",
    "Hue-4-Sat-3": "hue4-sat3",
    "Sat-3": "sat3",
    "CEConv-3": "ceconv3",
    "CEConv-4": "ceconv4",
}


def _published(*errors: tuple[float, float]) -> Published:
    return Published(dict(zip(_DATA, errors, strict=True)))


_PAPER = {
    "ResNet": _published((32.68, 1.55), (7.86, 1.14), (32.00, 0.63), (25.41, 0.96), (31.52, 2.05), (18.59, 1.65)),
    "ResNet-gray": _published((33.79, 3.09), (8.45, 0.68), (32.04, 0.66), (24.71, 0.93), (30.38, 0.35), (18.71, 1.47)),
    "ResNet-aug": _published((32.90, 0.82), (8.33, 0.44), (32.27, 0.18), (22.38, 1.65), (30.06, 0.52), (17.89, 1.48)),
    "Hue-3": _published((34.32, 0.34), (8.41, 0.39), (33.28, 0.63), (22.19, 2.20), (31.37, 3.50), (19.82, 0.98)),
    "Hue-4": _published((32.23, 1.07), (8.83, 0.64), (34.70, 0.89), (20.38, 1.06), (27.39, 0.68), (20.73, 1.11)),
    "Hue-4-Sat-3": _published((38.14, 1.07), (10.68, 0.78), (33.27, 0.31), (24.79, 3.87), (29.84, 1.34), (20.53, 0.73)),
    "Sat-3": _published((41.64, 1.40), (9.24, 0.27), (39.33, 0.45), (31.90, 10.03), (36.87, 5.57), (20.71, 1.10)),
    "CEConv-3": _published((34.74, 0.83), (8.86, 0.33), (34.95, 0.44), (23.97, 1.56), (31.08, 2.54), (24.29, 1.31)),
    "CEConv-4": _published((33.52, 0.48), (9.28, 0.24), (35.46, 0.35), (24.08, 0.66), (33.70, 1.50), (21.90, 1.64)),
}


@register_experiment(
    "natural",
    title="Generalisation to colour shift in photographs",
    paper="Table “Generalization to color-shift”",
    about=(
        "Nine networks are trained and tested on six sets of photographs, in which colours vary by nature. "
        "ResNet-gray sees no colour, ResNet-aug is trained under hue jitter."
    ),
    quick=(
        "Small networks by two of the six recipes, on embedded shapes instead of photographs, without the paper's "
        "numbers."
    ),
    place=40,
    differs={
        "": (
            "Rows that are trained for less than the paper's 300 epochs say so, and are not to be held against its "
            "numbers. CIFAR-10 has been through JPEG by whoever mirrored it, and where photographs of Caltech-101 "
            "were cut and resized to 128×128 beforehand, errors are close to those on the original and not equal. "
            "Saturation is that of HSL, as in the paper, in steps of 1/10; the authors' code moves that of HSV, in "
            "steps of 25/255. On Pets and Cars the code's rate is 0.001, where the paper says, and recipes here take, "
            "0.01."
        ),
        "Hue": (
            "The authors' code jitters hue by up to a quarter of the circle in training all networks but CEConv, by a "
            "switch that its configurations turn off for CEConv alone; the paper's text does not say so. Whether its "
            "row ResNet was trained so, too, cannot be seen: if not, its groups differ from ResNet by the jitter as "
            "well, and are to be compared with ResNet-aug. Here groups are trained without jitter. On Caltech-101 the "
            "code also crops and jitters at random in testing; here testing sees the centre, as it is."
        ),
    },
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    data = {name: _DATA[name] for name in _QUICK} if setting.quick else _DATA
    return error_over_data(setting, runner, data, _RECIPES, _PAPER, stand_in("hue_shift_shapes3d"))
