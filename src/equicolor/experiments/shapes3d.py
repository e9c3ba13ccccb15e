"""Generalisation to local hue shift: coloured shapes, trained on one half of all hues, tested on the other."""

from equicolor.comparison import bars, run_records
from equicolor.data import original_file
from equicolor.experiments import Outcome, Runner, Setting, register_experiment
from equicolor.experiments._conclusions import of_rows
from equicolor.experiments._five import CECONV_DIFFERS, FIVE, five_rows, tuned_note
from equicolor.experiments._pictures import examples
from equicolor.experiments._stand_in import shift_columns
from equicolor.experiments._tables import Published, error_table

DATA = "hue_shift_shapes3d"
SPLITS = shift_columns(DATA)
#: The authors' code moves colours to [-1, 1]; the paper does not say so.
_CODE = {f"{label}, colours from -1 to 1": f"{FIVE[label]}-code" for label in ("Z2CNN", "Hue-3", "Hue-4")}
QUICK = {"train_size": 2560, "test_size": 3000, "epochs": 3, "lr": 0.004, "schedule": "cosine"}
_PAPER = {
    "Z2CNN": Published({"test_a": (0.00, 0.00), "test_b": (51.25, 9.59), "test_c": (26.66, 19.60)}, "20,192"),
    "Hue-3": Published({"test_a": (0.00, 0.00), "test_b": (0.03, 0.04), "test_c": (0.04, 0.03)}, "19,478"),
    "Hue-4": Published({"test_a": (0.00, 0.00), "test_b": (0.00, 0.00), "test_c": (0.00, 0.00)}, "21,832"),
    "CEConv-3": Published({"test_a": (0.00, 0.00), "test_b": (0.02, 0.03), "test_c": (0.05, 0.04)}, "26,441"),
    "CEConv-4": Published({"test_a": (0.00, 0.03), "test_b": (0.60, 0.25), "test_c": (0.53, 0.43)}, "30,792"),
}


def data_note() -> str:
    """Whose images they are."""
    if original_file(DATA):
        return "The images are the original ones, of 3dshapes.h5."
    return (
        "The images are those of this library's own renderer, in the design of 3D Shapes; with the original "
        "3dshapes.h5 in the data folder, the same command uses that."
    )


@register_experiment(
    "shapes3d",
    title="Generalisation to local hue shift",
    paper="Table “Generalization to local hue-shift”",
    about=(
        "Networks learn the shape of an object whose colours, and those of wall and floor, come from one half of all "
        "hues (A). They are tested on the other half: object, wall and floor together (B), the object alone (C)."
    ),
    quick="A few thousand images, three epochs at a higher rate, one seed, without CEConv unless --rows asks for it.",
    place=30,
    differs={
        "Hue-3": (
            "Hue-3 on B and C: the paper has 0.03 and 0.04 %, here it is more. The images are those of our renderer, "
            "unless the original set is at hand. B is A turned by 180°, but for pixels at edges, which blend two "
            "colours, and rounding: an element of Hue-4 and none of Hue-3. Of Hue-4 the structure promises about as "
            "many errors on B as on A, of Hue-3 it does not. Trained better, Hue-3 comes to the paper's errors, too, "
            "over two seeds, on one of which the size of its batches was chosen: what is left at the paper's rate of "
            "0.0001 is not learnt yet. The authors' code moves colours to [-1, 1], which the paper does not say; that "
            "does not explain it: so trained (rows “colours from -1 to 1”, one seed), Hue-3 has 1.53 and 1.33 %, where "
            "the same seed has 1.91 and 1.58 % of colours in [0, 1], as they are for all other rows."
        ),
        "Z2CNN": "Z2CNN on B and C varies from seed to seed more than it differs from the paper's.",
        "CEConv": (
            f"{CECONV_DIFFERS} That it deteriorates from three to four hues, as in the paper, did not come out. "
            "Parameters of CEConv-3 are the paper's, of CEConv-4 2,271 fewer."
        ),
    },
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    rows = five_rows(setting, DATA, QUICK, ("Z2CNN", "Hue-3", "Hue-4"), more=_CODE)
    runs = runner.train(rows)
    published = None if setting.quick else _PAPER
    table = error_table("Classification error in %", rows, runs, SPLITS, published)
    pictures = {"errors": bars(rows, runs, SPLITS), "examples": examples(DATA, SPLITS)}
    conclusion = of_rows(rows, runs, SPLITS, published=published)
    return Outcome(run_records(runs), [table], pictures, [data_note(), *tuned_note(rows)], conclusion)
