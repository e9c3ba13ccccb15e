"""The command line: every command as a user runs it, every example of --help, and what a user can get wrong."""

import csv
import importlib
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image

import equicolor as ec
from equicolor import cli
from equicolor.commands import list_commands
from equicolor.data import load

SOURCE = Path(ec.__file__).parents[1]
COMMANDS = list(list_commands().values())
NAMES = tuple("0123456789")
LONG = ("train", "serve", "app")  # that do not end soon, or by themselves
TRAIN = "train --data hue_shift_digits --model z2cnn --epochs 1"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a run of a small network, trained for some steps, and some files."""
    torch.manual_seed(0)
    home = tmp_path_factory.mktemp("home")
    digits = load("digits", split="train", shift="hue:0..120")
    model = ec.create_model("z2cnn", "hue4", width=6)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for batch in (batch for epoch in range(3) for batch in digits.batches(100, shuffle=True, epoch=epoch)):
        optimizer.zero_grad()
        F.cross_entropy(model(batch.images), batch.targets).backward()
        optimizer.step()
    ec.save_pretrained(model.eval(), home / "runs" / "digits" / "model", classes=NAMES)
    (home / "images").mkdir()
    for index, image in enumerate(load("digits", split="test", shift="hue:uniform")[:3].images):
        pixels = (255 * image).round().byte().permute(1, 2, 0).numpy()
        Image.fromarray(pixels).save(home / "images" / f"{index}.png")
    (home / "images" / "broken.png").write_bytes(b"no image")
    (home / "one" / "cats").mkdir(parents=True)
    Image.new("RGB", (28, 28)).save(home / "one" / "cats" / "tom.png")
    (home / "runs" / "begun").mkdir()
    (home / "runs" / "begun" / "recipe.yaml").write_text("data: digits")
    return home


def run(home, *arguments, code=0, **variables):
    """``equicolor …`` in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", **variables}
    command = [sys.executable, "-m", "equicolor", *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=home, env=environment, timeout=300, check=False
    )
    assert done.returncode == code, done.stderr
    return done


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ------------------------------------------------------------------------------------------------ as a user


def test_evaluate_draws_the_curve_over_the_hue(home):
    done = run(home, "evaluate", "runs/digits", "--data", "digits", "--curve", "hue", "--limit", 60)
    rows = table(home / "evaluation" / "digits-test-hue-curve.csv")
    error = {float(row["shift"]): float(row["error"]) for row in rows}
    assert len(rows) == 37
    assert error[0] == error[90] == error[180] == error[360]  # equivariant to turns by 90°
    assert error[0] < 0.5  # it learned something: chance is 0.9
    assert f"{error[0]:.2%}" in done.stdout
    with Image.open(home / "evaluation" / "digits-test-hue-curve.png") as picture:
        assert np.asarray(picture.convert("L")).std() > 5


def test_predict_goes_on_after_files_that_cannot_be_read(home):
    done = run(home, "predict", "runs/digits/model", "images", "nowhere.png", "--format", "jsonl")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [Path(each["path"]).name for each in found] == ["0.png", "1.png", "2.png"]
    assert all(each["class"] in NAMES and 0 < each["probability"] <= 1 for each in found)
    for each in found:
        assert tuple(each["probabilities"]) == NAMES
        assert sum(each["probabilities"].values()) == pytest.approx(1, abs=1e-4)
        assert each["probabilities"][each["class"]] == max(each["probabilities"].values()) == each["probability"]
    assert "broken.png: cannot be read as an image" in done.stderr
    assert "nowhere.png: there is no such file or folder" in done.stderr
    assert "2 of 5 could not be read" in done.stderr
    assert "Traceback" not in done.stderr


def test_sort_writes_a_contact_sheet_and_the_order(home):
    arguments = ("--data", "digits", "--class", "3", "--shift", "hue:uniform", "--out", "threes.png")
    done = run(home, "sort", "runs/digits", *arguments)
    rows = table(home / "threes.csv")
    count = int((load("digits", split="test").labels == 3).sum())
    degrees = [float(row["degrees"]) for row in rows]
    assert len(rows) == count
    assert degrees == sorted(degrees)
    assert all(abs(float(row["degrees"]) - 90 * int(row["band"])) <= 45.01 for row in rows)
    assert f"{count} images by hue" in done.stdout
    with Image.open(home / "threes.png") as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 100


def test_inspect_draws_the_feature_maps(home):
    done = run(home, "inspect", "runs/digits", "images/0.png", "--layer", "layers.2", "--out", "maps.png")
    rows = table(home / "maps.csv")
    assert rows[0]["layer"] == "lift"
    assert rows[-1]["layer"] == "output"
    assert max(float(value) for row in rows for key, value in row.items() if key != "layer") < 1e-5
    assert "hue +90°" in done.stdout
    with Image.open(home / "maps.png") as picture:
        assert picture.width > 800


def test_models_and_data_say_what_there_is(home):
    sizes = run(home, "models", "--groups", "none", "hue4").stdout
    assert "2,633,322" in sizes
    (home / "data" / "mnist").mkdir(parents=True)
    (home / "data" / "mnist" / "train-images-idx3-ubyte").touch()
    lines = run(home, "data", "--root", "data").stdout.splitlines()
    state = {line.split()[0]: line for line in lines if line.strip()}
    assert "embedded" in state["digits"]
    assert "train 1,500, test 297" in state["digits"]
    assert "present" in state["mnist"]
    assert "absent" in state["cifar10"]


def test_help_and_completion_name_every_command(home):
    text = run(home, "--help").stdout
    assert all(f"\n    {command.__name__} " in text for command in COMMANDS)
    script = run(home, "--print_completion", "shtab-bash").stdout
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert all(command.__name__ in script for command in COMMANDS)


# ------------------------------------------------------------------------------------------------ examples


def examples(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command.__name__, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    return [line.split() for line in text.partition("example:\n")[2].splitlines() if line.strip()]


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.__name__ not in LONG], ids=lambda c: c.__name__)
def test_the_examples_of_help_work_on_embedded_data(command, home, capsys, monkeypatch):
    monkeypatch.chdir(home)
    lines = examples(command, capsys)
    assert lines
    for program, *arguments in lines:
        assert program == "equicolor"
        assert cli.main(arguments) == 0, capsys.readouterr().err


def test_train_explains_itself_and_says_what_is_missing(capsys):
    first, rest = examples(COMMANDS[0], capsys)
    assert first[:6] == ["equicolor", "train", "--data", "hue_shift_digits", "--model", "z2cnn"]
    assert rest == ["--folder", "runs/digits"]


def test_the_commands_are_functions_of_python_too(home, capsys, monkeypatch):
    monkeypatch.chdir(home)
    result = ec.commands.evaluate("runs/digits", data="digits", limit=20)
    assert result.count == 20
    assert json.loads((home / "evaluation" / "digits-test.json").read_text())["error"] == result.error


# ------------------------------------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("evaluate", 2, "required: evaluate.model, evaluate.data"),
        ("evaluate runs/digits", 2, "required: evaluate.data"),
        ("evaluate runs/digits --data digits --curve red", 1, "unknown colour move 'red': expected one of hue, sat"),
        ("evaluate runs/digits --data digits --limit many", 2, "argument --limit: expected a whole number, got 'many'"),
        (
            "predict runs/digits x.png --format xml",
            2,
            "argument --format: invalid choice: 'xml' (choose from 'csv', 'jsonl', 'parquet')",
        ),
        ("predict runs/digits --bogus", 2, "unrecognized arguments: --bogus"),
        ("bogus", 2, "invalid choice: 'bogus'"),
        ("evaluate nowhere --data digits", 1, "there is no folder nowhere"),
        ("evaluate images --data digits", 1, "there is no config.json in images"),
        ("evaluate images/0.png --data digits", 1, "is a file"),
        ("evaluate runs/digits --data digit", 1, "unknown data set 'digit'"),
        ("evaluate runs/digits --data digits --split b", 1, "has no split 'b'"),
        ("evaluate runs/digits --data cifar100 --root images", 1, "add --download"),
        ("evaluate runs/digits --data shapes3d --limit 1", 1, "shapes3d test has images of '"),
        ("evaluate runs/digits --data digits --folder images/0.png", 1, "images/0.png"),
        ("evaluate runs/digits --data digits --device gpu9", 1, "device 'gpu9' cannot be used"),
        ("predict runs/digits", 1, "give either images"),
        ("predict runs/digits images/broken.png", 1, "none of the images could be read (1 failed)"),
        ("sort runs/digits --data digits --class ten", 1, "has no class 'ten'"),
        ("sort runs/digits --data digits --limit 3", 1, "all grey"),
        ("inspect runs/digits images/broken.png", 1, "cannot be read as an image"),
        ("inspect runs/digits images/0.png --layer last", 1, "there is no layer 'last'"),
        ("inspect runs/digits --data digits --index 999", 1, "there is no index 999"),
        ("models --groups purple3", 1, "unknown group 'purple3'"),
        ("train", 1, "say what to train"),
        ("train --recipe mnist --set epochs", 1, "--set takes KEY=VALUE, such as epochs=5, got 'epochs'"),
        ("train --resume x --data digits", 1, "--resume takes no other options"),
        ("train --restart", 1, "--restart goes with --resume FOLDER"),
        (f"{TRAIN} --image-sise 3", 2, "unrecognized arguments: --image-sise 3. Did you mean --image-size?"),
        (f"{TRAIN} --nonsense", 2, "unrecognized arguments: --nonsense (see: equicolor train --help)"),
        (f"{TRAIN} --lr 3", 2, "Did you mean --set lr=VALUE?"),
        (f"{TRAIN} --width 3", 2, "Did you mean --set model_options.width=VALUE?"),
        (f"{TRAIN} --momentum 1", 2, "Did you mean --set optimizer_options.momentum=VALUE?"),
        (f"{TRAIN} --set image_size=3", 1, "Did you mean --image-size, or --set data_options.image_size=…?"),
        (f"{TRAIN} --set epoch=3", 1, "unknown field of a recipe 'epoch'. Did you mean 'epochs'?"),
        (f"{TRAIN} --set epochs=3", 1, "epochs is given twice, as 1 and by --set epochs=3"),
        (f"{TRAIN} --set model_options.foo=3", 1, "unknown option 'foo' in model_options"),
        (f"{TRAIN} --image-size 0", 1, "image_size must be a positive number of pixels"),
        (f"{TRAIN} --seeds 1 x", 1, "--seeds takes whole numbers of 18 digits at the most, got 'x'"),
        (f"{TRAIN} --seeds 1,1", 1, "seeds must differ"),
        (f"{TRAIN} --seeds 12345678901234567890123456", 1, "--seeds takes whole numbers of 18 digits at the most"),
        ("tran --data digits", 2, "Did you mean train?"),
        (f"{TRAIN} --set nodes=7", 1, "nodes=7 takes a process on each of these machines"),
        (f"{TRAIN} --seed 1 --folder images/0.png", 1, "cannot write the run into images/0.png"),
        ("train --root one --model z2cnn --epochs 1", 1, "has images of one class alone, 'cats'"),
        ("evaluate runs/begun --data digits", 1, "runs/begun is not finished, and has no network yet: go on with equ"),
        ("predict runs/begun images", 1, "go on with equicolor train --resume runs/begun"),
        ("evaluate runs/digits --data digits --shift hue:1e400", 1, "shift 'hue:1e400' is too large"),
        ("evaluate runs/digits --data digits --image_size 0", 1, "image_size must be a positive number of pixels"),
        ("predict runs/digits images --image-size 0", 1, "image_size must be a positive number of pixels"),
        ("predict runs/digits images --image_size 1000000", 1, "image_size must be at most"),
        ("bench --quick --folder images/0.png", 1, "images/0.png is a file: expected a folder"),
    ],
)
def test_mistakes_end_in_one_helpful_line(arguments, code, message, home, capsys, monkeypatch):
    monkeypatch.chdir(home)
    assert cli.main(arguments.split()) == code
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("equicolor: ")
    assert message in lines[-1]
    assert not any("Traceback" in line for line in lines)


def test_debug_shows_the_traceback(home, monkeypatch):
    monkeypatch.chdir(home)
    with pytest.raises(FileNotFoundError, match="there is no folder nowhere"):
        cli.main(["evaluate", "nowhere", "--data", "digits", "--debug"])


def test_an_incompatible_checkpoint_is_named(home, capsys, monkeypatch):
    monkeypatch.chdir(home)
    ec.save_pretrained(ec.create_model("z2cnn", "hue4"), "other")
    card = json.loads(Path("other/config.json").read_text())
    card["architecture"]["group"] = "hue3"
    Path("other/config.json").write_text(json.dumps(card))
    assert cli.main(["evaluate", "other", "--data", "digits"]) == 1
    assert "does not fit the network" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_disk_is_said_and_devices_stay_devices(home, capsys, monkeypatch):
    monkeypatch.chdir(home)
    full = home / "full"
    full.symlink_to("/dev/full")
    assert cli.main(["predict", "runs/digits", "images/0.png", "--out", str(full)]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert full.is_symlink()


def test_a_failed_command_leaves_what_was_there(home, capsys, monkeypatch):
    monkeypatch.chdir(home)
    Path("kept.csv").write_text("mine")
    assert cli.main(["predict", "runs/digits", "images/broken.png", "--out", "kept.csv"]) == 1
    assert Path("kept.csv").read_text() == "mine"
    assert not list(home.glob(".kept*"))


def test_a_mistake_of_ours_is_called_one(home, capsys, monkeypatch):
    def broken():
        raise KeyError("surprise")

    monkeypatch.setattr(cli, "_parsed", lambda *_: (broken, {}))
    assert cli.main(["models"]) == 1
    assert "KeyError" in capsys.readouterr().err


def test_the_command_is_installed_under_its_name():
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["equicolor"].partition(":")
    assert getattr(importlib.import_module(module), function) is cli.main


@pytest.mark.parametrize("arguments", [["--version"], ["train", "--help"], ["evaluate", "--nonsense"]])
def test_the_command_line_answers_without_importing_anything_heavy(arguments):
    program = f"""
import contextlib, io, sys
from equicolor import cli
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    cli.main({arguments})
print(*{{name.partition('.')[0] for name in sys.modules}})
"""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    heavy = {"torch", "numpy", "matplotlib", "rich", "PIL", "sklearn", "lightning", "kornia", "datasets", "h5py"}
    assert not {*heavy, "scipy", "torchmetrics"} & set(done.stdout.split())


def test_warnings_are_notes_without_code_each_said_once(capsys, monkeypatch):
    def warn(**_):
        for message in ("the classifier\n starts anew", "the classifier starts anew"):
            warnings.warn(message, stacklevel=1)
        warnings.warn("argument x is old", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr(cli, "_parsed", lambda *_: (warn, {}))
    assert cli.main(["models"]) == 0
    assert capsys.readouterr().err == "note: the classifier starts anew\n"


OWN_GROUP = """
import torch, equicolor as ec

@ec.register_group
class Negative(ec.Factor):
    prefix, quantity, unit, period = "negative", "negative", " turns", 2.0

    def move(self, images, amount):
        share = torch.as_tensor(amount * torch.pi / 2, dtype=images.dtype).sin() ** 2
        return images + (1 - 2 * images) * share
"""


def test_a_group_of_ones_own_is_known_to_the_command_line_by_its_file(home, monkeypatch):
    from equicolor.groups import _names

    monkeypatch.setattr(_names, "_FACTORS", dict(_names._FACTORS))
    (home / "negatives.py").write_text(OWN_GROUP)
    exec(OWN_GROUP, {"__name__": "negatives"})
    ec.save_pretrained(ec.create_model("z2cnn", "negative2", width=6), home / "runs" / "own" / "model", classes=NAMES)
    own = {"EQUICOLOR_PLUGINS": "negatives"}
    run(home, "inspect", "runs/own", "images/0.png", "--out", "own.png", **own)
    assert "negative +1 turns" in table(home / "own.csv")[0]
    run(home, "evaluate", "runs/own", "--data", "digits", "--limit", 20, "--curve", "negative", **own)
    shifts = [float(row["shift"]) for row in table(home / "evaluation" / "digits-test-negative-curve.csv")]
    assert shifts == pytest.approx([step / 18 for step in range(37)])
    done = run(home, "inspect", "runs/own", "images/0.png", code=1)
    assert "unknown group 'negative2'" in done.stderr
    done = run(home, "data", code=1, EQUICOLOR_PLUGINS="nowhere")
    assert "the plugin nowhere, which EQUICOLOR_PLUGINS names, cannot be imported" in done.stderr


def test_a_curve_over_light_is_drawn_in_its_units(home):
    done = run(home, "evaluate", "runs/digits", "--data", "digits", "--limit", 20, "--curve", "temp")
    assert "temp shift" in done.stdout
    rows = table(home / "evaluation" / "digits-test-temp-curve.csv")
    assert [float(row["shift"]) for row in rows] == pytest.approx([step / 10 for step in range(-10, 11)])
