"""Generalisation to global hue shift: coloured digits, trained on two thirds of all hues, tested on the last third."""

from equicolor._tools.pages import Drawing
from equicolor.comparison import bars
from equicolor.experiments import Outcome, Published, Runner, Setting, error_table, register_experiment, run_records
from equicolor.experiments._conclusions import of_rows
from equicolor.experiments._five import CECONV_DIFFERS, five_rows, tuned_note
from equicolor.experiments._pictures import examples
from equicolor.experiments._several import missing
from equicolor.experiments._stand_in import shift_columns

#: To explain the paper's Z2CNN: its authors' code ends in a softmax, of which cross-entropy is taken.
_SOFTMAX = {"Z2CNN, softmax": "z2cnn-softmax"}
_SOFTMAX_NOTE = (
    "“Softmax”: the network ends in a softmax before cross-entropy, which takes another, as in the authors' code and "
    "not in the paper's text."
)
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
    differs={
        "Z2CNN": (
            "Z2CNN on unseen hues (A/B): the paper has 57 %, where here it errs on few more than on seen ones. Two "
            "thirds of the hues are seen in training, from red over green to blue; a network with plain logits and "
            "cross-entropy generalises to the rest. The authors' network ends in a softmax that is fed to cross- "
            "entropy. We named that as what may be the difference; measured, it is not: with it, three seeds in full "
            "length have 0.71 ± 0.07 % on A and 1.10 ± 0.31 % on B (row “Z2CNN, softmax”). Nor is it the 8 bits of "
            "the authors' images, which went through PIL's HSV of bytes: tested on such images, one network here errs "
            "on 0.75 and 1.19 % instead of 0.74 and 1.18; trained and tested on them, on 0.85 ± 0.12 and 1.28 ± 0.48 "
            "% over three seeds, and with the softmax besides on 0.77 ± 0.05 and 1.02 ± 0.28 (python "
            "benchmarks/eight_bits.py, test and train). We know of no difference that explains the paper's number. "
            "Nothing was tuned to make the gap appear, or disappear: the recipe is the paper's. The experiment "
            "coverage shows where it appears, as the arc of training hues shrinks."
        ),
        "Hue-4": (
            "Hue-4 errs less here than in the paper, by more than the deviation of either, where Hue-3 agrees with it. "
            "We know of no difference in the recipe that would explain it."
        ),
        "CEConv": (
            f"{CECONV_DIFFERS} In full length and one seed it errs half as much as the paper's, and less than the hue "
            "networks at their rate of 0.0001, though more than those do when they are tuned: that compares rates, not "
            "networks. CEConv-4 errs more than CEConv-3, as in the paper, by 0.2 to 0.3 points where the paper has "
            "1.3. Parameters of CEConv-3 are the paper's, of CEConv-4 400 more."
        ),
    },
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    # The quick version takes the embedded digits, which are always there.
    recipe = "hue_shift_digits" if setting.quick else "hue_shift_mnist"
    rows = five_rows(setting, recipe, quick={"epochs": 4}, more=_SOFTMAX)
    runs = runner.train(rows)
    published = None if setting.quick else _PAPER
    table = error_table("Classification error in %", rows, runs, SPLITS, published)
    pictures: dict[str, Drawing] = {"errors": bars(rows, runs, SPLITS)}
    if not missing(recipe):  # the results of finished runs are enough for the table
        pictures["examples"] = examples(recipe, SPLITS)
    softmax = [_SOFTMAX_NOTE] if any(row.label in _SOFTMAX for row in rows) else []
    conclusion = of_rows(rows, runs, SPLITS, published=published)
    return Outcome(run_records(runs), [table], pictures, [*tuned_note(rows), *softmax], conclusion)
