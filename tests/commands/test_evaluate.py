"""``equicolor evaluate``: several sets in one table, and numbers that plain PyTorch agrees with."""

import json

import pytest
import torch

import equicolor as ec
from by_hand import by_hand, rows
from cells import CLASSES, cells
from equicolor import cli, commands
from equicolor.commands._sets import free_stem, named_sets
from equicolor.data import Column, Description, Held, Raw, Split, _registry
from equicolor.models import Preparation
from equicolor.train import Recipe, fit


def saved(classes=CLASSES, **about):
    """A network that says different things of different images."""
    torch.manual_seed(0)
    model = ec.create_model("z2cnn", "hue4", num_classes=len(classes), width=4)
    model(torch.rand(8, 3, 32, 32))  # norms that have seen images
    with torch.no_grad():
        list(model.parameters())[-2].mul_(40)
    model.preparation = Preparation(32)
    return ec.save_pretrained(model.eval(), "model", list(classes), **about)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved()
    for seed, name in enumerate(("pink", "blue", "lab3")):
        cells(tmp_path / name, seed)
    return tmp_path


# ---------------------------------------------------------------------------------------------- the numbers


def test_every_number_agrees_with_plain_pytorch_on_the_saved_probabilities(home):
    commands.evaluate("model", data="pink", device="cpu")
    found = json.loads((home / "evaluation" / "pink-all.json").read_text())["metrics"]
    expected = by_hand(home / "evaluation" / "pink-all-predictions.csv", CLASSES, 1)
    assert {name: found[name]["value"] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert 0 < expected["error"] < 1
    assert found["balanced_error"]["value"] == pytest.approx(1 - expected["balanced_accuracy"], abs=1e-6)


def test_so_do_those_of_ten_classes(home):
    classes = tuple("0123456789")
    saved(classes)
    commands.evaluate("model", data="digits", device="cpu", shift="hue:90")
    found = json.loads((home / "evaluation" / "digits-test-hue_90.json").read_text())
    expected = by_hand(home / "evaluation" / "digits-test-hue_90-predictions.csv", classes, None)
    assert {name: found["metrics"][name]["value"] for name in expected} == pytest.approx(expected, abs=1e-6)
    assert found["positive"] is None


# ---------------------------------------------------------------------------------------------- several sets


def test_several_folders_give_one_table_and_files_of_their_own(home, capsys):
    assert cli.main(["evaluate", "model", "--data", "pink", "blue/", "lab3", "--metrics", "error,auc"]) == 0
    said = capsys.readouterr()
    assert said.out.count("images") == 2  # the head of the one table, and what the intervals are of
    lines = {line.split()[0]: line for line in said.out.splitlines() if line.strip()}
    for name in ("pink", "blue", "lab3"):
        numbers = json.loads((home / "evaluation" / f"{name}-all.json").read_text())
        assert f"{numbers['error']:.2%}" in lines[name]
        assert f"{numbers['metrics']['auc']['value']:.2%}" in lines[name]
        assert len(rows(home / "evaluation" / f"{name}-all-predictions.csv")) == 24
    assert "F1" not in said.out
    assert "AUC: positive is 'sick'." in said.out


def test_an_evaluation_says_what_it_is_of(home):
    commands.evaluate("model", data=["pink", "blue"], shift="hue:90", limit=20, device="cpu", positive="healthy")
    found = json.loads((home / "evaluation" / "blue-all-hue_90.json").read_text())
    card = json.loads((home / "model" / "config.json").read_text())
    assert found["model"] == {
        "folder": "model",
        "network": f"z2cnn, hue4, {card['parameters']:,} parameters",
        "sha256": card["sha256"],
    }
    assert found["data"].pop("fingerprint")
    assert found["data"] == {
        "name": "folder", "root": "blue", "split": "all", "images": 20, "limit": 20, "shift": "hue:90",
    }  # fmt: skip
    assert (found["image_size"], found["preprocessing"]["resize"], found["positive"]) == (32, 32, "healthy")
    assert found["library_version"] == ec.__version__
    assert found["time"].endswith("+00:00")
    assert found["intervals"]["resamples"] == 1000
    assert set(found["per_class"]) == set(CLASSES)


def test_of_a_path_every_test_split_is_evaluated_and_no_other(home):
    for seed, split in enumerate(("train", "test_blue", "test_pink")):
        cells(home / "all" / split, seed)
    assert [each.title for each in named_sets(["all/"], None, ())] == ["all test_blue", "all test_pink"]
    assert [each.split for each in named_sets(["pink"], None, ())] == ["all"]
    cells(home / "all" / "test", 4)
    assert [each.split for each in named_sets(["all"], None, ())] == ["test"]


def test_nothing_is_overwritten(home):
    for _ in range(3):
        commands.evaluate("model", data="pink", device="cpu")
    found = sorted(path.name for path in (home / "evaluation").glob("*.json"))
    assert found == ["pink-all-2.json", "pink-all-3.json", "pink-all.json"]
    (home / "evaluation" / "pink-all-4-predictions.csv").write_text("mine")
    assert free_stem(home / "evaluation", "pink-all", [".json", "-predictions.csv"]).name == "pink-all-5"


def test_sets_are_told_apart_by_name_and_given_once(home):
    for name in ("a", "b"):
        cells(home / name / "cells")
    assert [each.stem for each in named_sets(["a/cells", "b/cells/", "digits"], None, [])] == [
        "a-cells-all",
        "b-cells-all",
        "digits-test",
    ]
    with pytest.raises(ValueError, match="pink/ is given twice"):
        named_sets(["pink", "pink/"], None, [])
    with pytest.raises(ValueError, match=r"pink is a path, and the root is blue besides"):
        named_sets(["pink"], home.__class__("blue"), [])


def test_a_path_is_evaluated_whole_unless_it_has_a_test_split(home):
    cells(home / "cut" / "train")
    cells(home / "cut" / "test", count=6)
    results = commands.evaluate("model", data=["pink", "cut"], device="cpu")
    assert {name: result.count for name, result in results.items()} == {"pink": 24, "cut test": 6}
    with pytest.raises(ValueError, match="cut has no split 'val': expected one of 'train', 'test', 'all'"):
        commands.evaluate("model", data="cut", split="val", device="cpu")
    both = commands.evaluate("model", data="cut", split=["test", "train"], device="cpu")
    assert {name: result.count for name, result in both.items()} == {"cut test": 6, "cut train": 24}


def test_what_does_not_exist_fails_before_anything_is_computed(home):
    with pytest.raises(ValueError, match="unknown data set 'pnik'"):
        commands.evaluate("model", data=["pink", "pnik"], device="cpu")
    with pytest.raises(ValueError, match="unknown metric 'acuracy': did you mean 'error'"):
        commands.evaluate("model", data="pink", metrics=["acuracy"], device="cpu")
    with pytest.raises(ValueError, match="no class 'ill' to be the positive one: expected one of healthy, sick"):
        commands.evaluate("model", data="pink", positive="ill", device="cpu")
    assert not list(home.glob("evaluation/*"))


def test_domains_have_rows_of_their_own_and_clusters_are_in_the_file(home, capsys, monkeypatch):
    def read(request):
        images = torch.randint(256, (12, 3, 32, 32), generator=torch.Generator().manual_seed(0)).byte()
        labs, slides = Column.of(["lab a", "lab b"] * 6), Column.of([f"s{number // 3}" for number in range(12)])
        return Raw(Held(images), torch.arange(12) // 2 % 2, CLASSES, domains=labs, clusters=slides)

    labs = Description("labs", "two labs", read, {"test": Split("test")}, image_size=32, folder="labs")
    monkeypatch.setitem(_registry.DATASETS, "labs", labs)
    result = commands.evaluate("model", data="labs", device="cpu")
    said = capsys.readouterr().out
    assert "\n   lab a" in said
    assert "resamples of clusters of images" in said
    assert "clusters, too few for its intervals to say much" in said
    found = json.loads((home / "evaluation" / "labs-test.json").read_text())["domains"]
    assert found["lab b"]["metrics"]["error"]["value"] == result.by_domain["lab b"].error
    first = rows(home / "evaluation" / "labs-test-predictions.csv")[4]
    assert (first["file"], first["domain"], first["cluster"]) == ("labs/test/4", "lab a", "s1")


# ---------------------------------------------------------------------------------------------- what is seen, and not


def test_training_images_are_noticed(home, capsys):
    recipe = Recipe(
        "folder", "z2cnn", data_options={"root": str(home / "pink"), "seed": 3}, iterations=2, batch_size=8,
        model_options={"width": 4}, loggers=["csv"], accelerator="cpu",
    )  # fmt: skip
    fit(recipe, home / "run", quiet=True)
    capsys.readouterr()
    for data, split, note in (
        ("pink", [], "was trained on 19 of the 24 images of pink."),
        ("pink", ["train"], "was trained on 19 of the 19 images of pink train."),
        ("pink", ["test"], None),
        ("blue", [], None),
    ):
        commands.evaluate("run", data=data, split=split, device="cpu")
        said = capsys.readouterr().err
        assert note in said if note else "Note" not in said


def test_a_network_that_computes_nan_is_an_error_and_nothing_is_written(home, capsys):
    model = ec.from_pretrained(home / "model")
    with torch.no_grad():
        next(model.parameters()).fill_(1e38)  # finite still, its sums are not
    ec.save_pretrained(model, "broken", list(CLASSES))
    for command in (["evaluate", "broken", "--data", "pink"], ["predict", "broken", "pink"]):
        assert cli.main(command) == 1
        assert "does not compute finite logits" in capsys.readouterr().err
    assert not list(home.glob("evaluation/*"))


def test_curves_of_several_sets_are_in_one_plot(home, capsys):
    results = commands.evaluate("model", data=["pink", "blue"], curve="lum", limit=4, device="cpu")
    assert list(results) == ["pink", "blue"]
    written = sorted(path.name for path in (home / "evaluation").iterdir())
    assert written == [
        "blue-all-lum-curve.csv",
        "pink-all-blue-all-lum-curve.html",
        "pink-all-blue-all-lum-curve.png",
        "pink-all-lum-curve.csv",
    ]
    assert rows(home / "evaluation" / "blue-all-lum-curve.csv")[0].keys() == {"shift", "error", "calibration_error"}
    assert "error on several sets" in capsys.readouterr().out
