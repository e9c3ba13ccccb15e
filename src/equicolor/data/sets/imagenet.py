"""ImageNet (ILSVRC 2012) and Tiny-ImageNet, as they unpack."""

import torch

from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._errors import DataNotFoundError, reading
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Files
from equicolor.data.sets._arrays import existing, holding
from equicolor.data.sets._class_folders import class_folders


def read(request: Request) -> Raw:
    """The part ``"train"`` or ``"val"``: class folders named by WordNet ids."""
    folder = request.folder / request.part
    if folder.is_dir() and not any(place.is_dir() for place in folder.iterdir()):
        raise DataNotFoundError(
            f"{folder} holds no class folders. The validation images of ImageNet unpack into one folder: sort them "
            f"into {folder / '<WordNet id>'} first, by the ground truth of the development kit."
        )
    return class_folders(request, folder, siblings=[request.folder / part for part in ("train", "val")])


def read_tiny(request: Request) -> Raw:
    """The part ``"train"`` or ``"val"`` of Tiny-ImageNet; classes are WordNet ids in the order of wnids.txt."""
    folder = holding("wnids.txt", request.folder / "tiny-imagenet-200", request.folder)
    listed = existing(folder, "wnids.txt")
    with reading(listed):
        classes = sorted(listed.read_text(encoding="utf-8").split())
    number = {name: label for label, name in enumerate(classes)}
    if request.part == "train":
        names = [
            path.relative_to(folder).as_posix()
            for name in classes
            for path in sorted((folder / "train" / name / "images").glob("*.JPEG"))
        ]
        labels = [number[name.split("/")[1]] for name in names]
    else:
        table = existing(folder / "val", "val_annotations.txt")
        with reading(table):
            lines = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines() if line]
            names = [f"val/images/{line[0]}" for line in lines]
            labels = [number[line[1]] for line in lines]
    return Raw(Files(folder, names, request.how), torch.tensor(labels, dtype=torch.long), tuple(classes))


register_data_set(
    Description(
        "tiny_imagenet",
        "Tiny-ImageNet, 200 classes; tested on its validation images, as the test images have no labels",
        read_tiny,
        {"train": Split("train", 100_000), "test": Split("val", 10_000)},
        image_size=64,
        folder="tiny_imagenet",
        signs=("tiny-imagenet-200", "wnids.txt"),
        layout="the folder tiny-imagenet-200",
        hub=Hub("zh-plus/tiny-imagenet", splits={"train": "train", "test": "valid"}),
    )
)

register_data_set(
    Description(
        "imagenet",
        "ImageNet (ILSVRC 2012); tested on its validation images",
        read,
        {"train": Split("train", 1_281_167), "test": Split("val", 50_000)},
        image_size=256,
        folder="imagenet",
        signs=("train", "val"),
        layout="the folders train and val, each with 1,000 folders of images named by WordNet ids",
        hub=Hub("ILSVRC/imagenet-1k", splits={"train": "train", "test": "validation"}),
    )
)
