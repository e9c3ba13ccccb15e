"""CIFAR-10 and CIFAR-100: the binary release, or the Python release.

The binary release is a run of records: one label byte (CIFAR-10) or a coarse and a fine one (CIFAR-100), then 3·32·32
bytes. The Python release pickles the same arrays. A pickle can run code, so ours is read by an unpickler that knows
numpy arrays and nothing else.
"""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._download import Remote
from equicolor.data._errors import DataNotFoundError, reading
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Held
from equicolor.data.sets._arrays import existing, labels, records, tensor

CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_SHAPE = (3, 32, 32)


def read_cifar10(request: Request) -> Raw:
    """The part ``"train"`` or ``"test"``."""
    batches = [f"data_batch_{i}" for i in range(1, 6)] if request.part == "train" else ["test_batch"]
    if folder := _folder(request.folder, "cifar-10-batches-bin", "test_batch.bin"):
        return _binary([folder / f"{name}.bin" for name in batches], 1, CIFAR10_CLASSES)
    folder = _folder(request.folder, "cifar-10-batches-py", "test_batch")
    return _pickled([(folder or request.folder) / name for name in batches], "labels", CIFAR10_CLASSES)


def read_cifar100(request: Request) -> Raw:
    """The part ``"train"`` or ``"test"``, labelled by its 100 fine classes."""
    if folder := _folder(request.folder, "cifar-100-binary", "test.bin"):
        return _binary([folder / f"{request.part}.bin"], 2, _names(folder / "fine_label_names.txt"))
    folder = _folder(request.folder, "cifar-100-python", "test") or request.folder
    with reading(folder / "meta"):
        found = _get(_load(folder / "meta"), "fine_label_names")
        names = tuple(name.decode() if isinstance(name, bytes) else str(name) for name in found)
    return _pickled([folder / request.part], "fine_labels", names)


def _folder(folder: Path, name: str, file: str) -> Path | None:
    return next((place for place in (folder / name, folder) if (place / file).is_file()), None)


def _names(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        return tuple(map(str, range(100)))
    with reading(path):
        return tuple(path.read_text(encoding="utf-8").split())


def _binary(paths: list[Path], label_bytes: int, classes: tuple[str, ...]) -> Raw:
    parts = [records(path, _bytes(path), (label_bytes + 3072,)) for path in paths]
    whole = np.concatenate(parts)
    images = whole[:, label_bytes:].reshape(-1, *_SHAPE)
    return Raw(Held(tensor(images)), labels(whole[:, label_bytes - 1], len(classes), paths[0]), classes)


def _pickled(paths: list[Path], column: str, classes: tuple[str, ...]) -> Raw:
    images, found = list[NDArray[np.uint8]](), list[NDArray[Any]]()
    for path in paths:
        with reading(path):
            content = _load(path)
            images.append(np.asarray(_get(content, "data"), dtype=np.uint8).reshape(-1, *_SHAPE))
            found.append(np.asarray(_get(content, column), dtype=np.int64).reshape(-1))
            if len(images[-1]) != len(found[-1]):
                raise ValueError(f"{len(images[-1]):,} images have {len(found[-1]):,} labels")
    classified = labels(np.concatenate(found), len(classes), paths[0])
    return Raw(Held(tensor(np.concatenate(images))), classified, classes)


def _get(mapping: dict[Any, Any], name: str) -> Any:
    return mapping[name.encode()] if name.encode() in mapping else mapping[name]


def _bytes(path: Path) -> bytes:
    return existing(path.parent, path.name).read_bytes()


class _ArraysOnly(pickle.Unpickler):
    _KNOWN = frozenset(
        {
            (module, name)
            for core in ("numpy.core.multiarray", "numpy._core.multiarray")
            for module, name in ((core, "_reconstruct"), (core, "scalar"))
        }
        | {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode")}
        | {(core, "_frombuffer") for core in ("numpy.core.numeric", "numpy._core.numeric")}
    )

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._KNOWN:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no CIFAR file needs")
        return super().find_class(module.replace("numpy.core", "numpy._core") if _NEW_NUMPY else module, name)


_NEW_NUMPY = int(np.__version__.partition(".")[0]) >= 2


def _load(path: Path) -> dict[Any, Any]:
    try:
        content = _ArraysOnly(io.BytesIO(_bytes(path)), encoding="bytes").load()
    except DataNotFoundError:
        raise
    except Exception as error:  # a damaged pickle can fail in any way
        raise ValueError(f"{path} is no file of the CIFAR Python release: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} is no file of the CIFAR Python release: it holds a {type(content).__name__}")
    return content


_URL = "https://www.cs.toronto.edu/~kriz/"

register_data_set(
    Description(
        "cifar10",
        "CIFAR-10",
        read_cifar10,
        {"train": Split("train", 50_000), "test": Split("test", 10_000)},
        image_size=32,
        folder="cifar10",
        signs=("cifar-10-batches-bin", "cifar-10-batches-py", "test_batch*"),
        layout="the folder cifar-10-batches-bin or cifar-10-batches-py of the original release",
        classes=CIFAR10_CLASSES,
        hub=Hub("uoft-cs/cifar10", image="img"),
        remotes=(Remote(_URL + "cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530", "cifar-10-batches-bin"),),
    )
)

register_data_set(
    Description(
        "cifar100",
        "CIFAR-100, its fine classes, in the paper's 40k/10k/10k",
        read_cifar100,
        {
            "train": Split("train", 40_000, share=(0, 4, 5)),
            "val": Split("train", 10_000, share=(4, 5, 5)),
            "test": Split("test", 10_000),
        },
        image_size=32,
        folder="cifar100",
        signs=("cifar-100-binary", "cifar-100-python", "fine_label_names.txt", "meta"),
        layout="the folder cifar-100-binary or cifar-100-python of the original release",
        hub=Hub("uoft-cs/cifar100", "img", "fine_label", {"train": "train", "val": "train", "test": "test"}),
        remotes=(Remote(_URL + "cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8", "cifar-100-binary"),),
    )
)
