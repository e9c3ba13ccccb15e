"""The full tables, with training made up: the paper's numbers are beside ours, for the right network and column."""

import pytest

from equicolor.data import DataNotFoundError
from equicolor.experiments import Log, Setting, _several, experiment
from small import MadeUp

MISSING = "… is not there. Put into …"


@pytest.fixture
def everything(monkeypatch):
    monkeypatch.setattr(_several, "missing", lambda data: "")


def lines(name, tmp_path):
    outcome = experiment(name).run(Setting(), MadeUp(tmp_path, Log(quiet=True)))
    table = outcome.tables[0]
    return outcome, table, {row[0]: table.rows[place : place + 3] for place, row in enumerate(table.rows)}


def test_small_norb_has_the_papers_numbers_beside_ours(tmp_path):
    _, table, rows = lines("small-norb", tmp_path)
    assert table.columns == ["network", "A/A", "A/B", "A/C", "seeds", "parameters"]
    assert rows["Lum-3"] == [
        ["Lum-3", "1.10 (0.10)", "2.10 (0.10)", "3.10 (0.10)", "3", "12,345"],
        ["– the paper's", "7.04 (0.65)", "18.45 (4.83)", "25.14 (1.07)", "", "11.1M"],
        ["– difference", "-5.94", "-16.35", "-22.04", "", ""],
    ]


def test_camelyon17_has_every_step_of_saturation_over_five_seeds(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path / "nothing"))
    outcome, _, rows = lines("camelyon17", tmp_path)
    sat = [label for label in rows if label.startswith("Sat-3")]
    assert sat == ["Sat-3 (d=1/20)", "Sat-3 (d=1/10)", "Sat-3 (d=3/20)", "Sat-3 (d=1/2)"]
    assert all(rows[label][1] == ["– the paper's", "16.08 (2.68)", "", "23.3M"] for label in sat)
    assert all(rows[label][0][2] == "5" for label in (*sat, "ResNet50", "Hue-4-Sat-3", "CEConv-3"))
    groups = {r["network"]: r["seed"] for r in outcome.records}
    assert set(groups) == {"ResNet50", *sat, "Hue-4-Sat-3", "CEConv-3"}
    assert any("No saturation statistics" in note for note in outcome.notes)


def test_camelyon17_takes_the_papers_steps_by_the_clamped_action(tmp_path):
    taken = {}

    class Looking(MadeUp):
        def train(self, rows, *, weights=False):
            taken.update({row.label: row.recipe.group for row in rows})
            return super().train(rows)

    experiment("camelyon17").run(Setting(quick=True), Looking(tmp_path, Log(quiet=True)))
    assert [taken[f"Sat-3 (d={d})"] for d in ("1/20", "1/10", "3/20", "1/2")] == [
        "sat3(step=0.05,action=clamp)",
        "sat3(action=clamp)",  # whose step is 1/10
        "sat3(step=0.15,action=clamp)",
        "sat3(step=0.5,action=clamp)",
    ]


def test_natural_is_nine_networks_over_six_sets(tmp_path, everything):
    _, table, rows = lines("natural", tmp_path)
    assert len(table.columns) == 1 + 6 + 1
    assert len([label for label in rows if not label.startswith("–")]) == 9
    assert rows["Hue-4"][1][1:7] == [
        "32.23 (1.07)",
        "8.83 (0.64)",
        "34.70 (0.89)",
        "20.38 (1.06)",
        "27.39 (0.68)",
        "20.73 (1.11)",
    ]
    # CIFAR-100 has a validation split before its test split, whose made-up error is a point higher.
    assert rows["Hue-4"][0][2:4] == ["4.10 (0.10)", "5.10 (0.10)"]


def test_natural_takes_the_sets_and_the_networks_that_are_asked_for(tmp_path, everything):
    made_up = MadeUp(tmp_path, Log(quiet=True))
    outcome = experiment("natural").run(Setting(only=("Caltech 101", "ResNet", "Hue-4")), made_up)
    assert outcome.tables[0].columns == ["network", "Caltech 101", "parameters"]
    assert {(r["data"], r["network"]) for r in outcome.records} == {("Caltech 101", "ResNet"), ("Caltech 101", "Hue-4")}
    assert outcome.notes == []
    with pytest.raises(ValueError, match=r"no row 'Caltech 102'"):
        experiment("natural").run(Setting(only=("Caltech 102",)), made_up)


def test_natural_goes_on_with_the_sets_that_are_there_and_says_what_the_others_need(tmp_path, monkeypatch):
    monkeypatch.setattr(_several, "missing", lambda data: "" if data == "cifar10" else MISSING)
    outcome, table, rows = lines("natural", tmp_path)
    assert table.columns == ["network", "CIFAR-10", "parameters"]
    assert rows["CEConv-3"][1][:2] == ["– the paper's", "8.86 (0.33)"]
    assert [note.split(" is left out")[0] for note in outcome.notes] == [
        "Caltech 101",
        "CIFAR-100",
        "Stanford Cars",
        "Oxford Pets",
        "STL-10",
    ]
    assert all(note.endswith(MISSING) for note in outcome.notes)


def test_without_any_set_there_is_an_error_that_names_all(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path / "nothing"))
    with pytest.raises(DataNotFoundError) as error:
        experiment("natural").run(Setting(), MadeUp(tmp_path, Log(quiet=True)))
    for name in ("caltech101", "cifar10", "cifar100", "stanford_cars", "oxford_pets", "stl10"):
        assert f"{name} is not there. Put into" in str(error.value)


def test_imagenet_has_the_papers_single_seed_and_nothing_for_tiny_imagenet(tmp_path, everything):
    _, table, rows = lines("imagenet", tmp_path)
    assert table.columns == ["network", "ImageNet", "Tiny-ImageNet", "parameters"]
    assert rows["Hue-3"] == [
        ["Hue-3", "1.00", "1.00", "12,345"],
        ["– the paper's", "30.28", "", "11.4M"],
        ["– difference", "-29.28", "", ""],
    ]
