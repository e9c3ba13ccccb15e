"""Sample efficiency: the improvement over Z2CNN at each share of the training images."""

from typing import Any

from equicolor._tools.pages import Drawing
from equicolor.comparison import measured, seeds_of
from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, register_experiment
from equicolor.experiments._five import FIVE
from equicolor.experiments._pictures import curves
from equicolor.experiments._rows import chosen_rows, new_row
from equicolor.experiments.mnist import SPLITS

SHARES = (1, 2, 5, 10, 20, 100)
_IMAGES, _BATCH, _LEAST_STEPS = 60_000, 128, 120
_BASELINE = "Z2CNN"
_NETWORKS = {label: FIVE[label] for label in (_BASELINE, "Hue-3", "Hue-4")}


@register_experiment(
    "sample-efficiency",
    title="Sample efficiency",
    paper="Figure “Model sample efficiency”",
    about=(
        "By how much is a hue-equivariant network better than the conventional one, as a function of the share of the "
        "training images it was given?"
    ),
    quick="Embedded digits, two shares, one seed.",
    place=20,
    differs={
        "": (
            "The paper does not say how long it trains on a share of the images. Here all networks are trained by the "
            "tuned recipe, in which Z2CNN generalises to unseen hues when it has all images: there is "
            "next to nothing to improve there, and most where images are few."
        ),
    },
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    for label, changes in setting.reduce.items():
        if "train_size" in changes:
            raise ValueError(f"the number of training images is what this experiment varies: {label} cannot reduce it")
    shares = (10, 100) if setting.quick else SHARES
    records: list[Record] = []
    for share in shares:
        runner.log(f"Trained on {share} % of the images:")
        rows = [_row(setting, label, name, share) for label, name in _NETWORKS.items()]
        chosen = chosen_rows(setting, rows)
        for label, runs in runner.train(chosen).items():
            for run in runs:
                for split in SPLITS:
                    error = run.results[split]["error"]
                    where: Record = {"network": label, "share": share, "split": split, "seed": run.recipe.seed}
                    records.append({**where, "error": error, "run": run.folder.name})
    reduced = [f"{row.label}: {row.reduced}." for row in chosen if row.reduced]
    notes = [_NOTE.format(seeds=seeds_of(records)), *reduced]
    return Outcome(records, _tables(records, shares), _pictures(records, shares), notes, _conclusion(records, shares))


def _conclusion(records: list[Record], shares: tuple[int, ...]) -> list[str]:
    """Where equivariance pays most, and what is left of it with all images."""
    labels = list(dict.fromkeys(str(record["network"]) for record in records))
    others = [label for label in labels if label != _BASELINE]
    if _BASELINE not in labels or not others:
        return []
    gains = {
        (label, share, split): _improvement(records, label, share, split)
        for label in others
        for share in shares
        for split in SPLITS
    }
    best = max(gains, key=lambda case: gains[case])
    label, share, split = best
    if gains[best] <= 0:
        return [f"No network is better than {_BASELINE} at any share of the images."]
    own, base = (measured(records, network=name, share=share, split=split).written() for name in (label, _BASELINE))
    last = shares[-1]
    end = {name: f"{gains[label, last, name_of]:+.1f} on {name}" for name_of, name in SPLITS.items()}
    return [
        f"The gain is largest at {share} % of the images: on {SPLITS[split]}, {label} errs on {own} % and {_BASELINE} "
        f"on {base}. At {last} % {label} is better by so many points: {', '.join(end.values())}."
    ]


def _improvement(records: list[Record], label: str, share: int, split: str) -> float:
    """By how many points of error a network is better than the conventional one."""
    base, own = (measured(records, network=n, share=share, split=split).mean for n in (_BASELINE, label))
    return 100 * (base - own)


def _row(setting: Setting, label: str, name: str, share: int) -> Row:
    if setting.quick:
        count = 1500 * share // 100
        return new_row(setting, label, f"hue_shift_digits:{name}", quick={"train_size": count, "iterations": 60})
    changes: dict[str, Any] = {}
    if share < 100:
        count = _IMAGES * share // 100
        changes = {"train_size": count, "iterations": max(_LEAST_STEPS, 5 * (count // _BATCH)), "warmup": 20}
    return new_row(setting, label, f"hue_shift_mnist:{name}-tuned", changes)


def _tables(records: list[Record], shares: tuple[int, ...]) -> list[Table]:
    labels = list(dict.fromkeys(str(record["network"]) for record in records))
    return [
        Table(
            f"Error in % on {name}, by the share of training images",
            ["network", *(f"{share} %" for share in shares)],
            [
                [label, *(str(measured(records, network=label, share=share, split=split)) for share in shares)]
                for label in labels
            ],
        )
        for split, name in SPLITS.items()
    ]


def _pictures(records: list[Record], shares: tuple[int, ...]) -> dict[str, Drawing]:
    labels = list(dict.fromkeys(str(record["network"]) for record in records))
    if _BASELINE not in labels:
        return {}
    pictures = {}
    for split, name in SPLITS.items():
        lines = {
            label: {float(share): _improvement(records, label, share, split) for share in shares}
            for label in labels
            if label != _BASELINE
        }
        axis = f"improvement over {_BASELINE} on {name}, in points"
        caption = f"Above 0, a network errs less than {_BASELINE} with as many images."
        drawing = curves("share of training images, in %", axis, lines, log_x=True, falling=True, caption=caption)
        pictures[f"improvement_{name[-1].lower()}"] = drawing
    return pictures


_NOTE = (
    "The paper does not say how long it trains on a share of the images, nor on which test set the figure is. Here all "
    "networks are trained alike, by the tuned recipe of the experiment mnist (on less than all images with a warm-up "
    f"of 20 steps instead of 100), for five passes but no fewer than {_LEAST_STEPS} steps; both test sets are shown. "
    "Numbers are means (standard deviations) over {seeds}. The improvement is in points of error: higher is better."
)
