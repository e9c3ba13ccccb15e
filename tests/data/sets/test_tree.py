"""What a user's folders are: splits of classes, or classes, or not to be told."""

from pathlib import Path

import pytest

from equicolor.data import AmbiguousLayoutError, DataNotFoundError, describe, load, splits_of
from original_formats import write_image


def grow(root: Path, *files: str) -> Path:
    for number, name in enumerate(files):
        write_image(root / f"{name}.png", (8, 8), (number, 0, 0))
    return root


def tree(root: Path, **parts: str) -> Path:
    """Two images of each class, ``train="ab"``."""
    return grow(root, *(f"{part}/{name}/{n}" for part, names in parts.items() for name in names for n in range(2)))


@pytest.mark.parametrize(
    "parts",
    [
        {"train": "ab", "test_pink": "ab", "test_blue": "ab"},
        {"train": "ab", "lab3": "ab"},
        {"train": "ab", "lab3": "a", "Klinik Süd": "b"},  # parts of the classes
        {"train": "ab", "lab3": "abc", "test": "d"},  # and others, which are refused where they are compared
        {"val": "ab", "test": "ab"},  # nothing but names of splits
        {"train": "ab"},
        {"training": "ab", "test2": "ab"},
    ],
    ids=str,
)
def test_splits_may_have_any_names_beside_train(tmp_path: Path, parts: dict[str, str]) -> None:
    tree(tmp_path, **parts)
    first = sorted(parts, key=lambda name: (name != "train", name))
    assert splits_of(tmp_path) == (*first, "all")
    for part, names in parts.items():
        images = load(tmp_path, split=part)
        assert images.classes[:2] == ("a", "b")
        assert {images.classes[label] for label in images.labels} == set(names)
    assert describe(tmp_path).layout == "split/class/image"
    assert describe(tmp_path).cut == "given"


@pytest.mark.parametrize(
    "files",
    [
        ["a/0", "b/0"],
        ["a/slide1/0", "b/slide2/0", "b/1"],
        ["bus/0", "train/0"],  # a class may be called train …
        ["bus/2020/0", "train/0"],  # … whatever the others hold
        ["pink/spring/0", "blue/autumn/0"],
        ["valve/0/1", "testis/1/2"],  # which only begin like splits
    ],
    ids=" ".join,
)
def test_classes_hold_images(tmp_path: Path, files: list[str]) -> None:
    grow(tmp_path, *files)
    images = load(tmp_path, split="all")
    assert images.classes == tuple(sorted({name.partition("/")[0] for name in files}))
    assert len(images) == len(files)
    assert describe(tmp_path).layout == "class/image"


@pytest.mark.parametrize(
    ("files", "readings"),
    [
        (
            ["bus/red/0", "train/ice/0"],
            "as splits bus and train of the classes ice and red; or as classes bus and train",
        ),
        (
            ["pink/a/0", "blue/a/0", "blue/b/0"],
            "as splits blue and pink of the classes a and b; or as classes blue and",
        ),
        (["train/a/0", "test/a/0", "test/1"], "of the classes a, where 1 image would be in no class; or as classes"),
        (["train/a/0", "figures/1"], "as splits figures and train of the classes a, where 1 image would be in no"),
        (
            ["train/0", "test/0"],
            "as splits test and train of the classes none, where 2 images would be in no class; or",
        ),
        (["release/a/0", "release/b/0"], r"or give .*release if that is what holds your classes"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_tree_that_could_be_both_is_refused_with_both_readings(
    tmp_path: Path, files: list[str], readings: str
) -> None:
    grow(tmp_path, *files)
    for act in (load, splits_of, describe):
        with pytest.raises(AmbiguousLayoutError, match=readings) as error:
            act(tmp_path)
        assert "layout='splits' or layout='classes' (--layout of 'equicolor data', --set data_options.layout=" in str(
            error.value
        )
    assert load(tmp_path, split="all", layout="classes").classes == tuple(sorted({f.partition("/")[0] for f in files}))


def test_what_the_folders_are_can_be_said(tmp_path: Path) -> None:
    tree(tmp_path, bus="ab", train="cd")
    assert splits_of(tmp_path, layout="splits") == ("train", "bus", "all")
    assert splits_of(tmp_path, layout="classes") == ("train", "val", "test", "all")
    assert describe(tmp_path, layout="splits").counts == {
        "train": {"c": 2, "d": 2},
        "bus": {"c": 0, "d": 0, "a": 2, "b": 2},
    }
    with pytest.raises(ValueError, match="layout must be 'splits' or 'classes', got 'both'"):
        splits_of(tmp_path, layout="both")  # type: ignore[arg-type]
    grow(tmp_path, "bus/stray")
    with pytest.raises(ValueError, match=r"as a split, .*bus holds 1 image in none of its class folders, such"):
        splits_of(tmp_path, layout="splits")


def test_classes_that_training_has_not_come_last_so_that_all_splits_number_the_others_alike(tmp_path: Path) -> None:
    tree(tmp_path, train="bc", test="abc")
    assert load(tmp_path, split="train").classes == ("b", "c")
    test = load(tmp_path, split="test")
    assert test.classes == ("b", "c", "a")
    with pytest.raises(ValueError, match="test has images of 'a', which is none of the 2 classes"):
        test.with_classes(load(tmp_path, split="train").classes)


def test_all_splits_together_are_the_whole_set(tmp_path: Path) -> None:
    tree(tmp_path, train="ab", test="a", lab3="b")
    whole = load(tmp_path, split="all")
    parts = [load(tmp_path, split=split) for split in ("train", "test", "lab3")]
    assert len(whole) == sum(map(len, parts)) == 8
    pixels = sorted(bytes(image) for part in parts for image in part.images.numpy())
    assert sorted(map(bytes, whole.images.numpy())) == pixels
    for name in "ab":
        here = [
            bytes(i)
            for i, label in zip(whole.images.numpy(), whole.labels, strict=True)
            if whole.classes[label] == name
        ]
        assert len(here) == sum((part.labels == part.classes.index(name)).sum() for part in parts)


def test_a_split_cannot_be_called_all(tmp_path: Path) -> None:
    tree(tmp_path, train="a", all="a")
    with pytest.raises(ValueError, match="a split cannot be called 'all'"):
        load(tmp_path)


def test_empty_folders_are_named(tmp_path: Path) -> None:
    tree(tmp_path, train="ab", test="ab")
    (tmp_path / "val").mkdir()
    (tmp_path / "test" / "c").mkdir()
    assert len(load(tmp_path, split="train")) == 4
    with pytest.raises(DataNotFoundError, match=r"val holds no images in class folders"):
        load(tmp_path, split="val")
    with pytest.raises(DataNotFoundError, match=r"the class folder .*c holds no images \(looked for .bmp"):
        load(tmp_path, split="test")


def test_hidden_folders_and_images_beside_the_folders_are_left_out(tmp_path: Path) -> None:
    tree(tmp_path, train="ab", test="ab")
    grow(tmp_path, ".cache/c/0", "train/.cache/0", "overview")
    assert len(load(tmp_path, split="all")) == 8
    assert describe(tmp_path).notes == (f"1 image directly in {tmp_path}, in no class, left out",)


def test_folders_that_are_links_are_followed(tmp_path: Path) -> None:
    tree(tmp_path / "elsewhere", one="ab", two="ab")
    for root in ("splits", "classes"):
        (tmp_path / root / "train").mkdir(parents=True)
    (tmp_path / "splits" / "test").symlink_to(tmp_path / "elsewhere" / "one")
    (tmp_path / "splits" / "train" / "a").symlink_to(tmp_path / "elsewhere" / "two" / "a")
    assert [len(load(tmp_path / "splits", split=split)) for split in ("train", "test")] == [2, 4]


def test_a_file_or_nothing_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").touch()
    with pytest.raises(ValueError, match=r"cells\.csv is a file, expected a folder of images"):
        load("folder", tmp_path / "cells.csv")
    with pytest.raises(DataNotFoundError, match="there is no folder"):
        load("folder", tmp_path / "nowhere")
