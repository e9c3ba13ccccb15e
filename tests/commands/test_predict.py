"""``equicolor predict`` as a user runs it: whatever the files are called, wherever it is stopped, into every format."""

import csv
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor import cli, commands
from equicolor.models import Preparation

SOURCE = Path(ec.__file__).parents[1]
CLASSES = ["=cat", "dog", "-1"]

#: Imported by the command line as a plugin: the process is killed in the middle of its n-th batch of rows.
KILLS = """
import os, signal
from equicolor.commands import _output

batches = 0

def flush(output, whole=_output.Output.flush):
    global batches
    batches += 1
    if batches == int(os.environ["KILL_AT"]):
        text = "".join(output._waiting)
        output._file.write(text[: int(len(text) * 0.6)])
        output._file.flush()
        os.kill(os.getpid(), int(os.environ["KILL_BY"]))
    whole(output)

_output.Output.flush = flush
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a saved network, and with images of which one is broken."""
    torch.manual_seed(0)
    home = tmp_path_factory.mktemp("home")
    (home / "images").mkdir()
    names = [f"{number:02}.png" for number in range(19)] + ["=1+1.png", "+a.png", "@b;=c.png", "a\nb.png", "\tx.png"]
    for number, name in enumerate([*names, os.fsdecode(b"caf\xe9.png")]):
        pixels = np.random.default_rng(number).integers(0, 256, (3, 3, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((30, 30)).save(home / "images" / name)
    model = ec.create_model("z2cnn", "hue3", num_classes=3, width=4)
    model.preparation = Preparation(28)
    for _ in range(20):  # norms that have seen images
        model(model.preprocess([home / "images" / name for name in names]))
    ec.save_pretrained(model.eval(), home / "model", CLASSES)
    (home / "images" / "07.png").write_bytes(b"no image")
    (home / "kills.py").write_text(KILLS)
    return home


@pytest.fixture
def home(made, tmp_path, monkeypatch):
    """A working folder, with the network and the images of the other."""
    monkeypatch.chdir(tmp_path)
    for name in ("model", "images", "kills.py"):
        (tmp_path / name).symlink_to(made / name)
    return tmp_path


def predict(*arguments, code=0, **variables):
    """``equicolor predict`` in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", **variables}
    command = [sys.executable, "-m", "equicolor", "predict", "model", *map(str, arguments), "--device", "cpu"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    return done


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def parquet(path):
    return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()


# ------------------------------------------------------------------------------------------------ names


def test_no_name_stops_a_prediction_or_is_a_formula(home):
    done = predict("images", "--out", "said.csv")
    rows = table("said.csv")
    assert {Path(row["path"]).name for row in rows} >= {
        "=1+1.png",
        r"caf\xe9.png",
        r"a\nb.png",
        r"\tx.png",
        "@b;=c.png",
    }
    assert len(rows) == 24
    assert set(rows[0]) == {"path", "class", "probability", "p(=cat)", "p(dog)", "p(-1)"}
    assert {row["class"] for row in rows} <= {"'=cat", "dog", "-1"}  # a number runs nothing
    assert "07.png: cannot be read as an image (it holds none of" in done.stderr
    assert "1 of 25 could not be read" in done.stderr
    assert "24 predictions: said.csv (" in done.stderr


def test_names_at_the_start_of_a_row_are_no_formulas(home, monkeypatch):
    monkeypatch.chdir(home / "images")
    done = commands.predict("../model", ["=1+1.png", "+a.png"], out=home / "said.csv", device="cpu")
    assert done.count == done.new == 2
    assert [row["path"] for row in table(home / "said.csv")] == ["'=1+1.png", "'+a.png"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_what_a_folder_may_hold_beside_images_is_counted_and_said(home):
    (home / "mixed").mkdir()
    (home / "mixed" / "good.png").symlink_to(home / "images" / "00.png")
    (home / "mixed" / "gone.png").symlink_to("nowhere")
    (home / "mixed" / "loop").symlink_to(home / "mixed")
    os.mkfifo(home / "mixed" / "pipe.png")
    (home / "mixed" / "script.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n")
    Image.new("L", (5_000_000, 1)).save(home / "mixed" / "long.png")
    done = predict("mixed")
    assert [line.partition(",")[0] for line in done.stdout.splitlines()[1:]] == ["mixed/good.png", "mixed/long.png"]
    assert "mixed/gone.png: a link that leads nowhere" in done.stderr
    assert "mixed/loop: a link that leads back to" in done.stderr
    assert "mixed/pipe.png: it is a named pipe, not a regular file" in done.stderr
    assert "mixed/script.png: cannot be read as an image" in done.stderr
    assert "4 of 6 could not be read" in done.stderr


# ------------------------------------------------------------------------------------------------ formats


def test_every_format_has_the_same_rows(home):
    for name in ("said.csv", "said.jsonl", "said.parquet"):
        commands.predict("model", ["images"], out=Path(name), device="cpu")
    rows = parquet("said.parquet")
    lines = [json.loads(line) for line in Path("said.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [list(row) for row in rows[:1]] == [["path", "class", "probability", "p(=cat)", "p(dog)", "p(-1)"]]
    for row, line, cells in zip(rows, lines, table("said.csv"), strict=True):
        assert row["path"] == line["path"] == cells["path"].removeprefix("'")
        assert row["class"] == line["class"] == cells["class"].removeprefix("'")
        assert row["probability"] == line["probability"] == float(cells["probability"])
        assert [row[f"p({name})"] for name in CLASSES] == list(line["probabilities"].values())
        assert [float(cells[f"p({name})"]) for name in CLASSES] == list(line["probabilities"].values())
    assert sorted(path.name for path in home.glob("said*")) == ["said.csv", "said.jsonl", "said.parquet"]


def test_the_format_can_be_given_against_the_name(home):
    commands.predict("model", ["images"], out=Path("said.txt"), format_="parquet", device="cpu")
    assert len(parquet("said.txt")) == 24


def test_parquet_is_written_in_parts(home, monkeypatch):
    monkeypatch.setattr("equicolor.commands._rows._ROWS_AT_ONCE", 5)
    commands.predict("model", ["images"], out=Path("said.parquet"), device="cpu")
    assert pytest.importorskip("pyarrow.parquet").ParquetFile("said.parquet").num_row_groups == 5
    assert len(parquet("said.parquet")) == 24


def test_two_classes_of_one_name_are_told_apart_by_csv_only(home):
    torch.manual_seed(0)
    ec.save_pretrained(ec.create_model("z2cnn", "hue3", num_classes=2, width=4), home / "twins", ["a", "a"])
    with pytest.raises(ValueError, match="several classes are called 'a', which only --format csv can hold"):
        commands.predict("twins", ["images"], out=Path("said.jsonl"))


# ------------------------------------------------------------------------------------------------ stopped, gone on


def interrupted(batches, *images, **options):
    """Predicts in batches of 4 until so many are written and somebody presses Ctrl-C."""

    @contextmanager
    def progress(*_, **__):
        def advance(_):
            nonlocal batches
            batches -= 1
            if not batches:
                raise KeyboardInterrupt

        yield advance

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("equicolor.commands._console.progress", progress)
        with pytest.raises(KeyboardInterrupt):
            predicted(*images, **options)


def predicted(*images, model="model", out="said.csv", **options):
    return commands.predict(model, images, out=Path(out), **{"batch_size": 4, "device": "cpu", **options})


@pytest.mark.parametrize(
    ("name", "by"), [("said.csv", "SIGKILL"), ("said.jsonl", "SIGTERM"), ("said.parquet", "SIGKILL")]
)
def test_a_killed_prediction_goes_on_to_the_same_rows(home, name, by, capsys):
    predicted("images", out=f"whole-{name}")
    number = int(getattr(signal, by))
    killed = {"EQUICOLOR_PLUGINS": "kills", "KILL_AT": "3", "KILL_BY": str(number)}  # two batches are there, and a half
    predict("images", "--batch_size", 4, "--out", name, code=-number, **killed)
    assert not Path(name).exists()
    interrupted(1, "images", out=name, resume=True)
    capsys.readouterr()
    done = predicted("images", out=name, resume=True)
    assert (done.count, done.new, done.bad) == (24, 12, 1)
    told = capsys.readouterr().err
    assert "12 rows are there already, 13 images are left" in told  # one is broken
    assert "1 of 25 could not be read" in told
    if name.endswith(".parquet"):
        assert parquet(name) == parquet(f"whole-{name}")
        assert len({row["probability"] for row in parquet(name)}) > 20  # they are not all alike
    else:
        assert Path(name).read_bytes() == Path(f"whole-{name}").read_bytes()
    assert sorted(path.name for path in home.glob(f"{name}*")) == [name]


def test_a_stopped_file_says_how_to_go_on_and_is_not_written_over_unasked(home, capsys):
    interrupted(2, "images")
    assert "What was predicted is in said.csv.partial: the same command with --resume" in capsys.readouterr().err
    kept = Path("said.csv.partial").read_bytes()
    assert cli.main(["predict", "model", "images", "--out", "said.csv"]) == 1
    assert "said.csv.partial has rows of a prediction that was stopped: add --resume" in capsys.readouterr().err
    assert Path("said.csv.partial").read_bytes() == kept


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_size": 32}, "its preparation was"),
        ({"batch_size": 5}, "its batch_size was 4, now it is 5"),
        ({"format_": "jsonl"}, "its format was csv, now it is jsonl"),
        ({"compile_": True}, "its compile was False, now it is True"),
        ({"model": "other"}, "its model was"),
    ],
)
def test_rows_of_something_else_are_not_gone_on_with(home, options, message):
    torch.manual_seed(1)
    model = ec.create_model("z2cnn", "hue3", num_classes=3, width=4)
    ec.save_pretrained(model, home / "other", CLASSES, preparation=Preparation(28))
    interrupted(2, "images")
    with pytest.raises(ValueError, match=message):
        predicted("images", resume=True, **options)


def test_rows_of_which_nothing_is_known_are_left_alone(home):
    interrupted(2, "images")
    Path("said.csv.partial.json").unlink()
    with pytest.raises(ValueError, match=r"said\.csv\.partial\.json, which says what .* cannot be read: delete both"):
        predicted("images", resume=True)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files")
def test_a_full_disk_is_named_and_the_rows_that_fitted_are_gone_on_with(home, capsys):
    import resource

    predicted("images", out="whole.csv")
    free = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (800, free[1]))  # of the 1,200 bytes or so
    try:
        with pytest.raises(OSError, match=r"said\.csv\.partial"):
            predicted("images")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, free)
    assert "What was predicted is in said.csv.partial: the same command with --resume" in capsys.readouterr().err
    assert predicted("images", resume=True).new < 24
    assert Path("said.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_rows_that_a_disk_lost_are_predicted_again(home):
    predicted("images", out="whole.csv")
    interrupted(4, "images")
    partial = Path("said.csv.partial")
    lines = partial.read_bytes().splitlines(keepends=True)
    partial.write_bytes(b"".join(lines[:10]) + bytes(100) + b"\n" + b"".join(lines[12:]))
    done = predicted("images", resume=True)
    assert (done.count, done.new) == (24, 16)  # 9 rows are whole, of which 8 are whole batches
    assert Path("said.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_files_that_came_later_are_predicted_too_and_none_twice(home):
    (home / "own").mkdir()
    for number in range(10, 19):
        (home / "own" / f"{number}.png").symlink_to(home / "images" / f"{number}.png")
    interrupted(1, "own")
    (home / "own" / "00.png").symlink_to(home / "images" / "00.png")
    predicted("own", resume=True)
    assert sorted(row["path"] for row in table("said.csv")) == [f"own/{name}.png" for name in ("00", *range(10, 19))]


def test_a_complete_file_is_left_as_it_is(home, capsys):
    predicted("images", resume=True)
    before = Path("said.csv").stat()
    assert predicted("images", resume=True).new == 0
    assert Path("said.csv").stat() == before
    assert "said.csv is complete, and left as it is" in capsys.readouterr().err


def test_a_data_set_goes_on_too(home):
    torch.manual_seed(0)
    ec.save_pretrained(ec.create_model("z2cnn", "hue3", width=4).eval(), home / "digits")
    options = {"model": "digits", "data": "digits", "limit": 30}
    predicted(out="whole.csv", **options)
    interrupted(2, **options)
    done = predicted(resume=True, **options)
    assert (done.count, done.new) == (30, 22)
    assert Path("said.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_two_commands_do_not_write_one_file(home):
    fcntl = pytest.importorskip("fcntl")
    with open("said.csv.partial", "a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match=r"another command is writing said\.csv\.partial"):
            commands.predict("model", ["images"], out=Path("said.csv"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resume"], "--resume needs a file to go on with: --out FILE"),
        (["--format", "parquet"], "--format parquet needs a file: --out FILE"),
        (["--backend", "onnx", "--compile"], "--compile is for --backend torch"),
        (["--workers", "-1"], "workers must be 0 or more, got -1"),
        (["--batch_size", "0", "--out", "said.csv"], "batch_size must be positive, got 0"),
        (["--image_size", "1000000"], "image_size must be at most"),
    ],
)
def test_what_does_not_go_together_is_said(home, arguments, message, capsys):
    assert cli.main(["predict", "model", "images", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not list(home.glob("said*"))


# ------------------------------------------------------------------------------------------------ what computes


def test_a_network_without_finite_logits_is_an_error(home, capsys):
    model = ec.from_pretrained("model")
    next(model.parameters()).data.fill_(1e38)  # finite still, its sums are not
    ec.save_pretrained(model, home / "broken")
    assert cli.main(["predict", "broken", "images", "--out", "said.csv"]) == 1
    assert "the network does not compute finite logits" in capsys.readouterr().err
    assert not list(home.glob("said*"))


def test_threads_and_backends_change_nothing(home):
    pytest.importorskip("onnxruntime")
    ec.export_onnx(ec.from_pretrained("model"), home / "model.onnx")
    ways = {
        "alone": ("model", {"workers": 0}),
        "threads": ("model", {"workers": 3}),
        "onnx": ("model", {"backend": "onnx"}),
        "file": ("model.onnx", {}),
    }
    found = {}
    for way, (model, options) in ways.items():
        out = Path(f"{way}.csv")
        predicted("images", model=model, out=out, **options)
        found[way] = np.array([[float(row[f"p({name})"]) for name in CLASSES] for row in table(out)])
    assert np.array_equal(found["alone"], found["threads"])
    assert np.abs(found["alone"] - found["onnx"]).max() < 1e-4
    assert np.abs(found["alone"] - found["file"]).max() < 1e-4


def test_a_compiled_network_predicts_the_same(home, monkeypatch):
    compiled = []
    monkeypatch.setattr(torch, "compile", lambda network: compiled.append(network) or network)
    commands.predict("model", ["images"], out=Path("said.csv"), compile_=True, device="cpu")
    assert len(compiled) == 1
    assert len(table("said.csv")) == 24
