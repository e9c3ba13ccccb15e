"""Training on images of a user's own, by a path."""

from pathlib import Path

import pytest

import original_formats as formats
from equicolor import commands
from equicolor.cli import main
from equicolor.data import load
from equicolor.train import Recipe, fit
from equicolor.trained import open_model

SHORT = {"iterations": 2, "batch_size": 4, "model_options": {"width": 4}, "loggers": ["csv"], "accelerator": "cpu"}


def write(folder: Path, count: int, *classes: str) -> None:
    for name in classes:
        for number in range(count):
            formats.write_image(folder / name / f"{number}.png", (30, 28), (9 * number, 99, 0))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders that are splits, and a table of images of eight patients, in two stains."""
    monkeypatch.chdir(tmp_path)
    for part, classes in (("train", ("cat", "dog")), ("test_pink", ("dog",)), ("lab3", ("cat", "dog"))):
        write(tmp_path / "labs" / part, 6, *classes)
    write(tmp_path / "img", 16, "cat", "dog")
    rows = [
        f"img/{kind}/{n}.png,{kind},{'pink' if n % 2 else 'blue'},p{n // 2}"
        for kind in ("cat", "dog")
        for n in range(16)
    ]
    (tmp_path / "cells.csv").write_text("\n".join(["file,class,domain,group", *rows]))
    return tmp_path


def recipe(data: str, **changes: object) -> Recipe:
    return Recipe.from_dict({"data": data, "model": "z2cnn", **SHORT, **changes})


def test_a_path_for_a_name_is_kept_as_a_root(home: Path) -> None:
    made = recipe("labs/", data_options={"image_size": 28})
    assert (made.data, made.data_options) == ("folder", {"image_size": 28, "root": "labs/"})
    assert recipe("cells.csv").data == "table"
    assert Recipe.from_dict(made.to_dict()) == made


def test_test_splits_are_those_found_whose_names_begin_so(home: Path) -> None:
    assert recipe("labs").test_splits == ["test_pink"]
    assert recipe("labs", train_split="lab3", test_splits=["train", "test_pink"]).train_split == "lab3"
    assert recipe("cells.csv").test_splits == ["test"]
    with pytest.raises(
        ValueError, match=r"unknown split of folder 'lab4'. Did you mean 'lab3'\? There are train, lab3, t"
    ):
        recipe("labs", test_splits=["lab4"])
    (home / "labs" / "test_pink").rename(home / "labs" / "pink")
    with pytest.raises(
        ValueError, match=r"labs has no split whose name begins with 'test': .* There are train, lab3, p"
    ):
        recipe("labs")


def test_a_layout_is_an_option_of_the_data(home: Path) -> None:
    (home / "labs" / "train").rename(home / "labs" / "pink")
    (home / "labs" / "test_pink").rename(home / "labs" / "blue")
    with pytest.raises(ValueError, match="can be read in two ways"):
        recipe("labs")
    made = recipe("labs", data_options={"layout": "splits"}, train_split="pink", test_splits=["blue", "lab3"])
    run = fit(made, home / "run", quiet=True)
    assert set(run.results) == {"blue", "lab3"}
    commands.evaluate("run", data="labs/", split="lab3", device="cpu")  # as it was said in training


def test_a_recipe_is_read_where_its_images_are_not(home: Path) -> None:
    written = recipe("labs").to_dict()
    (home / "labs").rename(home / "moved")
    assert Recipe.from_dict(written).test_splits == ["test_pink"]


def test_strangers_in_a_test_split_are_refused_by_name(home: Path) -> None:
    write(home / "labs" / "test_pink", 2, "eel")
    with pytest.raises(ValueError, match="folder test_pink has images of 'eel', which is none of the 2 classes"):
        fit(recipe("labs"), home / "run", quiet=True)


def test_what_was_found_is_printed_before_training(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit(recipe("cells.csv"), home / "run")
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "cells.csv: 32 images of 2 classes, read as a table of file, class, domain, group"
    assert said[1].startswith("  train: 24 images, of 6 groups: cat 12, dog 12")
    assert any("read as 28×28 unless image_size says otherwise" in line for line in said)
    assert any("keep the images of each of 8 groups together" in line for line in said)
    assert any("training on cells train: 24 images of 28×28" in line for line in said)


def test_a_table_is_cut_for_testing_as_for_training_whatever_it_is_called(home: Path) -> None:
    fit(recipe("cells.csv", data_options={"seed": 4}), home / "run", quiet=True)
    cuts = {seed: load("cells.csv", split="test", seed=seed).original_rows.tolist() for seed in (0, 4)}
    assert cuts[0] != cuts[4]
    assert open_model("run").seed_of("table") == 4
    commands.predict("run", data="cells.csv", device="cpu", out=home / "by_path.csv")
    commands.predict("run", data="table", root=home / "cells.csv", device="cpu", out=home / "by_name.csv")
    listed, by_path, by_name = (
        [line.partition(",")[0] for line in (home / name).read_text().splitlines()[1:]]
        for name in ("cells.csv", "by_path.csv", "by_name.csv")
    )
    assert by_path == [listed[row] for row in cuts[4]]
    assert by_name == [str(home / listed[row]) for row in cuts[4]]  # as the root was given


def test_train_data_and_evaluate_take_a_path(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [f"--set={key}={value}" for key, value in SHORT.items()]
    assert main(["data", "cells.csv"]) == 0
    assert "pink" in capsys.readouterr().out
    assert main(["train", "--data", "cells.csv", "--model", "z2cnn", "--folder", "run", *options]) == 0
    for path, split in (("cells.csv", "test"), ("labs/", "lab3"), (str(home / "img"), "all")):
        assert main(["evaluate", "run", "--data", path, "--split", split, "--device", "cpu"]) == 0
    written = {path.name for path in (home / "evaluation").glob("*.json")}
    assert written == {"cells-test.json", "labs-lab3.json", "img-all.json"}
    capsys.readouterr()
    assert main(["evaluate", "run", "--data", "nowhere/"]) == 1
    assert capsys.readouterr().err == "equicolor: there is no folder and no table nowhere/\n"
