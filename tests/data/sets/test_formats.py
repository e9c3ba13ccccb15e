"""Every data set loads from small files of exactly its published format."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import original_formats as formats
from equicolor.color import rgb_to_hsl
from equicolor.data import DataNotFoundError, ImageSet, Shapes, load


def small(name: str, root: Path, split: str = "train", **arguments: Any) -> ImageSet:
    return load(name, root, split, check_size=False, **arguments)


# ------------------------------------------------------------------------------------------------ mnist


@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize("split", ["train", "test"])
def test_mnist_reads_idx_files_plain_and_gzipped(tmp_path: Path, end: str, split: str) -> None:
    images, labels = formats.write_mnist(tmp_path / "mnist", end=end)
    mnist = small("mnist", tmp_path, split)
    assert mnist.images.shape == (6, 3, 28, 28)
    assert torch.equal(mnist.images[:, 1], torch.from_numpy(images))
    assert mnist.labels.tolist() == labels.tolist()
    assert mnist.gray


def test_a_truncated_idx_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    formats.write_mnist(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="train-images-idx3-ubyte announces"):
        small("mnist", tmp_path)


def test_a_truncated_gzip_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    formats.write_mnist(tmp_path, end=".gz")
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte\.gz is not a complete gzip file"):
        small("mnist", tmp_path)


def test_a_file_of_another_format_is_no_idx_file(tmp_path: Path) -> None:
    formats.write_mnist(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"<html>not found</html>")
    with pytest.raises(ValueError, match="no IDX file"):
        small("mnist", tmp_path)


# ------------------------------------------------------------------------------------------------ cifar


@pytest.mark.parametrize("write", [formats.write_cifar_binary, formats.write_cifar_python])
@pytest.mark.parametrize(("split", "repeats"), [("train", 5), ("test", 1)])
def test_cifar10_reads_both_releases(tmp_path: Path, write: Any, split: str, repeats: int) -> None:
    release = "cifar-10-batches-bin" if write is formats.write_cifar_binary else "cifar-10-batches-py"
    images, labels = write(tmp_path / "cifar10" / release)
    cifar = small("cifar10", tmp_path, split)
    assert torch.equal(cifar.images, torch.from_numpy(images).repeat(repeats, 1, 1, 1))
    assert cifar.labels.tolist() == labels.tolist() * repeats
    assert cifar.classes[0] == "airplane"


@pytest.mark.parametrize("write", [formats.write_cifar_binary, formats.write_cifar_python])
def test_cifar100_has_fine_labels_and_splits_training_by_seed(tmp_path: Path, write: Any) -> None:
    release = "cifar-100-binary" if write is formats.write_cifar_binary else "cifar-100-python"
    images, labels = write(tmp_path / release, hundred=True)
    train, val, test = (small("cifar100", tmp_path, split) for split in ("train", "val", "test"))
    assert (len(train), len(val), len(test)) == (8, 2, 10)
    assert sorted(train.original_rows.tolist() + val.original_rows.tolist()) == list(range(10))
    assert torch.equal(test.images, torch.from_numpy(images))
    assert torch.equal(train.images, torch.from_numpy(images)[train.original_rows])
    assert test.labels.tolist() == labels.tolist()
    assert test.classes[3] == "fine3"


def test_a_pickle_that_would_run_code_is_refused(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return (print, ("gotcha",))

    formats.write_cifar_python(tmp_path / "cifar-10-batches-py")
    (tmp_path / "cifar-10-batches-py" / "test_batch").write_bytes(pickle.dumps({b"data": Evil()}))
    with pytest.raises(ValueError, match=r"builtins\.print, which no CIFAR file needs"):
        small("cifar10", tmp_path, "test")


def test_a_truncated_cifar_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    formats.write_cifar_binary(tmp_path / "cifar-10-batches-bin")
    path = tmp_path / "cifar-10-batches-bin" / "data_batch_3.bin"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"data_batch_3\.bin has .* not a whole number of records"):
        small("cifar10", tmp_path)


# ------------------------------------------------------------------------------------------------ stl10, small NORB


def test_stl10_is_stored_column_by_column_and_labelled_from_1(tmp_path: Path) -> None:
    images, labels = formats.write_stl10(tmp_path / "stl10" / "stl10_binary")
    stl = small("stl10", tmp_path)
    assert torch.equal(stl.images, torch.from_numpy(images))
    assert stl.labels.tolist() == labels.tolist()


@pytest.mark.parametrize(
    ("split", "lighting"), [("train", {2, 3}), ("test_a", {2, 3}), ("test_b", {0, 1}), ("test_c", {4, 5})]
)
def test_small_norb_is_the_left_camera_split_by_lighting(tmp_path: Path, split: str, lighting: set[int]) -> None:
    images, lights = formats.write_small_norb(tmp_path / "small_norb")
    norb = small("small_norb", tmp_path, split)
    wanted = [row for row, light in enumerate(lights) if light in lighting]
    assert len(wanted) == 4
    assert norb.original_rows.tolist() == wanted
    assert torch.equal(norb.images[:, 0], torch.from_numpy(images[wanted, 0]))
    assert norb.labels.tolist() == [row % 5 for row in wanted]


def test_a_truncated_norb_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    formats.write_small_norb(tmp_path)
    path = next(tmp_path.glob("*training-info.mat"))
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ValueError, match=r"training-info\.mat announces"):
        small("small_norb", tmp_path)


# ------------------------------------------------------------------------------------------------ camelyon17


def test_camelyon17_trains_on_centers_0_3_4_and_tests_on_center_2(tmp_path: Path) -> None:
    rows = [(0, 0, 0), (1, 1, 0), (0, 2, 1), (1, 3, 0), (1, 4, 0), (0, 4, 1), (1, 2, 0)]
    formats.write_camelyon17(tmp_path / "camelyon17" / "camelyon17_v1.0", rows)
    train, val, id_val, test = (
        small("camelyon17", tmp_path, s, in_memory=False) for s in ("train", "val", "id_val", "test")
    )
    assert [s.original_rows.tolist() for s in (train, val, id_val, test)] == [[0, 3, 4], [1], [5], [2, 6]]
    assert train.labels.tolist() == [0, 1, 1]
    hospitals = [small("camelyon17", tmp_path, f"hospital_{number}", in_memory=False) for number in range(1, 6)]
    assert [s.original_rows.tolist() for s in hospitals] == [[0], [3], [4, 5], [1], [2, 6]]
    assert not train.held
    images, labels = train[[2, 0]]
    assert images.shape == (2, 3, 96, 96)
    assert torch.allclose(images[:, 0, 0, 0] * 255, torch.tensor([4.0, 0.0]))
    assert labels.tolist() == [1, 0]


def test_camelyon17_has_the_papers_sizes_when_complete(tmp_path: Path) -> None:
    # How many patches each center has, and how many of those in training hospitals are held back, in the release.
    centers = np.repeat([0, 1, 2, 3, 4], [59_436, 34_904, 85_054, 129_838, 146_722])
    split = np.zeros(len(centers), dtype=int)
    split[np.flatnonzero(np.isin(centers, (0, 3, 4)))[:33_560]] = 1
    lines = (f"{i},004,4,{i},0,1,0,{c},{s}" for i, (c, s) in enumerate(zip(centers, split, strict=True)))
    header = ",patient,node,x_coord,y_coord,tumor,slide,center,split"
    (tmp_path / "metadata.csv").write_text("\n".join([header, *lines]) + "\n")
    assert len(load("camelyon17", tmp_path, "train", in_memory=False)) == 302_436
    assert len(load("camelyon17", tmp_path, "test", in_memory=False)) == 85_054


def test_an_incomplete_release_is_found_out(tmp_path: Path) -> None:
    formats.write_camelyon17(tmp_path, [(0, 0, 0), (1, 2, 0)])
    with pytest.raises(ValueError, match=r"camelyon17 train has 1 images here, 302,436 as published"):
        load("camelyon17", tmp_path)


# ------------------------------------------------------------------------------------------------ photographs


def test_tiny_imagenet_reads_training_folders_and_the_validation_table(tmp_path: Path) -> None:
    formats.write_tiny_imagenet(tmp_path / "tiny_imagenet" / "tiny-imagenet-200")
    train, test = small("tiny_imagenet", tmp_path), small("tiny_imagenet", tmp_path, "test")
    assert train.classes == test.classes == ("n01", "n02")
    assert train.labels.tolist() == [0, 0, 1, 1]
    assert test.labels.tolist() == [1, 1, 0, 0]
    assert test.images.shape == (4, 3, 64, 64)


def test_imagenet_reads_class_folders(tmp_path: Path) -> None:
    for part in ("train", "val"):
        for name in ("n02", "n01"):
            formats.write_image(tmp_path / "imagenet" / part / name / "a.JPEG", (300, 280))
    train = small("imagenet", tmp_path, in_memory=False)
    assert train.classes == ("n01", "n02")
    assert train[0].images.shape == (3, 256, 256)
    assert len(small("imagenet", tmp_path, "test")) == 2


def test_unsorted_validation_images_of_imagenet_are_explained(tmp_path: Path) -> None:
    formats.write_image(tmp_path / "val" / "ILSVRC2012_val_00000001.JPEG")
    with pytest.raises(DataNotFoundError, match="sort them into"):
        small("imagenet", tmp_path, "test")


def test_oxford_pets_reads_its_lists(tmp_path: Path) -> None:
    formats.write_pets(tmp_path / "oxford_pets")
    pets = small("oxford_pets", tmp_path, image_size=16)
    assert pets.labels.tolist() == [0, 1, 0]
    assert pets.classes == ("Abyssinian", "yorkshire_terrier")
    assert pets.images.shape == (3, 3, 16, 16)


@pytest.mark.parametrize("split", ["train", "test"])
def test_stanford_cars_reads_the_development_kit(tmp_path: Path, split: str) -> None:
    formats.write_cars(tmp_path / "stanford_cars")
    cars = small("stanford_cars", tmp_path, split, image_size=16)
    assert cars.labels.tolist() == [1, 0]
    assert cars.classes == ("AM General Hummer SUV 2000", "Acura RL Sedan 2012")


def test_caltech101_has_classes_without_the_background(tmp_path: Path) -> None:
    formats.write_caltech101(tmp_path / "caltech101")
    parts = [small("caltech101", tmp_path, split, image_size=16) for split in ("train", "val", "test")]
    assert [len(part) for part in parts] == [8, 1, 1]
    assert parts[0].classes == ("Faces", "accordion")
    assert sorted(torch.cat([part.original_rows for part in parts]).tolist()) == list(range(10))


@pytest.mark.parametrize("in_memory", [True, False])
def test_caltech101_masks_are_the_inside_of_the_outline(tmp_path: Path, in_memory: bool) -> None:
    formats.write_caltech101(tmp_path / "caltech101")
    masked = small("caltech101", tmp_path, task="segmentation", in_memory=in_memory)
    images, masks = masked[[0, 7]]  # a face, whose annotations go by another name, and an accordion
    assert masked.task == "segmentation"
    assert images.shape == (2, 3, 224, 224)
    assert masks.shape == (2, 224, 224)
    assert masks.dtype == torch.int64
    # Columns 10 … 19 of 40 and rows 5 … 14 of 20, stretched to 224 × 224.
    rows, columns = masks[0].nonzero().unbind(1)
    assert (columns.min() * 40 // 224, columns.max() * 40 // 224) == (10, 19)
    assert (rows.min() * 20 // 224, rows.max() * 20 // 224) == (5, 14)
    assert torch.equal(masks[0], masks[1])
    assert masks[0].float().mean() == pytest.approx(100 / 800, rel=0.02)


def test_caltech101_has_the_papers_sizes_when_complete(tmp_path: Path) -> None:
    folder = tmp_path / "101_ObjectCategories" / "watch"
    folder.mkdir(parents=True)
    for number in range(8_677):
        (folder / f"image_{number:04d}.jpg").touch()  # never opened: the set streams
    sizes = {s: len(load("caltech101", tmp_path, s, in_memory=False)) for s in ("train", "val", "test")}
    assert sizes == {"train": 6_941, "val": 868, "test": 868}


# ------------------------------------------------------------------------------------------------ folder


def test_a_folder_without_splits_is_split_by_seed(tmp_path: Path) -> None:
    formats.write_class_folders(tmp_path)
    parts = [load("folder", tmp_path, split, image_size=8) for split in ("train", "val", "test")]
    assert [len(part) for part in parts] == [16, 2, 2]
    assert parts[0].classes == ("cat", "dog")
    assert len(load("folder", tmp_path, "all", image_size=8)) == 20


def test_a_folder_with_splits_is_taken_as_it_is(tmp_path: Path) -> None:
    formats.write_class_folders(tmp_path / "train", per_class=3)
    formats.write_class_folders(tmp_path / "test", per_class=2)
    assert len(load("folder", tmp_path, "train", image_size=8)) == 6
    assert len(load("folder", tmp_path, "test", image_size=8)) == 4


def test_splits_of_a_folder_number_their_classes_alike(tmp_path: Path) -> None:
    formats.write_class_folders(tmp_path / "train", per_class=1, classes=("ant", "bee", "cat"))
    formats.write_class_folders(tmp_path / "test", per_class=1, classes=("cat",))
    test = load("folder", tmp_path, "test", image_size=8)
    assert test.classes == ("ant", "bee", "cat")
    assert test.labels.tolist() == [2]
    with pytest.raises(ValueError, match=r"has no split 'val': expected one of 'train', 'test', 'all'"):
        load("folder", tmp_path, "val")


def test_a_class_may_be_called_train(tmp_path: Path) -> None:
    formats.write_class_folders(tmp_path, per_class=5, classes=("bus", "train"))
    vehicles = load("folder", tmp_path, "train", image_size=8)
    assert vehicles.classes == ("bus", "train")
    assert len(vehicles) == 8


def test_an_empty_class_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    formats.write_class_folders(tmp_path)
    (tmp_path / "eel").mkdir()
    with pytest.raises(DataNotFoundError, match="eel holds no images"):
        load("folder", tmp_path)


# ------------------------------------------------------------------------------------------------ shapes, digits


def test_the_original_3d_shapes_are_read_where_they_are(tmp_path: Path) -> None:
    rows = [(h / 10, 0.1, o / 10, 0.75, shape, -30.0) for h, o, shape in [(0, 2, 3), (7, 7, 1), (4, 9, 0), (1, 4, 2)]]
    images = formats.write_shapes3d(tmp_path / "shapes3d" / "3dshapes.h5", rows)
    shapes = small("shapes3d", tmp_path, "all")
    assert torch.equal(shapes.images, torch.from_numpy(images).permute(0, 3, 1, 2))
    assert shapes.labels.tolist() == [3, 1, 0, 2]
    streamed = pickle.loads(pickle.dumps(small("shapes3d", tmp_path, "all", in_memory=False)))
    assert torch.equal(streamed[[2, 0, 2]].images, shapes[[2, 0, 2]].images)
    halved = small("hue_shift_shapes3d", tmp_path, "test_c")  # wall 0.1, floor 0.4, object 0.9: the third row
    assert halved.original_rows.tolist() == [2]
    means = (
        torch.from_numpy(images[2]).permute(2, 0, 1).float().unflatten(1, (32, 2)).unflatten(3, (32, 2)).mean((2, 4))
    )
    assert (halved.images[0].float() - means).abs().max() <= 0.5


def test_embedded_shapes_load_by_row_without_files(tmp_path: Path) -> None:
    shapes = load("shapes3d", tmp_path, "all", in_memory=False, image_size=16)
    rows = [0, 123_456, 479_999]
    expected = Shapes(image_size=16).render(torch.tensor(rows))
    images, labels = shapes[rows]
    assert torch.equal((images * 255).round().to(torch.uint8), expected)
    assert labels.tolist() == [row // 15 % 4 for row in rows]


@pytest.mark.parametrize("name", ["shapes3d", "hue_shift_shapes3d", "saturation_shift_shapes3d"])
def test_masks_of_embedded_shapes_are_where_the_object_is(tmp_path: Path, name: str) -> None:
    shapes = load(name, tmp_path, "train", in_memory=False, task="segmentation", image_size=16).sample(30).in_memory()
    images, masks = shapes[:]
    assert images.shape == (30, 3, 16, 16)
    covered = Shapes(image_size=16).coverage(shapes.original_rows)[:, 2]
    assert torch.equal(masks, (covered >= 0.5).long())
    assert masks.flatten(1).any(1).all()
    assert not masks[:, 0].any()  # no object reaches the sky


@pytest.mark.parametrize("name", ["saturation_shift_shapes3d", "luminance_shift_shapes3d"])
def test_embedded_shapes_vary_in_saturation_and_light(tmp_path: Path, name: str) -> None:
    channel = 1 if name.startswith("saturation") else 2
    means = {}
    for split in ("train", "test_a", "test_b", "test_c"):
        shapes = load(name, tmp_path, split, in_memory=False, image_size=16)
        means[split] = rgb_to_hsl(shapes[range(200)].images)[:, channel].mean((1, 2))
    assert means["test_b"].mean() < 0.8 * means["train"].mean()
    assert means["test_c"].mean() > 1.1 * means["train"].mean()
    assert means["train"].mean().item() == pytest.approx(means["test_a"].mean().item(), rel=0.05)


def test_the_class_of_shapes_may_be_their_colour(tmp_path: Path) -> None:
    options = {"in_memory": False, "image_size": 16}
    shapes = load("color_of_shapes3d", tmp_path, "test", **options).sample(60)
    masks = load("color_of_shapes3d", tmp_path, "test", task="segmentation", **options).sample(60)[:].targets
    images, labels = shapes[:]
    assert shapes.classes == ("red", "cyan")
    assert set(labels.tolist()) == {0, 1}
    red, green, blue = ((images[:, channel] * masks).flatten(1).sum(1) for channel in range(3))
    assert torch.equal((red < green).long(), labels)
    assert torch.equal((red < blue).long(), labels)


def test_embedded_digits_need_no_files(tmp_path: Path) -> None:
    train, test = load("digits", tmp_path), load("digits", tmp_path, "test")
    assert (len(train), len(test)) == (1_500, 297)
    assert train.images.shape[1:] == (3, 28, 28)
    assert set(test.labels.tolist()) == set(range(10))
