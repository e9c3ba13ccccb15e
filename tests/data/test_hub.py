"""The hub's layout, through the same call as the hub itself: Parquet files of encoded images."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import original_formats as formats
from equicolor.data import CorruptImageError, DataNotFoundError, ImageSet, _hub, load
from equicolor.data._registry import DATASETS

datasets = pytest.importorskip("datasets")


def png(array: formats.Array) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, format="PNG")
    return buffer.getvalue()


def write_table(path: Path, images: list[bytes], image: str = "img", names: list[str] | None = None, **columns: Any):
    """A Parquet file as the hub stores it; with class names in its metadata, or without."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [{"bytes": data, "path": f"{row}.png"} for row, data in enumerate(images)]
    table = datasets.Dataset.from_dict({image: cells, **columns}).cast_column(image, datasets.Image(decode=False))
    if names:
        table = table.cast_column("label", datasets.ClassLabel(names=names))
    table.to_parquet(path)


def small(name: str, root: Path, split: str, tmp_path: Path, **arguments: Any) -> ImageSet:
    return load(name, root, split, check_size=False, cache=tmp_path / "cache", **arguments)


@pytest.mark.parametrize("place", ["", "data"])
def test_parquet_files_in_the_hubs_layout_are_read(tmp_path: Path, place: str) -> None:
    arrays = formats.pixels(4, 32, 32, 3)
    folder = tmp_path / "cifar10" / place
    write_table(folder / "train-00000-of-00002.parquet", [png(a) for a in arrays[:3]], label=[3, 1, 2])
    write_table(folder / "train-00001-of-00002.parquet", [png(a) for a in arrays[3:]], label=[9])
    write_table(folder / "test-00000-of-00001.parquet", [png(arrays[0])], label=[0])
    cifar = small("cifar10", tmp_path, "train", tmp_path)
    assert torch.equal(cifar.images, torch.from_numpy(arrays).permute(0, 3, 1, 2))
    assert cifar.labels.tolist() == [3, 1, 2, 9]
    assert cifar.classes[9] == "truck"
    streamed = small("cifar10", tmp_path, "train", tmp_path, in_memory=False)
    assert torch.equal(streamed[[3, 0]].images, cifar[[3, 0]].images)


def on_the_hub(monkeypatch: pytest.MonkeyPatch, name: str, folder: Path) -> None:
    """load_dataset takes a folder for a repository of the hub, if there is one of that name."""
    hub = replace(DATASETS[name].hub, path=str(folder))  # type: ignore[type-var]
    monkeypatch.setitem(DATASETS, name, replace(DATASETS[name], hub=hub))


def test_the_hub_is_asked_for_what_is_not_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = formats.pixels(2, 40, 50, 3)
    write_table(
        tmp_path / "hub" / "train-00000-of-00001.parquet", [png(a) for a in arrays], "image", ["x", "y"], label=[1, 0]
    )
    write_table(tmp_path / "hub" / "test-00000-of-00001.parquet", [png(arrays[0])], "image", ["x", "y"], label=[1])
    on_the_hub(monkeypatch, "oxford_pets", tmp_path / "hub")
    pets = small("oxford_pets", tmp_path / "root", "train", tmp_path, where="hub", image_size=40)
    assert torch.equal(pets.images, torch.from_numpy(arrays[:, :, 5:45]).permute(0, 3, 1, 2))
    assert pets.classes == ("x", "y")
    assert len(small("oxford_pets", tmp_path / "root", "test", tmp_path, download=True, image_size=40)) == 1


def test_columns_of_the_hub_select_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = formats.pixels(6, 96, 96)
    for part in ("train", "test"):
        write_table(
            tmp_path / "hub" / f"{part}-00000-of-00001.parquet",
            [png(a) for a in arrays],
            "image_lt",
            category=[0, 1, 2, 3, 4, 0],
            lighting=[0, 1, 2, 3, 4, 5],
        )
    on_the_hub(monkeypatch, "small_norb", tmp_path / "hub")
    norb = small("small_norb", tmp_path / "root", "test_c", tmp_path, where="hub")
    assert norb.labels.tolist() == [4, 0]
    assert torch.equal(norb.images[:, 0], torch.from_numpy(arrays[4:]))


def test_a_row_that_cannot_be_read_is_named_or_skipped(tmp_path: Path) -> None:
    good = png(formats.pixels(32, 32, 3))
    write_table(tmp_path / "test-00000-of-00001.parquet", [good, good[:40], good], label=[0, 1, 2])
    with pytest.raises(CorruptImageError, match=r"row 1 of .*test-00000-of-00001\.parquet \(1\.png\)"):
        small("cifar10", tmp_path, "test", tmp_path)
    cifar = small("cifar10", tmp_path, "test", tmp_path, on_error="skip")
    assert cifar.labels.tolist() == [0, 2]
    assert cifar.skipped == 1


def test_a_table_without_the_columns_is_an_error_that_lists_them(tmp_path: Path) -> None:
    write_table(tmp_path / "test-00000-of-00001.parquet", [png(formats.pixels(32, 32, 3))], "picture", number=[0])
    with pytest.raises(ValueError, match="lacks the columns img, label; it has picture, number"):
        small("cifar10", tmp_path, "test", tmp_path)


def test_a_hub_out_of_reach_is_an_error_that_says_what_to_put_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: Any, **__: Any) -> Any:
        raise ConnectionError("no route")

    monkeypatch.setattr(_hub, "_load", unreachable)
    with pytest.raises(DataNotFoundError, match="tiny-imagenet-200") as error:
        load("tiny_imagenet", tmp_path, download=True)
    assert "zh-plus/tiny-imagenet cannot be read: ConnectionError: no route" in str(error.value)


def test_every_split_has_a_name_on_the_hub() -> None:
    for description in DATASETS.values():
        if description.hub:
            # Hospitals are told apart by a column that the hub's tables do not have.
            named = {split for split in description.splits if not split.startswith("hospital")}
            assert set(description.hub.splits) == named, description.name


def test_labels_are_whole_numbers_whatever_the_table_stores(tmp_path: Path) -> None:
    write_table(
        tmp_path / "test-00000-of-00001.parquet", [png(formats.pixels(32, 32, 3))], label=np.int32([7]).tolist()
    )
    assert small("cifar10", tmp_path, "test", tmp_path).labels.dtype == torch.int64
