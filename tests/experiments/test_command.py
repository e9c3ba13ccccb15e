"""``equicolor reproduce`` as a user meets it: what it lists, what it refuses, what it says where data are missing."""

import json

import pytest

from equicolor.cli import main
from equicolor.commands._reproduce import _changes, _command, _place
from equicolor.experiments import Setting, experiment

#: Those that need files.
NEED_DATA = ("camelyon17", "natural", "small-norb", "imagenet", "segmentation")


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path / "nothing"))
    return tmp_path


def refused(capsys, *arguments):
    assert main(["reproduce", *arguments]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("equicolor: ")
    return lines[-1]


def test_an_unknown_experiment_is_answered_with_those_there_are(capsys):
    assert "unknown experiment 'shapes': there are lifting, " in refused(capsys, "shapes")


def test_an_unknown_row_is_answered_with_those_there_are(no_data, capsys):
    message = refused(capsys, "small-norb", "--rows", "Lum-4", "--folder", str(no_data))
    assert "no row 'Lum-4': there are ResNet18, Lum-3" in message


@pytest.mark.parametrize("seeds", ["-1", "first", "1.5"])
def test_seeds_are_whole_numbers(seeds, capsys):
    assert "--seeds takes whole numbers" in refused(capsys, "small-norb", f"--seeds={seeds}")


@pytest.mark.parametrize("arguments", [("--seeds", "5", "5"), ("--reduce", "Lum-3:seeds=5,5")])
def test_a_seed_counts_once(arguments, capsys):
    assert "seeds must differ" in refused(capsys, "small-norb", *arguments)


def test_what_an_experiment_has_no_use_for_is_refused(capsys, tmp_path):
    for arguments in (["--seeds", "5"], ["--rows", "Hue-3"], ["--reduce", "Hue-3:epochs=1"]):
        assert "trains nothing" in refused(capsys, "invertibility", *arguments, "--folder", str(tmp_path))
    message = refused(capsys, "sample-efficiency", "--reduce", "Hue-3:train_size=600", "--folder", str(tmp_path))
    assert "is what this experiment varies" in message


@pytest.mark.parametrize("reduce", ["Lum-3", "Lum-3:epochs", "epochs=3"])
def test_a_reduction_names_row_field_and_value(reduce, capsys):
    assert "--reduce takes ROW:FIELD=VALUE" in refused(capsys, "small-norb", "--reduce", reduce)


def test_a_reduction_of_no_field_is_refused(capsys, tmp_path):
    message = refused(capsys, "small-norb", "--reduce", "Lum-3:epoch=3", "--folder", str(tmp_path))
    assert "Did you mean 'epochs'?" in message


@pytest.mark.parametrize("name", NEED_DATA)
def test_missing_data_end_in_one_line_that_says_what_to_put_where(name, no_data, capsys):
    message = refused(capsys, name, "--folder", str(no_data / "out"))
    assert "is not there. Put into" in message
    assert str(no_data / "nothing") in message
    assert message.endswith("the same command with --quick takes embedded images.")
    assert "load(" not in message
    assert not (no_data / "out" / name).exists()


@pytest.mark.parametrize("name", [*NEED_DATA, "saturation", "luminance", "shapes3d"])
def test_every_experiment_says_what_it_asks_and_what_its_quick_version_does(name):
    found = experiment(name)
    assert found.name == name
    assert found.title
    assert found.about.endswith(".")
    assert found.quick.endswith(".")
    assert bool(found.paper) == (name not in ("saturation", "luminance"))


def test_the_report_tells_the_command_that_made_it(tmp_path):
    reduce = ["CEConv-3:train_size=20000", "CEConv-3:seeds=1,2"]
    setting = Setting(True, (1999, 2000), _changes(reduce), ("CEConv-3",))
    assert _command("mnist", setting, tmp_path) == (
        "equicolor reproduce mnist --quick --seeds 1999 2000 --rows CEConv-3 --reduce CEConv-3:train_size=20000 "
        f"CEConv-3:seeds=1,2 --folder {tmp_path}"
    )


def test_the_command_names_a_folder_by_the_way_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _command("mnist", Setting(), tmp_path / "results") == "equicolor reproduce mnist --folder results"


def test_a_quick_version_does_not_take_the_place_of_results(tmp_path):
    folder = tmp_path / "mnist"
    assert _place(folder, quick=True) == folder
    folder.mkdir()
    for made_quick, place in ((True, folder), (False, tmp_path / "mnist-quick")):
        (folder / "metrics.json").write_text(json.dumps({"quick": made_quick}))
        assert _place(folder, quick=True) == place
        assert _place(folder, quick=False) == folder


def test_without_a_name_the_experiments_are_listed(monkeypatch, capsys):
    monkeypatch.setattr("equicolor.experiments.list_experiments", lambda: list(NEED_DATA))
    assert main(["reproduce"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in NEED_DATA)
    assert "Table “Generalization to luminance-shift”" in shown
