"""Small files in exactly the formats that the data sets are published in, written for the tests."""

import gzip
import pickle
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Array = NDArray[np.uint8]


def pixels(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def write_image(path: Path, size: tuple[int, int] = (8, 8), colour: tuple[int, int, int] | None = None) -> Array:
    """An image file (width, height), of one colour or of noise; its pixels (H, W, 3), exact for PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    array = pixels(size[1], size[0], 3) if colour is None else np.full((size[1], size[0], 3), colour, np.uint8)
    Image.fromarray(array).save(path, format="PNG" if path.suffix == ".png" else "JPEG", quality=95)
    return array


def write_idx(path: Path, array: Array) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    content = header + array.tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def write_mnist(folder: Path, count: int = 6, end: str = "") -> tuple[Array, Array]:
    images, labels = pixels(count, 28, 28), np.arange(count, dtype=np.uint8) % 10
    for prefix in ("train", "t10k"):
        write_idx(folder / f"{prefix}-images-idx3-ubyte{end}", images)
        write_idx(folder / f"{prefix}-labels-idx1-ubyte{end}", labels)
    return images, labels


def write_cifar_binary(folder: Path, hundred: bool = False, count: int = 10) -> tuple[Array, Array]:
    folder.mkdir(parents=True)
    images, labels = pixels(count, 3, 32, 32), np.arange(count, dtype=np.uint8) % 10
    coarse = [labels[:, None] * 0 + 7] if hundred else []
    content = np.concatenate([*coarse, labels[:, None], images.reshape(count, -1)], axis=1)
    if hundred:
        (folder / "fine_label_names.txt").write_text("\n".join(f"fine{i}" for i in range(100)) + "\n")
        names = ["train.bin", "test.bin"]
    else:
        names = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
    for name in names:
        (folder / name).write_bytes(content.tobytes())
    return images, labels


def write_cifar_python(folder: Path, hundred: bool = False, count: int = 10) -> tuple[Array, Array]:
    folder.mkdir(parents=True)
    images, labels = pixels(count, 3, 32, 32), np.arange(count, dtype=np.uint8) % 10
    content = {b"data": images.reshape(count, -1), b"fine_labels" if hundred else b"labels": labels.tolist()}
    names = ["train", "test"] if hundred else [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]
    for name in names:
        (folder / name).write_bytes(pickle.dumps(content, protocol=2))
    if hundred:
        (folder / "meta").write_bytes(
            pickle.dumps({b"fine_label_names": [b"fine%d" % i for i in range(100)]}, protocol=2)
        )
    return images, labels


def write_stl10(folder: Path, count: int = 4) -> tuple[Array, Array]:
    folder.mkdir(parents=True)
    images, labels = pixels(count, 3, 96, 96), np.arange(count, dtype=np.uint8) % 10
    for part in ("train", "test"):
        (folder / f"{part}_X.bin").write_bytes(images.transpose(0, 1, 3, 2).tobytes())  # column by column
        (folder / f"{part}_y.bin").write_bytes((labels + 1).astype(np.uint8).tobytes())
    return images, labels


def write_norb_matrix(path: Path, array: NDArray[np.generic]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    magic = 0x1E3D4C55 if array.dtype == np.uint8 else 0x1E3D4C54
    sizes = [*array.shape, 1, 1][: max(array.ndim, 3)]
    path.write_bytes(struct.pack(f"<II{len(sizes)}I", magic, array.ndim, *sizes) + array.tobytes())


def write_small_norb(folder: Path, count: int = 12) -> tuple[Array, NDArray[np.int32]]:
    images = pixels(count, 2, 96, 96)
    lighting = np.arange(count, dtype=np.int32) % 6
    info = np.stack([lighting * 0, lighting * 0, lighting * 0, lighting], axis=1).astype(np.int32)
    for stem in ("5x46789x9x18x6x2x96x96-training", "5x01235x9x18x6x2x96x96-testing"):
        write_norb_matrix(folder / f"smallnorb-{stem}-dat.mat", images)
        write_norb_matrix(folder / f"smallnorb-{stem}-cat.mat", np.arange(count, dtype=np.int32) % 5)
        write_norb_matrix(folder / f"smallnorb-{stem}-info.mat", info)
    return images, lighting


def write_camelyon17(folder: Path, rows: list[tuple[int, int, int]]) -> None:
    """Rows of (tumor, center, split); a patch is a patient's whose number says which row it is."""
    lines = [",patient,node,x_coord,y_coord,tumor,slide,center,split"]
    for number, (tumor, center, split) in enumerate(rows):
        stem = f"patient_{number:03d}_node_4"
        write_image(folder / "patches" / stem / f"patch_{stem}_x_{number}_y_7.png", (96, 96), (number, 0, 0))
        lines.append(f"{number},{number:03d},4,{number},7,{tumor},0,{center},{split}")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")


def write_tiny_imagenet(folder: Path, per_class: int = 2) -> list[str]:
    classes = ["n02", "n01"]  # wnids.txt is not sorted
    folder.mkdir(parents=True)
    (folder / "wnids.txt").write_text("\n".join(classes) + "\n")
    annotations = []
    for name in classes:
        for number in range(per_class):
            write_image(folder / "train" / name / "images" / f"{name}_{number}.JPEG", (64, 64))
            write_image(folder / "val" / "images" / f"val_{name}_{number}.JPEG", (64, 64))
            annotations.append(f"val_{name}_{number}.JPEG\t{name}\t0\t0\t10\t10")
    (folder / "val" / "val_annotations.txt").write_text("\n".join(annotations) + "\n")
    return classes


def write_pets(folder: Path) -> None:
    names = [("Abyssinian_1", 1), ("yorkshire_terrier_12", 2), ("Abyssinian_2", 1)]
    (folder / "annotations").mkdir(parents=True)
    for part in ("trainval", "test"):
        header = "#Image CLASS-ID SPECIES BREED ID\n"
        lines = "".join(f"{name} {label} 1 1\n" for name, label in names)
        (folder / "annotations" / f"{part}.txt").write_text(header + lines)
    for name, _ in names:
        write_image(folder / "images" / f"{name}.jpg", (40, 30))


def write_cars(folder: Path) -> None:
    from scipy.io import savemat

    (folder / "devkit").mkdir(parents=True)
    kinds = [(name, "O") for name in ("bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname")]
    for part, path in (
        ("train", folder / "devkit" / "cars_train_annos.mat"),
        ("test", folder / "cars_test_annos_withlabels.mat"),
    ):
        entries = np.empty((1, 2), dtype=kinds)
        for number, label in enumerate((2, 1)):
            entries[0, number] = (1, 2, 3, 4, label, f"{number + 1:05d}.jpg")
            write_image(folder / f"cars_{part}" / f"{number + 1:05d}.jpg", (30, 20))
        savemat(path, {"annotations": entries})
    names = np.empty((1, 2), dtype=object)
    names[0] = ["AM General Hummer SUV 2000", "Acura RL Sedan 2012"]
    savemat(folder / "devkit" / "cars_meta.mat", {"class_names": names})


def write_caltech101(folder: Path, per_class: int = 5) -> None:
    """Images 40 × 20 (width × height), an object on columns 10 … 19 and rows 5 … 14."""
    from scipy.io import savemat

    for name, annotated in (("accordion", "accordion"), ("Faces", "Faces_2"), ("BACKGROUND_Google", None)):
        for number in range(1, per_class + 1):
            write_image(folder / "101_ObjectCategories" / name / f"image_{number:04d}.jpg", (40, 20))
            if annotated:
                place = folder / "Annotations" / annotated
                place.mkdir(parents=True, exist_ok=True)
                # MATLAB counts from 1: the box is rows 5 … 16, columns 9 … 21, the outline is relative to its corner.
                contour = np.array([[2.0, 11.0, 11.0, 2.0], [1.0, 1.0, 10.0, 10.0]])
                box = np.array([[5, 16, 9, 21]], dtype=np.uint16)
                savemat(place / f"annotation_{number:04d}.mat", {"obj_contour": contour, "box_coord": box})


def write_shapes3d(path: Path, rows: list[tuple[float, ...]]) -> Array:
    import h5py

    path.parent.mkdir(parents=True, exist_ok=True)
    images = pixels(len(rows), 64, 64, 3)
    with h5py.File(path, "w") as file:
        file["images"] = images
        file["labels"] = np.array(rows, dtype=np.float64)
    return images


def write_class_folders(folder: Path, per_class: int = 10, classes: tuple[str, ...] = ("cat", "dog")) -> None:
    for label, name in enumerate(classes):
        for number in range(per_class):
            write_image(folder / name / f"{number}.png", (12, 10), (100 * label, 10 * number, 0))
