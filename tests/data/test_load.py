"""Finding, splitting and naming data sets."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import original_formats as formats
from equicolor.data import DataNotFoundError, Held, Raw, _cut, list_datasets, load
from equicolor.data._registry import DATASETS

PAPER = "mnist shapes3d camelyon17 cifar10 cifar100 caltech101 stanford_cars oxford_pets stl10 small_norb tiny_imagenet"


def test_every_set_of_the_paper_is_there() -> None:
    assert {*PAPER.split(), "imagenet", "folder", "digits"} <= set(list_datasets())


def test_importing_the_data_is_cheap() -> None:
    heavy = ["datasets", "kornia", "h5py", "PIL", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "lightning"]
    code = f"import sys, equicolor.data; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_missing_library_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    formats.write_class_folders(tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs 'PIL'.*pip install 'equicolor\[train\]'"):
        load("folder", tmp_path)


# ------------------------------------------------------------------------------------------------ sizes


def rows_of(name: str, split: str, count: int, seed: int = 0, **columns: torch.Tensor) -> torch.Tensor:
    images = Held(torch.zeros(1, 1, 1, 1, dtype=torch.uint8).expand(count, -1, -1, -1))
    return _cut.rows_of(Raw(images, torch.zeros(count), (), columns), DATASETS[name].splits[split], seed)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("mnist", {"train": 60_000, "test": 10_000}),
        ("cifar10", {"train": 50_000, "test": 10_000}),
        ("cifar100", {"train": 50_000, "val": 50_000, "test": 10_000}),
        ("caltech101", dict.fromkeys(("train", "val", "test", "two_thirds", "one_third"), 8_677)),
        ("digits", {"train": 1_500, "test": 297}),
    ],
)
def test_splits_of_complete_releases_have_their_published_sizes(name: str, counts: dict[str, int]) -> None:
    for split, count in counts.items():
        assert len(rows_of(name, split, count)) == DATASETS[name].splits[split].size


def shape_hues() -> dict[str, torch.Tensor]:
    names = ("floor_hue", "wall_hue", "object_hue")
    grid = torch.unravel_index(torch.arange(480_000), (10, 10, 10, 480))
    return dict(zip(names, grid, strict=False))


def test_hue_shift_3d_shapes_has_the_papers_blocks_and_sizes() -> None:
    hues = shape_hues()
    rows = {s: rows_of("hue_shift_shapes3d", s, 480_000, **hues) for s in ("train", "test_a", "test_b", "test_c")}
    assert {s: len(r) for s, r in rows.items()} == {
        "train": 48_000,
        "test_a": 12_000,
        "test_b": 12_000,
        "test_c": 12_000,
    }
    low, high = set(range(5)), set(range(5, 10))
    expected = {"train": (low, low, low), "test_a": (low, low, low), "test_b": (high,) * 3, "test_c": (low, low, high)}
    for split, sets in expected.items():
        assert tuple(set(hue[rows[split]].tolist()) for hue in hues.values()) == sets
    assert not set(rows["train"].tolist()) & set(rows["test_a"].tolist())
    # The test sets differ in colour alone: the same shapes, sizes and orientations in each.
    assert torch.equal(rows["test_a"] % 480, rows["test_b"] % 480)
    assert torch.equal(rows["test_a"] % 480, rows["test_c"] % 480)


def test_varied_shapes_have_different_rows_in_each_split() -> None:
    for name in ("saturation_shift_shapes3d", "luminance_shift_shapes3d"):
        rows = [rows_of(name, split, 480_000) for split in list_datasets()[name]]
        assert [len(r) for r in rows] == [48_000, 12_000, 12_000, 12_000]
        assert len(torch.cat(rows).unique()) == 84_000


def test_a_split_is_a_function_of_its_seed() -> None:
    assert torch.equal(rows_of("cifar100", "val", 50_000, seed=1), rows_of("cifar100", "val", 50_000, seed=1))
    assert not torch.equal(rows_of("cifar100", "val", 50_000, seed=1), rows_of("cifar100", "val", 50_000, seed=2))
    first = rows_of("cifar100", "val", 50_000)[:6].tolist()
    assert first == [6, 8, 16, 18, 21, 23]  # on every machine


# ------------------------------------------------------------------------------------------------ finding


@pytest.mark.parametrize("name", [*PAPER.replace("shapes3d", "").split(), "imagenet"])
def test_without_files_the_message_says_which_to_put_where(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError) as error:
        load(name, tmp_path)
    assert str(tmp_path / name) in str(error.value)
    assert DATASETS[name].layout in str(error.value)


def test_the_root_is_found_through_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    formats.write_stl10(tmp_path / "stl10" / "stl10_binary")
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path))
    assert len(load("stl10", check_size=False)) == 4


def test_unknown_names_are_met_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"unknown data set 'minst'.*mnist"):
        load("minst", tmp_path)
    with pytest.raises(ValueError, match="mnist has no split 'val': expected one of 'train', 'test'"):
        load("mnist", tmp_path, "val")
    with pytest.raises(ValueError, match=r"mnist has no masks: for segmentation there are caltech101, shapes3d, "):
        load("mnist", tmp_path, task="segmentation")
    with pytest.raises(DataNotFoundError, match="takes the folder that holds your images"):
        load("folder")
    with pytest.raises(ValueError, match="on_error must be"):
        load("folder", tmp_path, on_error="ignore")  # type: ignore[arg-type]


def test_another_image_size_is_resampled(tmp_path: Path) -> None:
    images, _ = formats.write_stl10(tmp_path / "stl10_binary")
    half = load("stl10", tmp_path, image_size=48, check_size=False)
    means = torch.from_numpy(images).float().unflatten(2, (48, 2)).unflatten(4, (48, 2)).mean((3, 5))
    assert half.image_size == 48
    assert (half.images.float() - means).abs().max() <= 0.5
    assert load("stl10", tmp_path, image_size=50, check_size=False).images.shape[-1] == 50


def test_hue_shift_mnist_is_mnist_under_its_shifts(tmp_path: Path) -> None:
    formats.write_mnist(tmp_path)
    for split, part, shift in (
        ("train", "train", "0..240"),
        ("test_a", "test", "0..240"),
        ("test_b", "test", "240..360"),
    ):
        named = load("hue_shift_mnist", tmp_path, split, seed=5, check_size=False)
        same = load("mnist", tmp_path, part, f"hue:{shift}", seed=5, check_size=False)
        assert torch.equal(named[range(6)].images, same[range(6)].images)
        assert str(named.shift) == f"hue:{shift}"


def test_a_shift_is_added_to_that_of_the_split() -> None:
    assert str(load("hue_shift_digits", split="test_b", shift="sat:-0.2").shift) == "hue:240..360,sat:-0.2"


@pytest.mark.parametrize("size", [0, -3, (32, 32)])
def test_bad_image_sizes_are_refused(size: object) -> None:
    with pytest.raises(ValueError, match="image_size must be a positive number"):
        load("digits", image_size=size)  # type: ignore[arg-type]
