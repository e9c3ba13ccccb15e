"""Light: photographs under lamps from candle to shade, which are simulated by physics and not by our own moves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from equicolor.color import linear_to_srgb, srgb_to_linear
from equicolor.comparison import Measured, measured, run_records
from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, register_experiment
from equicolor.experiments._pictures import curves
from equicolor.experiments._rows import chosen_parts, rows_of
from equicolor.experiments._several import missing
from equicolor.experiments._stand_in import shift_columns, stand_in
from equicolor.train import Run

#: Of lamps, in kelvin: a candle, a bulb, halogen, a fluorescent tube, the sun, an overcast sky, shade. Images are taken
#: to be lit by the one in the middle.
KELVINS = (2000, 2500, 3200, 4000, 5000, 6500, 8000, 10000)
DAYLIGHT = 6500
_QUICK_KELVINS = (2500, 6500, 10000)
_QUICK_DATA = "hue_shift_shapes3d"

_NETWORKS = {
    "plain": "plain",
    "grey": "gray",
    "jitter of light": "jitter",
    "grey-world white balance": "gray-world",
    "Temp-3": "temp3",
    "Light-3": "light3",
    "canonical light": "canonical",
    "canonical light, jitter of light": "canonical-jitter",
    "canonical light, anchored": "canonical-anchored",
    "canonical gains, anchored": "canonical-gains",
}


@dataclass(frozen=True)
class _Part:
    """Photographs: the recipe, what rows begin with, a title, and the split that is lit."""

    recipe: str
    data: str
    name: str
    split: str

    @property
    def networks(self) -> dict[str, str]:
        return {f"{self.name}, {label}": variant for label, variant in _NETWORKS.items()}


_PARTS = (
    _Part("cifar10_light", "cifar10", "CIFAR-10", "test"),
    _Part("caltech101_light", "caltech101", "Caltech-101", "one_third"),
)


# ------------------------------------------------------------------------------------------------ lamps


def planckian(kelvin: float) -> tuple[float, float]:
    """The chromaticity x, y of a black body, by the cubic splines of Kim et al. (US patent 7,024,034), 1667 to 25000 K.

    >>> x, y = planckian(2856)  # illuminant A: 0.4476, 0.4074
    >>> round(x, 3), round(y, 3)
    (0.447, 0.408)
    """
    if not 1667 <= kelvin <= 25000:
        raise ValueError(f"a lamp has from 1667 to 25000 kelvin, got {kelvin:g}")
    t = 1000 / kelvin
    if kelvin <= 4000:
        x = -0.2661239 * t**3 - 0.2343589 * t**2 + 0.8776956 * t + 0.179910
    else:
        x = -3.0258469 * t**3 + 2.1070379 * t**2 + 0.2226347 * t + 0.240390
    if kelvin <= 2222:
        y = -1.1063814 * x**3 - 1.34811020 * x**2 + 2.18555832 * x - 0.20219683
    elif kelvin <= 4000:
        y = -0.9549476 * x**3 - 1.37418593 * x**2 + 2.09137015 * x - 0.16748867
    else:
        y = 3.0817580 * x**3 - 5.87338670 * x**2 + 3.75112997 * x - 0.37001483
    return x, y


def lamp_gains(kelvin: float) -> tuple[float, float, float]:
    """By how much a lamp multiplies linear red, green and blue, relative to daylight of equal luminance (von Kries)."""
    ours, usual = _white(kelvin), _white(DAYLIGHT)
    red, green, blue = (max(a, 0.0) / b for a, b in zip(ours, usual, strict=True))
    return red, green, blue


def lit(kelvin: float) -> Callable[[Tensor], Tensor]:
    """Images in [0, 1] under another lamp; what is too bright for a camera is clipped."""
    gains = torch.tensor(lamp_gains(kelvin)).view(3, 1, 1)

    def change(images: Tensor) -> Tensor:
        return linear_to_srgb((srgb_to_linear(images) * gains.to(images)).clamp(0, 1)).to(images.dtype)

    return change


def _white(kelvin: float) -> tuple[float, ...]:
    """A white surface in the light of a black body, as linear sRGB of luminance 1 (IEC 61966-2-1)."""
    x, y = planckian(kelvin)
    xyz = (x / y, 1.0, (1 - x - y) / y)
    matrix = (
        (3.2406255, -1.5372080, -0.4986286),
        (-0.9689307, 1.8757561, 0.0415175),
        (0.0557101, -0.2040211, 1.0569959),
    )
    return tuple(sum(a * b for a, b in zip(row, xyz, strict=True)) for row in matrix)


# ------------------------------------------------------------------------------------------------ the experiment


@register_experiment(
    "light",
    title="Photographs under other lamps",
    about=(
        "Networks learn from photographs as they are and are tested on photographs in the light of other lamps, from "
        "2000 to 10000 K on the Planckian locus. A lamp multiplies linear red, green and blue, and cameras clip: that "
        "is physics, and none of the moves that our groups are made of. Does it help to see no colour, to jitter "
        "light, to balance white, to be equivariant to light, or to find and undo it?"
    ),
    quick="A few rendered shapes instead of photographs, three lamps and one seed: nothing but a rehearsal.",
    place=155,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    rehearsal = stand_in(_QUICK_DATA, train_size=128, test_size=64, canonicalizer_steps=5)
    parts = _PARTS[:1] if setting.quick else _PARTS
    absent = {} if setting.quick else {part.name: text for part in parts if (text := missing(part.data))}
    there = [part for part in parts if part.name not in absent]
    every = {part.name: rows_of(setting, part.recipe, part.networks, quick=rehearsal) for part in there}
    chosen = chosen_parts(setting, every)
    runs = runner.train([row for rows in chosen.values() for row in rows])
    kelvins = _QUICK_KELVINS if setting.quick else KELVINS
    records, tables, pictures, conclusion = run_records(runs), [], {}, list[str]()
    for part in there:
        if not (rows := chosen.get(part.name)):
            continue
        runner.log(f"Lighting {part.name}")
        split = next(iter(shift_columns(_QUICK_DATA))) if setting.quick else part.split
        lights = _lights(runner, split, {row.label: runs[row.label] for row in rows}, kelvins)
        records += lights
        tables.append(_table(part, rows, runs, lights, kelvins))
        lines = {
            row.marked.removeprefix(f"{part.name}, "): {
                float(kelvin): 100 * measured(lights, network=row.label, kelvin=kelvin).mean for kelvin in kelvins
            }
            for row in rows
        }
        caption = f"Daylight, {DAYLIGHT} K, is what networks were trained in. Numbers are those of the coldest lamp."
        pictures[f"lamps-{part.data}"] = curves(
            "lamp in kelvin, warm to cold", "error in %", lines, log_x=True, caption=caption
        )
        conclusion.append(_conclusion(part, rows, lights, kelvins))
    notes = [f"{name} is left out. {text}" for name, text in absent.items()]
    return Outcome(records, tables, pictures, [*notes, *([] if setting.quick else [_NOTE])], conclusion)


def _conclusion(part: _Part, rows: Sequence[Row], records: Sequence[Record], kelvins: Sequence[int]) -> str:
    """All networks under the lamps that they were not trained in, the least error first."""
    others = {row.label.removeprefix(f"{part.name}, "): _other_lamps(row, records, kelvins) for row in rows}
    order = sorted(others, key=lambda label: others[label].mean)
    return (
        f"{part.name}: error in % in the mean of all other lamps, the least first: "
        f"{', '.join(f'{label} {others[label].written()}' for label in order)}."
    )


def _other_lamps(row: Row, records: Sequence[Record], kelvins: Sequence[int]) -> Measured:
    """The mean over all lamps but daylight, seed by seed."""
    lamps = [measured(records, network=row.label, kelvin=kelvin) for kelvin in kelvins if kelvin != DAYLIGHT]
    return Measured([sum(errors) / len(errors) for errors in zip(*(each.values for each in lamps), strict=True)])


def _lights(runner: Runner, split: str, runs: Mapping[str, Sequence[Run]], kelvins: Sequence[int]) -> list[Record]:
    """The error of every network under every lamp; that of daylight is the error of the images as they are."""
    records: list[Record] = []
    for label, those in runs.items():
        for run in those:
            for kelvin in kelvins:
                if kelvin == DAYLIGHT:
                    error = run.results[split]["error"]
                else:
                    error = runner.runs.error_on(run, split, f"lamp:{kelvin}K", lit(kelvin))
                records.append({"network": label, "seed": run.recipe.seed, "kelvin": kelvin, "error": error})
    return records


def _table(
    part: _Part,
    rows: Sequence[Row],
    runs: Mapping[str, Sequence[Run]],
    records: Sequence[Record],
    kelvins: Sequence[int],
) -> Table:
    lines = []
    for row in rows:
        lamps = [measured(records, network=row.label, kelvin=kelvin) for kelvin in kelvins]
        mean = _other_lamps(row, records, kelvins)
        size = f"{runs[row.label][0].summary['parameters']:,}"
        lines.append([row.title, *map(str, lamps), str(mean), size])
    columns = [f"{kelvin} K" + (" (seen)" if kelvin == DAYLIGHT else "") for kelvin in kelvins]
    title = f"{part.name}, by lamp: error in %"
    return Table(title, ["network", *columns, "other lamps", "parameters"], lines)


_NOTE = (
    "Means and standard deviations over seeds. Reduced by design: a small network, 32×32 pixels, 5,000 images of "
    "CIFAR-10 and 5,784 of Caltech-101, ten passes; 2,000 images are tested on. Lamps: chromaticities of black bodies "
    "by the splines of Kim et al., of equal luminance, as gains of linear sRGB relative to 6500 K, clipped. "
    "“Grey-world white balance” scales linear channels until their means agree, in training and testing: it would "
    "undo these lamps exactly, were it not for clipping, and it takes away the colour of what fills an image. The "
    "photographs of the published numbers are not the originals: CIFAR-10 went through JPEG once more, Caltech-101 "
    "was cut to its centre and resized to 128×128 before. Light-3 is temp3-tint3; windows are replicated at their "
    "edges."
)
