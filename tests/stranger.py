"""A package of somebody else: a group, a network, a data set, an experiment and a command, added from outside.

Named as an entry point in the group ``equicolor.plugins``, or imported, this file is all that it takes.
"""

from pathlib import Path

import torch
from torch import nn

import equicolor as ec
from equicolor.commands import register_command
from equicolor.data import Description, Held, Raw, Request, Split, register_data_set
from equicolor.experiments import Outcome, Table, error_table, new_row, register_experiment, run_records
from equicolor.groups import Factor


@ec.register_group
class Blue(Factor):
    """More or less blue light: a step doubles its odds."""

    prefix, quantity, unit, step = "blue", "blue light", "doublings", 0.5

    def move(self, images, amount):
        red, green, blue = images.split(1, dim=-3)
        odds = 2.0**amount
        return torch.cat([red, green, odds * blue / (1 + (odds - 1) * blue)], dim=-3)


@ec.register_model("thumb", width_of_all=8)
class Thumb(ec.models.Model):
    """One convolution and a mean."""

    image_size = 16

    def __init__(self, kit, num_classes=10, *, width_of_all, bias=True):
        super().__init__(kit, num_classes, bias=bias)
        (width,) = kit.widths([width_of_all])
        self.conv = kit.first(width, 3, padding=1, bias=bias)
        self.head = nn.Sequential(
            nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), kit.pool(), nn.Linear(width, num_classes)
        )

    def features(self, images):
        return self.conv(self.lift(images))


def read(request: Request) -> Raw:
    """Squares that are dark or bright, of any colour."""
    count = {"train": 64, "test": 32}[request.part]
    labels = torch.arange(count) % 2
    colours = torch.rand(count, 3, 1, 1, generator=torch.Generator().manual_seed(count))
    images = (100 * colours + 120 * labels.view(-1, 1, 1, 1)).to(torch.uint8).expand(-1, -1, 16, 16)
    return Raw(Held(images.clone()), labels, ("dark", "bright"))


register_data_set(
    Description(
        "squares",
        "dark and bright squares",
        read,
        {"train": Split("train", 64), "test": Split("test", 32)},
        image_size=16,
        folder="squares",
    )
)


@register_experiment("brightness", title="Dark or bright?", about="Can it tell?", quick="It is quick.")
def brightness(setting, runner):
    """Trains the network on the squares."""
    rows = [new_row(setting, "Blue-3", str(Path(__file__).with_suffix(".yaml")))]
    runs = runner.train(rows)
    table: Table = error_table("Error in %", rows, runs, {"test": "test"})
    return Outcome(run_records(runs), [table])


@register_command()
def greet(name: str, *, times: int = 1) -> str:
    """Greets somebody.

    Args:
        name: whom.
        times: how often.
    """
    greeting = " ".join(["hello"] * times + [name])
    print(greeting)
    return greeting
