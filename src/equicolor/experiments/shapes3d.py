"""Generalisation to local hue shift: coloured shapes, trained on warm hues, tested on hues never seen."""

from equicolor.experiments._experiment import Experiment, Outcome, Setting
from equicolor.experiments._tables import Published, error_table, run_records

SPLITS = {"test_a": "A/A", "test_b": "A/B", "test_c": "A/C"}
_RECIPES = {"Z2CNN": "z2cnn", "Hue-3": "hue3", "Hue-4": "hue4", "CEConv-3": "ceconv3", "CEConv-4": "ceconv4"}
_QUICK = {"train_size": 3200, "epochs": 3, "lr": 0.003, "schedule": "cosine"}
_PAPER = {
    "Z2CNN": Published({"test_a": (0.00, 0.00), "test_b": (51.25, 9.59), "test_c": (26.66, 19.60)}, "20,192"),
    "Hue-3": Published({"test_a": (0.00, 0.00), "test_b": (0.03, 0.04), "test_c": (0.04, 0.03)}, "19,478"),
    "Hue-4": Published({"test_a": (0.00, 0.00), "test_b": (0.00, 0.00), "test_c": (0.00, 0.00)}, "21,832"),
    "CEConv-3": Published({"test_a": (0.00, 0.00), "test_b": (0.02, 0.03), "test_c": (0.05, 0.04)}, "26,441"),
    "CEConv-4": Published({"test_a": (0.00, 0.03), "test_b": (0.60, 0.25), "test_c": (0.53, 0.43)}, "30,792"),
}


def _run(setting: Setting) -> Outcome:
    rows = setting.chosen(
        [setting.row(label, f"hue_shift_shapes3d:{name}", quick=_QUICK) for label, name in _RECIPES.items()]
    )
    runs = setting.train(rows)
    table = error_table("Classification error in %", rows, runs, SPLITS, _PAPER)
    return Outcome(run_records(runs), [table])


EXPERIMENT = Experiment(
    "shapes3d",
    "Generalisation to local hue shift",
    "Table “Generalization to local hue-shift”",
    "Networks learn the shape of an object whose colours, and those of wall and floor, come from half of all hues (A); "
    "they are tested on the other hues, shifted together (B) and each by itself (C).",
    _run,
    "A few thousand images, three epochs, one seed.",
)
