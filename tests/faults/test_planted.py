"""Nothing that is read is executed: code is planted in every kind of file that could carry some, and leaves no mark."""

import contextlib
import gzip
import hashlib
import os
import pickle
import shutil
import zipfile

import numpy as np
import pytest
import torch

import equicolor as ec
import original_formats as formats
from equicolor import cli
from equicolor.data import load
from equicolor.files import CARD, WEIGHTS
from equicolor.train import Recipe, Run, resume
from faults.cases import write_unfinished_run


class Planted:
    """What leaves a mark when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch executed",)


YAML = (
    "!!python/object/apply:os.system ['touch executed']",
    "!!python/object/new:os.system ['touch executed']",
    "!!python/name:os.system",
    "!!python/object/apply:subprocess.check_output [[touch, executed]]",
)
PICKLES = {
    "a pickle": lambda: pickle.dumps(Planted()),
    "an old pickle": lambda: pickle.dumps(Planted(), protocol=0),
    "a pickle in a dict": lambda: pickle.dumps({b"data": Planted(), b"labels": [0]}),
    "a packed pickle": lambda: gzip.compress(pickle.dumps(Planted())),
}


def torch_file(folder, **content):
    torch.save({"model": {}, "step": 2, **content, "planted": Planted()}, folder / "planted.pt")
    return (folder / "planted.pt").read_bytes()


@pytest.fixture(autouse=True)
def _leaves_no_mark(tmp_path, monkeypatch):
    """The plants work, and none of them has by the end of the test."""
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(Planted()))
    assert (tmp_path / "executed").exists(), "this would show nothing"
    (tmp_path / "executed").unlink()
    yield
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("name", [WEIGHTS, CARD])
@pytest.mark.parametrize("planted", PICKLES.values(), ids=PICKLES)
def test_in_a_saved_model(tmp_path, name, planted):
    folder = ec.save_pretrained(ec.create_model("z2cnn", "hue3", width=2), tmp_path / "model")
    (folder / name).write_bytes(planted())
    with pytest.raises(ValueError, match=name):
        ec.from_pretrained(folder)


def test_beside_a_saved_model(tmp_path):
    """Files that other libraries would look for are not looked at."""
    folder = ec.save_pretrained(ec.create_model("z2cnn", "hue3", width=2), tmp_path / "model")
    for name in ("pytorch_model.bin", "model.pt", "model.pth", "optimizer.pt", "training_args.bin"):
        (folder / name).write_bytes(torch_file(tmp_path))
    (folder / "modeling_z2cnn.py").write_text("import os; os.system('touch executed')")
    ec.from_pretrained(folder)
    os.remove(folder / WEIGHTS)
    with pytest.raises(FileNotFoundError, match=WEIGHTS):
        ec.from_pretrained(folder)


@pytest.mark.parametrize("text", YAML)
def test_in_a_recipe(tmp_path, text):
    for line in (text, f"data: {text}", f"data: digits\nmodel: z2cnn\nepochs: 1\nmodel_options: {{width: {text}}}"):
        (tmp_path / "own.yaml").write_text(line)
        with pytest.raises(Exception, match=r".+"):
            Recipe.load(tmp_path / "own.yaml")
    arguments = ["--data", "digits", "--model", "z2cnn", "--set", "epochs=1", "--folder", "run"]
    for field in ("lr", "model_options.width", "optimizer_options"):
        with contextlib.suppress(SystemExit):
            assert cli.main(["train", *arguments, "--set", f"{field}={text}"]) != 0


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    write_unfinished_run(folder)
    return folder / "run"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("planted", [*PICKLES.values(), None], ids=[*PICKLES, "a file of torch.save"])
def test_in_a_checkpoint_whose_name_has_the_right_sum(tmp_path, unfinished, planted):
    folder = shutil.copytree(unfinished, tmp_path / "run")
    data = torch_file(tmp_path) if planted is None else planted()
    for old in (folder / "checkpoints").glob("*.pt"):
        old.unlink()
    (folder / "checkpoints" / f"step-000000002-{hashlib.sha256(data).hexdigest()}.pt").write_bytes(data)
    with pytest.raises(Exception, match=r".+"):
        resume(folder, quiet=True)


@pytest.mark.parametrize("name", ["recipe.yaml", "data.json", "environment.json", "metrics.csv", "results.json"])
@pytest.mark.parametrize("planted", [YAML[0].encode(), pickle.dumps(Planted())], ids=["YAML", "pickle"])
@pytest.mark.filterwarnings("ignore")
def test_in_the_files_of_a_run(tmp_path, unfinished, name, planted):
    folder = shutil.copytree(unfinished, tmp_path / "run")
    (folder / name).write_bytes(planted)
    for read in (Run.read, resume):
        with contextlib.suppress(Exception):
            read(folder, quiet=True) if read is resume else read(folder)


@pytest.mark.parametrize("planted", PICKLES.values(), ids=PICKLES)
def test_in_data(tmp_path, planted):
    formats.write_cifar_python(tmp_path / "cifar10" / "cifar-10-batches-py")
    formats.write_cifar_python(tmp_path / "cifar100" / "cifar-100-python", hundred=True)
    formats.write_mnist(tmp_path / "mnist")
    formats.write_cars(tmp_path / "stanford_cars")
    formats.write_shapes3d(tmp_path / "shapes3d" / "3dshapes.h5", [(0.0, 0.0, 0.0, 0.0, 1.0, 0.0)] * 4)
    formats.write_class_folders(tmp_path / "own", per_class=1)
    for name, split, file in (
        ("cifar10", "test", "cifar10/cifar-10-batches-py/test_batch"),
        ("cifar100", "test", "cifar100/cifar-100-python/meta"),
        ("mnist", "test", "mnist/t10k-images-idx3-ubyte"),
        ("stanford_cars", "test", "stanford_cars/devkit/cars_meta.mat"),
        ("shapes3d", "all", "shapes3d/3dshapes.h5"),
        ("folder", "all", "own/cat/0.png"),
    ):
        (tmp_path / file).write_bytes(planted())
        with pytest.raises((ValueError, OSError)):
            load(name, tmp_path / "own" if name == "folder" else tmp_path, split, check_size=False, in_memory=True)


def test_in_arrays_of_numpy_and_archives_with_the_names_of_ours(tmp_path):
    """An .npz with pickled objects, a zip, and PostScript, under names that are looked for."""
    np.savez(tmp_path / "planted.npz", data=np.array([Planted()], dtype=object))
    with zipfile.ZipFile(tmp_path / "planted.zip", "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Planted()))
    (tmp_path / "planted.ps").write_text("%!PS-Adobe\n(executed) (w) file closefile\n")
    folder = ec.save_pretrained(ec.create_model("z2cnn", "hue3", width=2), tmp_path / "model")
    formats.write_class_folders(tmp_path / "own", per_class=1)
    for planted in ("planted.npz", "planted.zip", "planted.ps"):
        shutil.copy(tmp_path / planted, folder / WEIGHTS)
        with pytest.raises(ValueError, match=WEIGHTS):
            ec.from_pretrained(folder)
        shutil.copy(tmp_path / planted, tmp_path / "own" / "cat" / "0.png")
        with pytest.raises(ValueError, match=r"0\.png"):
            load("folder", tmp_path / "own", "all", in_memory=True)


def test_in_an_object_of_hdf5(tmp_path):
    import h5py

    with h5py.File(tmp_path / "3dshapes.h5", "w") as file:
        file["images"] = np.void(pickle.dumps(Planted()))
        file["labels"] = np.void(pickle.dumps(Planted()))
        file.attrs["planted"] = np.void(pickle.dumps(Planted()))
    with pytest.raises(ValueError, match=r"3dshapes\.h5 cannot be read"):
        load("shapes3d", tmp_path, "all", check_size=False, in_memory=True)
