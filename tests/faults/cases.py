"""Everything that is read from files: how such files are written, which are damaged, and how they are read."""

import contextlib
import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import equicolor as ec
import original_formats as formats
from equicolor import cli
from equicolor.data import load
from equicolor.files import read_card
from equicolor.train import Recipe, Run, TrainingError, fit, resume
from runs import SMALL, fail, stop_at

TINY = SMALL.replace(group=None, train_size=32, test_size=16, epochs=None, iterations=4, checkpoint_every=2)
IMAGES = {".png": "PNG", ".jpg": "JPEG", ".gif": "GIF", ".bmp": "BMP", ".tif": "TIFF", ".webp": "WEBP", ".ppm": "PPM"}


@dataclass(frozen=True)
class Case:
    """A kind of file.

    Args:
        name: what to call it.
        make: writes a folder of them.
        read: reads the folder; raises what is expected, or AssertionError where the result cannot be.
        files: which of them are damaged.
        expected: the errors that a user is told in a line.
        also_named: what a message may speak of instead of the file.
        always_refused: it is refused undamaged, too, for another reason.
        cost: a damaged file counts as so many, in the time it takes.
    """

    name: str
    make: Callable[[Path], object]
    read: Callable[[Path], object]
    files: tuple[str, ...] = ("**/*",)
    expected: tuple[type[Exception], ...] = (ValueError, OSError)
    also_named: tuple[str, ...] = ()
    always_refused: bool = False
    cost: int = 1


def _all_images(name: str, split: str, folder: Path, **options: object) -> None:
    """Reads a set whole; what came of it must be a set."""
    options = {"check_size": False, "in_memory": True, "where": "disk", **options}
    images = load(name, folder, split, **options)
    batch = images[0][0] if len(images) else torch.zeros(1)
    assert bool(torch.isfinite(batch).all())
    assert 0 <= float(batch.min()) <= float(batch.max()) <= 1
    assert len(images.labels) == len(images)
    if len(images) and options.get("task") != "segmentation":
        assert 0 <= int(images.labels.min()) <= int(images.labels.max()) < len(images.classes)


def _write_images(folder: Path) -> None:
    for number, (suffix, kind) in enumerate(IMAGES.items()):
        place = folder / ("cat" if number % 2 else "dog")
        place.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray(formats.pixels(24, 20, 3, seed=number))
        picture.save(place / f"image{number}{suffix}", format=kind)
    Image.fromarray(formats.pixels(24, 20, seed=9).astype(np.uint16) * 200).save(folder / "cat" / "deep.png")
    Image.fromarray(formats.pixels(24, 20, seed=9).astype(np.float32) / 255).save(folder / "cat" / "float.tif")


def _write_table(folder: Path) -> None:
    """Cells as the one table that the malaria set may be."""
    from datasets import Dataset, Features, Value
    from datasets import Image as Pictures

    folder.mkdir(parents=True)
    pictures = []
    for number in range(6):
        data = io.BytesIO()
        Image.fromarray(formats.pixels(16, 16, 3, seed=number)).save(data, format="PNG")
        pictures.append({"bytes": data.getvalue(), "path": None})
    text = Value("string")
    columns = {"image": Pictures(), "label": Value("int64"), "slide": text, "stain_domain": text}
    slides, stains = [f"C{n}" for n in range(6)], ["blue", "pink"] * 3
    rows = {"image": pictures, "label": [0, 1] * 3, "slide": slides, "stain_domain": stains}
    Dataset.from_dict(rows, Features(columns)).to_parquet(folder / "cells.parquet")


def _write_own_table(folder: Path) -> None:
    """The same cells as a user's table."""
    import pyarrow.parquet as parquet

    _write_table(folder)
    table = parquet.read_table(folder / "cells.parquet")
    parquet.write_table(table.rename_columns(["image", "class", "group", "domain"]), folder / "cells.parquet")


def _write_hub_table(folder: Path) -> None:
    from datasets import ClassLabel, Dataset, Features
    from datasets import Image as Pictures

    folder.mkdir(parents=True)
    pictures = [Image.fromarray(formats.pixels(28, 28, seed=number)) for number in range(4)]
    names = ClassLabel(names=list("0123456789"))
    table = Dataset.from_dict(
        {"image": pictures, "label": [0, 1, 2, 3]}, Features({"image": Pictures(), "label": names})
    )
    table.to_parquet(folder / "test-00000-of-00001.parquet")


def _read_own_table(folder: Path) -> None:
    _all_images("table", "all", folder / "cells.parquet", image_size=16)


def _read_hub_table(folder: Path) -> None:
    cache = folder.parent / "cache"
    try:
        _all_images("mnist", "test", folder, cache=cache)
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def _write_model(folder: Path) -> None:
    model = ec.create_model("z2cnn", "hue3", 3, width=2)
    ec.save_pretrained(model, folder / "model", classes=list("abc"), data={"name": "digits"}, recipe=TINY.to_dict())
    (folder / "model" / "README.md").unlink()


def _read_model(folder: Path) -> None:
    model = ec.from_pretrained(folder / "model")
    with torch.no_grad():
        logits = model(torch.rand(2, 3, 28, 28, generator=torch.Generator().manual_seed(0)))
    assert logits.shape == (2, 3)  # whether they are finite is asked by whoever uses them


def _write_model_without_checksum(folder: Path) -> None:
    """Damage is not told by the checksum, but has to be seen."""
    _write_model(folder)
    card = read_card(folder / "model")
    (folder / "model" / "config.json").write_text(replace(card, sha256=None).to_json())


def _write_model_and_image(folder: Path) -> None:
    _write_model(folder)
    formats.write_image(folder / "image.png", (28, 28))


def _write_recipe(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "own.yaml").write_text(
        "data: digits\nmodel: z2cnn\ngroup: hue3\ntest_splits: [test]\nepochs: 2\nbatch_size: 16\nlr: 1e-3\n"
        "optimizer_options: {weight_decay: 0.1}\nseeds: [1, 2]\nvariants:\n  plain: {group: null}\n"
    )


def _read_recipe(folder: Path) -> None:
    recipe = Recipe.load(folder / "own.yaml")
    assert Recipe.from_dict(recipe.to_dict()) == recipe


def _write_run(folder: Path) -> None:
    fit(TINY, folder / "run", quiet=True)


def write_unfinished_run(folder: Path) -> None:
    """As it was when half of it was done."""
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        stop_at(patch, 3, fail)
        fit(TINY, folder / "run", quiet=True)


def _read_run(folder: Path) -> None:
    run = Run.read(folder / "run")
    assert isinstance(run.results, dict)
    _ = run.model


def _resume_run(folder: Path) -> None:
    run = resume(folder / "run", quiet=True)
    assert run.summary["steps"] > 0


def _command(*arguments: str) -> Callable[[Path], None]:
    """A command as a user types it: it works, or says in a line on stderr what is wrong, and that it is not ours."""

    def run(folder: Path) -> None:
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = cli.main([argument.format(folder) for argument in arguments])
        lines = said.getvalue().strip().splitlines()
        assert code in (0, 1, 2), code
        assert "a mistake of equicolor" not in said.getvalue(), said.getvalue()
        if code:
            assert "Traceback" not in said.getvalue(), said.getvalue()
            raise ValueError(lines[-1] if lines else "")

    return run


_RUN = (ValueError, OSError, TrainingError)
_FIELDS = (
    "of a recipe",
    "recipe ",
    "unknown ",
    "hub",
    "there is no folder",
    "is no table of images",
    "fewer than a batch",
)
CASES = {
    case.name: case
    for case in (
        Case("images", _write_images, partial(_all_images, "folder", "all", image_size=16)),
        Case("IDX", formats.write_mnist, partial(_all_images, "mnist", "test"), ("t10k*",)),
        Case("IDX, packed", partial(formats.write_mnist, end=".gz"), partial(_all_images, "mnist", "test"), ("t10k*",)),
        Case("CIFAR-10, binary", formats.write_cifar_binary, partial(_all_images, "cifar10", "test"), ("test*",)),
        Case("CIFAR-10, Python", formats.write_cifar_python, partial(_all_images, "cifar10", "test"), ("test*",)),
        Case(
            "CIFAR-100, binary",
            partial(formats.write_cifar_binary, hundred=True),
            partial(_all_images, "cifar100", "test"),
            ("test*", "fine*"),
        ),
        Case(
            "CIFAR-100, Python",
            partial(formats.write_cifar_python, hundred=True),
            partial(_all_images, "cifar100", "test"),
            ("test*", "meta"),
        ),
        Case("STL-10", formats.write_stl10, partial(_all_images, "stl10", "test"), ("test*",)),
        Case("small NORB", formats.write_small_norb, partial(_all_images, "small_norb", "test_a"), ("*testing*",)),
        Case(
            "Camelyon17",
            partial(formats.write_camelyon17, rows=[(0, 2, 0), (1, 2, 0), (1, 0, 0)]),
            partial(_all_images, "camelyon17", "test"),
        ),
        Case(
            "Tiny-ImageNet", formats.write_tiny_imagenet, partial(_all_images, "tiny_imagenet", "test"), ("**/*.txt",)
        ),
        Case("Pets", formats.write_pets, partial(_all_images, "oxford_pets", "test"), ("annotations/test.txt",)),
        Case("Cars", formats.write_cars, partial(_all_images, "stanford_cars", "test"), ("**/*.mat",)),
        Case(
            "Caltech-101, outlines",
            formats.write_caltech101,
            partial(_all_images, "caltech101", "test", task="segmentation", image_size=32),
        ),
        Case(
            "HDF5",
            lambda folder: formats.write_shapes3d(folder / "3dshapes.h5", [(0.0, 0.0, 0.0, 0.0, 1.0, 0.0)] * 12),
            partial(_all_images, "shapes3d", "all"),
        ),
        Case("Parquet", _write_table, partial(_all_images, "malaria", "train", image_size=16)),
        Case("Parquet, of one's own", _write_own_table, _read_own_table),
        Case("Parquet, of the hub", _write_hub_table, _read_hub_table, cost=4),
        Case("card", _write_model, _read_model, ("model/config.json",)),
        Case("weights", _write_model, _read_model, ("model/model.safetensors",)),
        Case("weights without a checksum", _write_model_without_checksum, _read_model, ("model/model.safetensors",)),
        Case("recipe", _write_recipe, _read_recipe, also_named=_FIELDS),
        Case(
            "finished run",
            _write_run,
            _read_run,
            ("run/*.yaml", "run/*.json", "run/model/config.json", "run/model/*.safetensors"),
            _RUN,
            _FIELDS,
        ),
        Case(
            "unfinished run",
            write_unfinished_run,
            _resume_run,
            ("run/*.yaml", "run/*.json", "run/*.csv", "run/checkpoints/*.pt"),
            _RUN,
            (*_FIELDS, "checkpoint"),
            cost=10,
        ),
        Case(
            "predict, the command",
            _write_model_and_image,
            _command("predict", "{}/model", "{}/image.png"),
            ("model/*", "image.png"),
            also_named=("none of the images could be read",),
            cost=2,
        ),
        Case(
            "train, the command",
            _write_recipe,
            _command("train", "--recipe", "{}/own.yaml", "--set", "iterations=0"),
            also_named=(*_FIELDS, "iterations"),
            always_refused=True,
            cost=2,
        ),
    )
}
