"""Files: what was saved comes back, what is damaged is named, and nothing is lost or executed on the way."""

import json
import os
import pickle
from pathlib import Path

import pytest
import torch
from lightning.fabric import Fabric
from torch import distributed, nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

import equicolor as ec
from equicolor.files import CARD, README, WEIGHTS, _bounds, _hub, _pretrained, read_card


@pytest.fixture
def model():
    model = ec.create_model("z2cnn", group="hue4-sat3", num_classes=3, mean=0.4, std=[0.2, 0.25, 0.3], width=4)
    model(torch.rand(4, 3, 28, 28))  # norms that have seen images
    return model


@pytest.fixture
def folder(model, tmp_path):
    return ec.save_pretrained(model, tmp_path / "saved" / "model", classes=["a", "b", "c"])


def edit(folder, **changes):
    path = folder / CARD
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("group", [None, "hue3", "ceconv3", "sat3(step=0.05,action=clamp)", "hue2-lum3"])
def test_what_was_saved_comes_back(group, tmp_path):
    model = ec.create_model("z2cnn", group=group, num_classes=4, width=4, mean=0.4, std=0.2)
    images = torch.rand(4, 3, 28, 28)
    model(images)
    loaded = ec.from_pretrained(ec.save_pretrained(model, tmp_path))
    assert not loaded.training
    assert loaded.config == model.config
    assert torch.equal(loaded(images), model.eval()(images))


@pytest.mark.parametrize(("group", "window"), [("sat5", "valid"), ("temp3-tint3", "replicate")])
def test_the_window_and_the_pooling_come_back_too(group, window, tmp_path):
    model = ec.create_model("z2cnn", group, 4, width=4, window=window, reduce="logsumexp").eval()
    loaded = ec.from_pretrained(ec.save_pretrained(model, tmp_path))
    images = torch.rand(2, 3, 28, 28)
    assert (loaded.config["window"], loaded.config["reduce"]) == (window, "logsumexp")
    assert torch.equal(loaded(images), model(images))
    assert torch.allclose(ec.optimize_for_inference(model)(images), model(images), atol=1e-5)


def test_the_card_says_what_the_model_is(folder, model):
    card = read_card(folder)
    assert card.architecture == model.config
    assert card.group == "hue4-sat3"
    assert card.classes == ("a", "b", "c")
    assert card.normalization["mean"] == pytest.approx([0.4] * 3)
    assert card.normalization["std"] == pytest.approx([0.2, 0.25, 0.3])
    assert card.parameters == model.num_parameters
    assert card.library_version == ec.__version__
    assert sorted(os.listdir(folder)) == [README, CARD, WEIGHTS]


def test_channels_last_and_other_precisions_are_saved_as_they_are(tmp_path):
    model = ec.create_model("z2cnn", group="hue3", width=4).double().to(memory_format=torch.channels_last)
    ec.save_pretrained(model, tmp_path)
    loaded = ec.from_pretrained(tmp_path, model=ec.create_model("z2cnn", group="hue3", width=4).double())
    for name, value in loaded.state_dict().items():
        assert torch.equal(value, model.state_dict()[name])


def test_any_other_network_is_loaded_into_one_of_the_same_make(tmp_path):
    def make():
        plain = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
        return ec.convert(plain, "hue4").eval()

    converted, images = make(), torch.rand(2, 3, 8, 8)
    ec.save_pretrained(converted, tmp_path)
    assert read_card(tmp_path).group == "hue4"
    assert torch.equal(ec.from_pretrained(tmp_path, model=make())(images), converted(images))
    with pytest.raises(ValueError, match=r"no architecture of create_model.*from_pretrained\(folder, model="):
        ec.from_pretrained(tmp_path)


# ---------------------------------------------------------------------------------------------- wrapped networks


@pytest.fixture
def process_group():
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def fsdp(model, **how):
    return FullyShardedDataParallel(model, device_id=torch.device("cpu"), **how)


WRAPPERS = {
    "compile": torch.compile,
    "data parallel": nn.DataParallel,
    "DDP": nn.parallel.DistributedDataParallel,
    "FSDP": fsdp,
    "FSDP, original parameters": lambda model: fsdp(model, use_orig_params=True),
    "FSDP of layers too": lambda model: fsdp(
        model, auto_wrap_policy=lambda module, **_: isinstance(module, nn.Sequential)
    ),
    "fully_shard": fully_shard,
    "Fabric": lambda model: Fabric(accelerator="cpu", devices=1).setup(model),
    "compiled DDP": lambda model: torch.compile(nn.parallel.DistributedDataParallel(model)),
    "DDP of compiled": lambda model: nn.parallel.DistributedDataParallel(torch.compile(model)),
    "compiled FSDP": lambda model: torch.compile(fsdp(model)),
    "Fabric of compiled": lambda model: Fabric(accelerator="cpu", devices=1).setup(torch.compile(model)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_a_wrapped_network_comes_back_without_its_wrapping(wrap, model, tmp_path, process_group):
    expected = {name: value.clone() for name, value in model.state_dict().items()}
    config, parameters = model.config, model.num_parameters
    loaded = ec.from_pretrained(ec.save_pretrained(wrap(model), tmp_path, classes=["a", "b", "c"]))
    card = read_card(tmp_path)
    assert loaded.config == card.architecture == config
    assert card.group == "hue4-sat3"
    assert card.normalization["mean"] == pytest.approx([0.4] * 3)
    assert card.parameters in (parameters, None)
    assert loaded.state_dict().keys() == expected.keys()
    assert all(torch.equal(value, expected[name]) for name, value in loaded.state_dict().items())


@pytest.mark.parametrize("wrap", [torch.compile, nn.DataParallel])
def test_weights_are_loaded_into_a_wrapped_network(wrap, folder, model):
    loaded = ec.from_pretrained(folder, model=wrap(ec.create_model(**model.config)))
    assert isinstance(loaded, type(wrap(model)))
    assert all(torch.equal(a, b) for a, b in zip(loaded.parameters(), model.parameters(), strict=True))


# ---------------------------------------------------------------------------------------------- damage


def test_missing_files_are_named(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        ec.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"there is no config\.json in"):
        ec.from_pretrained(tmp_path)
    (folder / WEIGHTS).unlink()
    with pytest.raises(FileNotFoundError, match=r"there is no model\.safetensors in"):
        ec.from_pretrained(folder)


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_truncated_weights_are_named(folder, keep):
    path = folder / WEIGHTS
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        ec.from_pretrained(folder)


def test_a_single_bit_that_flipped_is_noticed(folder):
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[-100] ^= 1
    (folder / WEIGHTS).write_bytes(data)
    with pytest.raises(ValueError, match=r"model\.safetensors is not the file .*its SHA-256 differs.*damaged"):
        ec.from_pretrained(folder)


def test_a_damaged_card_is_named(folder):
    card = (folder / CARD).read_text()
    for damaged in (card[:50], "", "\x00", "[1, 2]", '{"library_name": "other"}'):
        (folder / CARD).write_text(damaged)
        with pytest.raises(ValueError, match=r"config\.json"):
            ec.from_pretrained(folder)


def test_a_card_from_the_future_is_refused(folder):
    edit(folder, format=99, library_version="9.0")
    with pytest.raises(ValueError, match=r"config\.json: it was written in format 99 by equicolor '9\.0'.*upgrade"):
        ec.from_pretrained(folder)
    edit(folder, format="x")
    with pytest.raises(ValueError, match=r"config\.json: format must be a whole number from 1 to \d+, got 'x'"):
        ec.from_pretrained(folder)


def test_a_card_that_describes_no_network_is_refused(folder):
    edit(folder, architecture={"name": "resnet9000"})
    with pytest.raises(ValueError, match=r"config\.json describes a network that cannot be built: unknown model"):
        ec.from_pretrained(folder)


@pytest.mark.parametrize("group", ["hue100000", "hue64-sat3", "ceconv100000"])
def test_a_card_cannot_ask_for_a_group_that_takes_long_to_build(folder, model, monkeypatch, group):
    edit(folder, architecture=model.config | {"group": group})
    monkeypatch.setattr(_pretrained, "create_model", lambda **_: pytest.fail("something was built"))
    with pytest.raises(ValueError, match=rf"config\.json .*'{group}' has more than 128 elements.*model=\.\.\."):
        ec.from_pretrained(folder)


def test_a_large_group_of_ones_own_is_loaded_into(tmp_path, monkeypatch):
    model = ec.create_model("z2cnn", group="hue5", width=2)
    ec.save_pretrained(model, tmp_path)
    monkeypatch.setattr(_bounds, "MOST_ELEMENTS", 4)
    with pytest.raises(ValueError, match="'hue5' has more than 4 elements"):
        ec.from_pretrained(tmp_path)
    loaded = ec.from_pretrained(tmp_path, model=ec.create_model("z2cnn", group="hue5", width=2))
    assert torch.equal(next(loaded.parameters()), next(model.parameters()))


@pytest.mark.parametrize(
    ("architecture", "said"),
    [
        ("z2cnn", "architecture must be"),
        (["z2cnn"], "architecture must be"),
        (3, "architecture must be"),
        ({"name": "z2cnn", "group": 3}, "describes a network that cannot be built"),
    ],
)
def test_a_card_whose_architecture_is_no_arguments_is_refused(folder, architecture, said):
    edit(folder, architecture=architecture)
    with pytest.raises(ValueError, match=rf"config\.json.* {said}"):
        ec.from_pretrained(folder)


def test_weights_that_do_not_fit_are_listed(folder):
    with pytest.raises(ValueError, match=r"does not fit the network: .*has shape .*expected"):
        ec.from_pretrained(folder, model=ec.create_model("z2cnn", group="hue4-sat3", num_classes=3, width=5))
    with pytest.raises(ValueError, match=r"is missing"):
        ec.from_pretrained(folder, model=nn.Linear(2, 2))


def test_the_weights_of_another_model_are_noticed(folder, tmp_path):
    other = ec.save_pretrained(ec.create_model("z2cnn", group="hue4-sat3", num_classes=3, width=4), tmp_path / "other")
    os.replace(other / WEIGHTS, folder / WEIGHTS)
    with pytest.raises(ValueError, match="from another model"):
        ec.from_pretrained(folder)


class Malicious:
    def __reduce__(self):
        return os.system, ("touch executed",)


def test_nothing_in_the_files_is_executed(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (folder / WEIGHTS).write_bytes(pickle.dumps(Malicious()))
    edit(folder, sha256=None)
    with pytest.raises(ValueError, match="damaged"):
        ec.from_pretrained(folder)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("fits", [0, 1, 2])
def test_a_write_that_fails_loses_nothing(folder, model, monkeypatch, fits):
    before = {name: (folder / name).read_bytes() for name in (README, WEIGHTS, CARD)}
    torch.nn.init.zeros_(next(model.parameters()))
    room = [None] * fits

    def full_disk(_handle):
        if not room:
            raise OSError(28, "No space left on device")
        room.pop()

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        ec.save_pretrained(model, folder)
    assert {name: (folder / name).read_bytes() for name in os.listdir(folder)} == before


def test_what_could_not_be_read_back_is_not_written(model, tmp_path):
    with pytest.raises(ValueError, match="save it before optimize_for_inference"):
        ec.save_pretrained(ec.optimize_for_inference(model), tmp_path / "frozen")
    assert not (tmp_path / "frozen").exists()


def test_bad_classes_are_refused(model, tmp_path):
    with pytest.raises(ValueError, match="classes has 2 names of classes for a model with 3"):
        ec.save_pretrained(model, tmp_path, classes=["a", "b"])


def test_one_logit_takes_one_name_or_two(tmp_path):
    model = ec.create_model("z2cnn", None, num_classes=1, width=2)
    for classes in (["dog"], ["cat", "dog"]):
        assert read_card(ec.save_pretrained(model, tmp_path, classes)).classes == tuple(classes)
    with pytest.raises(ValueError, match="3 names of classes for a model with 1"):
        ec.save_pretrained(model, tmp_path, classes=["a", "b", "c"])


# ---------------------------------------------------------------------------------------------- the hub


class Hub:
    """A stand-in for the hub: folders by name."""

    def __init__(self, root):
        self.root = root

    def HfApi(self, token=None):  # noqa: N802
        return self

    def create_repo(self, name, exist_ok=False, private=None):
        (self.root / name).mkdir(parents=True, exist_ok=exist_ok)

    def upload_folder(self, repo_id, folder_path, **options):
        for file in os.listdir(folder_path):
            (self.root / repo_id / file).write_bytes((Path(folder_path) / file).read_bytes())
        return f"hub/{repo_id}"

    def file_exists(self, repo_id, name, revision=None):
        return (self.root / repo_id / name).exists()

    def hf_hub_download(self, repo_id, name, revision=None):
        return str(self.root / repo_id / name)

    def snapshot_download(self, name, revision=None, allow_patterns=None):
        if not (self.root / name).is_dir():
            raise ConnectionError("offline")
        return str(self.root / name)


def test_a_model_travels_through_the_hub(model, tmp_path, monkeypatch):
    hub, needed = Hub(tmp_path), _hub.needed
    for module in (_hub, _pretrained):
        monkeypatch.setattr(module, "needed", lambda name: hub if name == "huggingface_hub" else needed(name))
    assert ec.push_to_hub(model, "someone/z2cnn-hue4-sat3") == "hub/someone/z2cnn-hue4-sat3"
    page = tmp_path / "someone" / "z2cnn-hue4-sat3" / README
    assert "library_name: equicolor" in page.read_text()
    assert 'ec.from_pretrained("someone/z2cnn-hue4-sat3")' in page.read_text()
    page.write_text("my own words")
    ec.push_to_hub(model, "someone/z2cnn-hue4-sat3", license="mit")
    assert page.read_text() == "my own words"
    ec.push_to_hub(model, "someone/z2cnn-hue4-sat3", license="mit", overwrite_readme=True)
    assert "license: mit" in page.read_text()
    loaded = ec.from_pretrained("someone/z2cnn-hue4-sat3")
    images = torch.rand(2, 3, 28, 28)
    assert torch.equal(loaded(images), model.eval()(images))
    with pytest.raises(FileNotFoundError, match=r"no folder someone/else here, and the hub did not.*offline"):
        ec.from_pretrained("someone/else")


def test_the_calls_to_the_hub_exist_as_they_are_made():
    hub = pytest.importorskip("huggingface_hub")
    import inspect

    assert {"token"} <= set(inspect.signature(hub.HfApi).parameters)
    assert {"repo_id", "exist_ok", "private"} <= set(inspect.signature(hub.HfApi.create_repo).parameters)
    assert {"repo_id", "folder_path"} <= set(inspect.signature(hub.HfApi.upload_folder).parameters)
    assert {"repo_id", "filename", "revision"} <= set(inspect.signature(hub.HfApi.file_exists).parameters)
    assert {"repo_id", "filename", "revision"} <= set(inspect.signature(hub.HfApi.hf_hub_download).parameters)
    assert {"repo_id", "revision", "allow_patterns"} <= set(inspect.signature(hub.snapshot_download).parameters)


# ---------------------------------------------------------------------------------------------- groups of one's own


class Negative(ec.Factor):
    prefix, quantity, period = "negative", "negative", 2.0

    def move(self, images, amount):
        share = torch.as_tensor(amount * torch.pi / 2, dtype=images.dtype).sin() ** 2
        return images + (1 - 2 * images) * share


@pytest.mark.parametrize("group", ["temp3-tint3", "hema2-eosin3", "exp3(step=0.5,action=clamp)", "hue2+temp3"])
def test_networks_on_light_and_stain_are_saved_and_read_back(tmp_path, group):
    model = ec.create_model("z2cnn", group).eval()
    read = ec.from_pretrained(ec.save_pretrained(model, tmp_path / "model"))
    assert read.group == ec.group(group)
    images = torch.rand(2, 3, 28, 28)
    assert torch.equal(read(images), model(images))


def test_a_group_of_ones_own_is_read_back_by_its_name_once_it_is_registered(tmp_path, monkeypatch):
    from equicolor.groups import _names

    monkeypatch.setattr(_names, "_FACTORS", dict(_names._FACTORS))
    model = ec.create_model("z2cnn", Negative(2)).eval()
    with pytest.raises(ValueError, match=r"could not be read back: unknown group 'negative2'.*registers it"):
        ec.save_pretrained(model, tmp_path / "model")
    ec.register_group(Negative)
    ec.save_pretrained(model, tmp_path / "model")
    images = torch.rand(2, 3, 28, 28)
    assert torch.equal(ec.from_pretrained(tmp_path / "model")(images), model(images))
    monkeypatch.setattr(_names, "_FACTORS", {"hue": ec.Hue})
    with pytest.raises(ValueError, match=r"cannot be built: unknown group 'negative2'.*registers it was imported"):
        ec.from_pretrained(tmp_path / "model")


def test_a_group_that_goes_by_the_name_of_another_is_not_saved(tmp_path):
    class Other(ec.Hue):
        def move(self, images, amount):
            return 1 - images

    with pytest.raises(ValueError, match=r"'hue4' is the name of another group, Hue\(n=4\).*register_group"):
        ec.save_pretrained(ec.create_model("z2cnn", Other(4)), tmp_path / "model")
