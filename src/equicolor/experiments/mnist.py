"""Generalisation to global hue shift: coloured digits, trained on two thirds of all hues, tested on the last third."""

from equicolor.experiments import Outcome, Published, Runner, Setting, error_table, register_experiment, run_records
from equicolor.experiments._five import five_rows, tuned_note
from equicolor.experiments._pictures import bars
from equicolor.experiments._stand_in import shift_columns

SPLITS = shift_columns("hue_shift_mnist")
_PAPER = {
    "Z2CNN": Published({"test_a": (1.54, 0.10), "test_b": (57.38, 22.06)}, "22,130"),
    "Hue-3": Published({"test_a": (1.79, 0.25), "test_b": (1.81, 0.29)}, "22,658"),
    "Hue-4": Published({"test_a": (1.97, 0.25), "test_b": (2.08, 0.15)}, "25,690"),
    "CEConv-3": Published({"test_a": (1.79, 0.13), "test_b": (1.83, 0.19)}, "28,739"),
    "CEConv-4": Published({"test_a": (3.04, 0.27), "test_b": (3.09, 0.25)}, "30,539"),
}


@register_experiment(
    "mnist",
    title="Generalisation to global hue shift",
    paper="Table “Generalization to global hue-shift”",
    about=(
        "Networks learn digits whose hues lie between 0° and 240° (A); they are tested on hues between 240° and 360° "
        "(B)."
    ),
    quick="scikit-learn's embedded digits instead of MNIST, four epochs, one seed.",
    place=15,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    # The quick version takes the embedded digits, which are always there.
    recipe = "hue_shift_digits" if setting.quick else "hue_shift_mnist"
    rows = five_rows(setting, recipe, quick={"epochs": 4})
    runs = runner.train(rows)
    table = error_table("Classification error in %", rows, runs, SPLITS, None if setting.quick else _PAPER)
    return Outcome(run_records(runs), [table], {"errors": bars(rows, runs, SPLITS)}, tuned_note(rows))
