"""Fingerprints: which images a set consists of, told without reading them."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import original_formats as formats
from equicolor.data import Fingerprint, ImageSet, load

datasets = pytest.importorskip("datasets")


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    formats.write_class_folders(tmp_path / "here", per_class=10)
    return tmp_path / "here"


def whole(root: Path, split: str = "all", **arguments: object) -> ImageSet:
    return load("folder", root, split, image_size=8, **arguments)  # type: ignore[arg-type]


def test_it_depends_neither_on_the_place_of_the_files_nor_on_memory(pictures: Path, tmp_path: Path) -> None:
    expected = whole(pictures).fingerprint()
    shutil.copytree(pictures, tmp_path / "elsewhere" / "deeper")  # with new times of change
    for root in (pictures, tmp_path / "elsewhere" / "deeper"):
        for in_memory in (True, False):
            assert whole(root, in_memory=in_memory).fingerprint() == expected
    parts = [whole(pictures, in_memory=in_memory).sample(7).fingerprint() for in_memory in (True, False)]
    assert parts[0] == parts[1] != expected
    assert parts[0].digest == parts[1].digest != expected.digest


def test_it_says_what_can_be_read_and_goes_through_json(pictures: Path) -> None:
    found = whole(pictures).fingerprint()
    assert (found.count, found.classes, found.image_size) == (20, ("cat", "dog"), 8)
    assert Fingerprint.from_dict(found.to_dict()) == found
    assert found.to_dict()["classes"] == ["cat", "dog"]
    with pytest.raises(ValueError, match="expected the fingerprint of a set"):
        Fingerprint.from_dict({"count": 3})


def test_deleted_images_and_renamed_classes_are_named(pictures: Path) -> None:
    before = whole(pictures).fingerprint()
    assert before.changes(whole(pictures).fingerprint()) == ""
    (pictures / "cat" / "3.png").unlink()
    assert before.changes(whole(pictures).fingerprint()) == "20 images before, 19 now"
    (pictures / "cat").rename(pictures / "tabby")  # now the dogs come first: the labels swap
    assert before.changes(whole(pictures).fingerprint()) == (
        "20 images before, 19 now; 2 classes before, 2 now, without 'cat' and with 'tabby'"
    )
    assert "images of 8×8 before, 4×4 now" in before.changes(
        load("folder", pictures, "all", image_size=4).fingerprint()
    )


def test_many_classes_are_not_all_listed() -> None:
    before = Fingerprint(1, tuple(f"old{i}" for i in range(9)), 8, "", "", "")
    after = replace(before, classes=("new",))
    assert before.changes(after) == (
        "9 classes before, 1 now, without 'old0', 'old1', 'old2', 'old3' and 5 others and with 'new'"
    )
    assert before.changes(replace(before, classes=before.classes[::-1])).endswith("9 now, in another order")


def test_names_sizes_and_labels_are_told_apart(pictures: Path) -> None:
    images = whole(pictures)
    before = images.fingerprint()
    labels = images.labels.clone()
    labels[[0, 19]] = labels[[19, 0]]
    assert before.changes(replace(images, labels=labels).fingerprint()) == (
        "as many images and the same classes, names and sizes or contents, but other labels"
    )
    formats.write_image(pictures / "dog" / "4.png", (64, 64))
    resized = whole(pictures).fingerprint()
    assert (
        before.changes(resized) == "as many images and the same classes, names and labels, but other sizes or contents"
    )
    (pictures / "dog" / "4.png").rename(pictures / "dog" / "44.png")
    assert "the same classes, labels and sizes or contents, but other names" in resized.changes(
        whole(pictures).fingerprint()
    )


def test_files_are_asked_for_their_size_once_and_never_read(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in pictures.rglob("*.png"):
        path.write_bytes(b"no image")
    images = whole(pictures, in_memory=False)
    asked, stat = [], os.stat
    monkeypatch.setattr(os, "stat", lambda path, **options: asked.append(path) or stat(path, **options))
    images.fingerprint()
    assert len(asked) == len(set(asked)) == 20


def test_a_file_that_is_listed_and_not_there_has_its_place(pictures: Path) -> None:
    images = whole(pictures, in_memory=False)
    before = images.fingerprint()
    (pictures / "cat" / "3.png").unlink()
    assert "but other sizes" in before.changes(images.fingerprint())


def test_arrays_are_told_apart_by_a_few_images(tmp_path: Path) -> None:
    for name in ("one", "other"):
        formats.write_cifar_binary(tmp_path / name / "cifar10" / "cifar-10-batches-bin", count=10)
    changed = tmp_path / "other" / "cifar10" / "cifar-10-batches-bin" / "data_batch_1.bin"

    def found(name: str, **arguments: object) -> Fingerprint:
        return load("cifar10", tmp_path / name, check_size=False, **arguments).fingerprint()  # type: ignore[arg-type]

    assert found("one") == found("other") == found("one", in_memory=False)
    data = bytearray(changed.read_bytes())
    data[1] ^= 1
    changed.write_bytes(data)
    assert found("one").changes(found("other")).endswith("but other sizes or contents")


@pytest.mark.parametrize("task", ["classification", "segmentation"])
def test_rendered_images_have_the_fingerprint_of_those_held(task: str) -> None:
    streamed = load("hue_shift_shapes3d", split="test_b", task=task, in_memory=False).sample(30)  # type: ignore[arg-type]
    assert streamed.fingerprint() == streamed.in_memory().fingerprint()
    assert streamed.fingerprint() != streamed.subset(torch.arange(30).flip(0)).fingerprint()


def test_the_annotations_of_masks_belong_to_it(tmp_path: Path) -> None:
    formats.write_caltech101(tmp_path)

    def found(**arguments: object) -> Fingerprint:
        options = {"task": "segmentation", "check_size": False, "image_size": 16, **arguments}
        return load("caltech101", tmp_path, **options).fingerprint()  # type: ignore[arg-type]

    before = found()
    assert found(in_memory=False) == before
    for path in (tmp_path / "Annotations").rglob("*.mat"):
        path.write_bytes(path.read_bytes() + b"more")
    assert before.changes(found(in_memory=False)).endswith("but other sizes or contents")


def test_tables_are_told_apart_by_a_few_encoded_images(tmp_path: Path) -> None:
    images = [path.read_bytes() for path in _pngs(tmp_path)]

    def found(name: str, images: list[bytes], **arguments: object) -> Fingerprint:
        path = tmp_path / name / "cifar10" / "train-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        cells = [{"bytes": data, "path": None} for data in images]
        table = datasets.Dataset.from_dict({"img": cells, "label": list(range(len(images)))})
        table.cast_column("img", datasets.Image(decode=False)).to_parquet(path)
        options = {"check_size": False, "cache": tmp_path / "cache", **arguments}
        return load("cifar10", tmp_path / name, **options).fingerprint()  # type: ignore[arg-type]

    assert found("a", images) == found("b", images, in_memory=False)
    assert found("a", images) != found("c", [images[1], images[0], *images[2:]])


def _pngs(folder: Path) -> list[Path]:
    formats.write_class_folders(folder / "pngs", per_class=2)
    return sorted((folder / "pngs").rglob("*.png"))
