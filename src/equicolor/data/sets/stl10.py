"""STL-10: the binary release. Images are 3×96×96 bytes, each channel column by column; labels are bytes from 1 on."""

from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Held
from equicolor.data.sets._arrays import existing, holding, labels, records, tensor

CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")


def read(request: Request) -> Raw:
    """The part ``"train"`` or ``"test"``."""
    names = [f"{request.part}_{letter}.bin" for letter in "Xy"]
    folder = holding(names[0], request.folder / "stl10_binary", request.folder)
    image_file, label_file = (existing(folder, name) for name in names)
    images = records(image_file, image_file.read_bytes(), (3, 96, 96)).transpose(0, 1, 3, 2)
    found = records(label_file, label_file.read_bytes(), ()).astype("int64") - 1
    if len(images) != len(found):
        raise ValueError(f"{image_file} holds {len(images):,} images, but {label_file} {len(found):,} labels")
    return Raw(Held(tensor(images)), labels(found, len(CLASSES), label_file), CLASSES)


register_data_set(
    Description(
        "stl10",
        "STL-10",
        read,
        {"train": Split("train", 5_000), "test": Split("test", 8_000)},
        image_size=96,
        folder="stl10",
        signs=("stl10_binary", "train_X.bin", "test_X.bin"),
        layout="the folder stl10_binary with train_X.bin, train_y.bin, test_X.bin and test_y.bin",
        hub=Hub("tanganke/stl10"),
    )
)
