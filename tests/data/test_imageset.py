"""Fetching batches, from memory and as a stream, whole or with files that cannot be read."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import original_formats as formats
from equicolor.data import Batch, CorruptImageError, ImageSet, load


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    formats.write_class_folders(tmp_path, per_class=10)
    return tmp_path


def whole(root: Path, **arguments: object) -> ImageSet:
    return load("folder", root, "all", image_size=8, **arguments)  # type: ignore[arg-type]


def test_a_set_says_what_it_is(pictures: Path) -> None:
    images = whole(pictures)
    assert (len(images), images.num_classes, images.image_size, images.task) == (20, 2, 8, "classification")
    assert images.images.dtype == torch.uint8
    assert images.labels.dtype == torch.int64
    assert images.held


def test_a_stream_gives_the_same_batches_as_memory(pictures: Path) -> None:
    held, streamed = whole(pictures), whole(pictures, in_memory=False)
    assert not streamed.held
    for one, other in zip(held.batches(7), streamed.batches(7), strict=True):
        assert torch.equal(one.images, other.images)
        assert torch.equal(one.targets, other.targets)
    with pytest.raises(AttributeError, match="streams"):
        _ = streamed.images


def test_samples_are_floats_in_the_unit_interval(pictures: Path) -> None:
    image, label = whole(pictures)[13]
    assert image.shape == (3, 8, 8)
    assert image[:, 0, 0].tolist() == pytest.approx([100 / 255, 30 / 255, 0])
    assert label == 1
    assert torch.equal(whole(pictures)[-7].images, image)
    with pytest.raises(IndexError, match="has 20 images"):
        whole(pictures)[20]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_fetches_whole_batches_with_any_number_of_workers(pictures: Path, workers: int) -> None:
    images = whole(pictures, in_memory=False, shift="hue:uniform", seed=3)
    expected = images[range(20)]
    batches = list(images.loader(batch_size=8, num_workers=workers))
    assert [len(batch.images) for batch in batches] == [8, 8, 4]
    assert all(isinstance(batch, Batch) for batch in batches)
    assert torch.allclose(torch.cat([batch.images for batch in batches]), expected.images, atol=1e-6)
    assert torch.equal(torch.cat([batch.targets for batch in batches]), expected.targets)


def test_a_set_can_be_sent_to_another_process(pictures: Path) -> None:
    for in_memory in (True, False):
        images = whole(pictures, in_memory=in_memory, shift="hue:uniform")
        again = pickle.loads(pickle.dumps(images))
        assert torch.equal(again[[3, 4]].images, images[[3, 4]].images)


def test_a_shuffled_epoch_is_a_function_of_seed_and_epoch(pictures: Path) -> None:
    images = whole(pictures)

    def order(seed: int, epoch: int) -> list[int]:
        parts = [batch.images[:, :, 0, 0] for batch in images.batches(6, shuffle=True, seed=seed, epoch=epoch)]
        return torch.cat(parts).mul(255).round().long()[:, :2].sum(1).tolist()

    assert order(0, 0) == order(0, 0)
    assert len({tuple(order(0, 0)), tuple(order(0, 1)), tuple(order(1, 0)), tuple(range(20))}) == 4
    assert sorted(order(0, 0)) == sorted(order(0, 1))
    assert [len(b.images) for b in images.batches(6, drop_last=True)] == [6, 6, 6]


def test_a_subset_keeps_the_colours_of_its_images(pictures: Path) -> None:
    images = whole(pictures, shift="hue:uniform", seed=9)
    some = images.subset([4, 17])
    assert torch.allclose(some[range(2)].images, images[[4, 17]].images, atol=1e-6)
    assert some.labels.tolist() == [0, 1]


def test_a_smaller_sample_is_part_of_a_larger_one(pictures: Path) -> None:
    images = whole(pictures)
    few, many = images.sample(5, seed=1), images.sample(10, seed=1)
    assert set(few.rows.tolist()) < set(many.rows.tolist())
    with pytest.raises(ValueError, match="cannot sample 21"):
        images.sample(21)


def test_batches_of_bytes_are_the_images_as_they_are_stored(pictures: Path) -> None:
    stored = whole(pictures, as_bytes=True)
    assert torch.equal(stored[range(20)].images, stored.images)
    assert torch.equal(stored.with_shift(None)[range(20)].images, stored.images.float() / 255)
    with pytest.raises(ValueError, match="under the shift hue:90"):
        whole(pictures, as_bytes=True, shift="hue:90")


def test_another_shift_shares_the_pixels(pictures: Path) -> None:
    images = whole(pictures, shift="hue:90")
    turned = images.with_shift("hue:120")
    assert turned.source is images.source
    plain = images.with_shift(None)
    assert torch.equal(turned[range(20)].images, plain[range(20)].images.roll(1, 1))


# ------------------------------------------------------------------------------------------------ unreadable images


def damage(root: Path) -> list[Path]:
    truncated, nonsense = root / "cat" / "3.png", root / "dog" / "0.png"
    truncated.write_bytes(truncated.read_bytes()[:-30])
    nonsense.write_bytes(b"<html>404</html>")
    return [truncated, nonsense]


@pytest.mark.parametrize("in_memory", [True, False])
def test_an_unreadable_image_is_an_error_that_names_the_file(pictures: Path, in_memory: bool) -> None:
    broken = damage(pictures)
    with pytest.raises(CorruptImageError, match=str(broken[0])):
        whole(pictures, in_memory=in_memory)[range(20)]


def test_a_truncated_jpeg_is_found_out(tmp_path: Path) -> None:
    formats.write_image(tmp_path / "a" / "0.jpg", (64, 64))
    path = tmp_path / "a" / "0.jpg"
    path.write_bytes(path.read_bytes()[:1500])
    with pytest.raises(CorruptImageError, match=str(path)):
        whole(tmp_path)


def test_unreadable_images_are_skipped_and_counted_when_asked(pictures: Path) -> None:
    broken = damage(pictures)
    images = whole(pictures, on_error="skip")
    assert len(images) == 18
    assert images.skipped == 2
    assert images.skipped_files == [str(path) for path in broken]
    assert images.labels.tolist() == [0] * 9 + [1] * 9
    assert images.original_rows.tolist() == [row for row in range(20) if row not in (3, 10)]


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_report_what_they_skipped(pictures: Path, workers: int) -> None:
    broken = damage(pictures)
    images = whole(pictures, on_error="skip", in_memory=False)
    assert images.skipped == 0
    batches = list(images.loader(batch_size=5, num_workers=workers))
    assert [len(batch.images) for batch in batches] == [4, 5, 4, 5]
    assert [batch.targets.tolist() for batch in batches] == [[0] * 4, [0] * 5, [1] * 4, [1] * 5]
    assert images.skipped_files == [str(path) for path in broken]
    assert len(images) == 20  # what a stream holds is known only once it is read


def test_a_batch_without_a_single_readable_image_is_an_error(pictures: Path) -> None:
    damage(pictures)
    with pytest.raises(CorruptImageError, match="none of the 2 images"):
        whole(pictures, on_error="skip", in_memory=False)[[3, 10]]


def test_an_unreadable_mask_is_skipped_with_its_image(tmp_path: Path) -> None:
    formats.write_caltech101(tmp_path)
    (tmp_path / "Annotations" / "Faces_2" / "annotation_0001.mat").write_bytes(b"no")
    arguments = {"task": "segmentation", "check_size": False, "image_size": 16}
    with pytest.raises(CorruptImageError, match=r"annotation_0001\.mat"):
        load("caltech101", tmp_path, **arguments)  # type: ignore[arg-type]
    for in_memory in (True, False):
        masked = load("caltech101", tmp_path, on_error="skip", in_memory=in_memory, **arguments)  # type: ignore[arg-type]
        images, masks = masked[range(len(masked))]
        assert len(images) == len(masks) == 7
        assert masked.skipped_files == [str(tmp_path / "101_ObjectCategories" / "Faces" / "image_0001.jpg")]


def test_masks_and_numbers_of_any_kind_choose_images(pictures: Path) -> None:
    images = whole(pictures)
    chosen = images.labels == 1
    assert len(images.subset(chosen)) == 10
    assert torch.equal(images.subset(chosen).labels.unique(), torch.tensor([1]))
    assert torch.equal(images[chosen].targets, images.labels[chosen])
    for index in (np.int64(3), torch.tensor(3)):
        assert torch.equal(images[index].images, images[3].images)
    assert torch.equal(images[2:5].images, images[[2, 3, 4]].images)
    with pytest.raises(IndexError, match="one entry for each of 20 images, got 3"):
        images[torch.tensor([True, False, True])]
    with pytest.raises(TypeError, match="whole numbers or by a mask"):
        images[[1.5]]


def test_any_data_loader_takes_it(pictures: Path) -> None:
    images = whole(pictures)
    for loader in (torch.utils.data.DataLoader(images, 8), images.loader(8), images.loader(8, num_workers=1)):
        first = next(iter(loader))
        assert torch.equal(first[0], images[:8].images)
        assert torch.equal(first[1], images.labels[:8])
    _, rest = torch.utils.data.random_split(images, [15, 5])
    assert next(iter(torch.utils.data.DataLoader(rest, 5)))[0].shape == (5, 3, 8, 8)


def test_the_repr_is_a_line(pictures: Path) -> None:
    assert repr(whole(pictures)) == "<folder all: 20 images of 8×8, 2 classes, in memory>"
    assert "under hue:90, streaming" in repr(whole(pictures, in_memory=False, shift="hue:90"))


def test_sixteen_bits_are_scaled_and_not_cut_off(tmp_path: Path) -> None:
    (tmp_path / "grey").mkdir()
    Image.fromarray(np.full((8, 8), 32896, dtype=np.uint16)).save(tmp_path / "grey" / "one.png")
    assert whole(tmp_path)[0].images.mean().item() == pytest.approx(128 / 255)


# ---------------------------------------------------------------------------------------------- classes by name


def test_classes_are_matched_by_name_and_not_by_position(pictures: Path) -> None:
    images = load("folder", pictures, "all", image_size=8)
    other = images.with_classes(["zebra", *reversed(images.classes)])
    assert [other.classes[label] for label in other.labels] == [images.classes[label] for label in images.labels]
    assert torch.equal(other[:].images, images[:].images)
    assert images.with_classes(images.classes) is images


def test_images_of_a_class_that_is_not_expected_are_refused_by_name(pictures: Path) -> None:
    images = load("folder", pictures, "all", image_size=8)
    stranger = images.classes[1]
    with pytest.raises(ValueError, match=f"has images of '{stranger}'"):
        images.with_classes([images.classes[0], "zebra"])
    rest = images.subset(images.labels == 0)
    assert rest.with_classes([images.classes[0], "zebra"]).classes == (images.classes[0], "zebra")  # it has none of it
    with pytest.raises(ValueError, match="several are called 'cat'"):
        images.with_classes(["cat", "cat"])
