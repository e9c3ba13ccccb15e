"""Generalisation to colour shift in the wild: nine networks on six sets of photographs."""

from equicolor.experiments._experiment import Experiment, Outcome, Setting
from equicolor.experiments._several import error_over_data
from equicolor.experiments._stand_in import stand_in
from equicolor.experiments._tables import Published

_DATA = {
    "caltech101": "Caltech 101",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "stanford_cars": "Stanford Cars",
    "oxford_pets": "Oxford Pets",
    "stl10": "STL-10",
}
_NETWORKS = "ResNet ResNet-gray ResNet-aug Hue-3 Hue-4 Hue-4-Sat-3 Sat-3 CEConv-3 CEConv-4".split()
#: What the recipes call them: hue4-sat3 for Hue-4-Sat-3.
_RECIPES = {label: label if label.startswith("ResNet-") else label for label in _NETWORKS}
