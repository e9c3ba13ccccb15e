"""Cards and weights from strangers: whatever they say, a line is the answer, at once and in little memory."""

import json
import os
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file

import equicolor as ec
from equicolor.files import CARD, WEIGHTS, _pretrained
from equicolor.files._card import MOST_BYTES


@pytest.fixture
def model():
    return ec.create_model("z2cnn", group="hue3", num_classes=3, width=2)


@pytest.fixture
def folder(model, tmp_path):
    return ec.save_pretrained(model, tmp_path / "model", classes=["a", "b", "c"])


def edit(folder, **changes):
    card = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps(card | changes))


def ask_for(folder, **arguments):
    architecture = json.loads((folder / CARD).read_text())["architecture"] | arguments
    if architecture["name"] != "z2cnn":
        del architecture["bias"]
    edit(folder, architecture=architecture, classes=None)


def change(folder, **tensors):
    """Other tensors in the place of some, and no checksum that could tell."""
    save_file(load_file(folder / WEIGHTS) | tensors, folder / WEIGHTS)
    edit(folder, sha256=None)


HOSTILE = [
    {"width": 10**5},
    {"width": 10**15},
    {"num_classes": 10**10},
    {"group": None, "in_channels": 10**9},
    {"mean": [0.5] * 10**5},
    {"mean": [[[[[0.5]]]]]},
    {"mean": float("nan")},
    {"std": [1.0, float("inf"), 1.0]},
    {"group": "hue100000"},
    {"group": "hue60-sat31-lum31"},
    {"group": "hue" + "9" * 5000},
    {"group": "+".join(["hue2", "temp3"] * 10**4)},
    {"group": {"hue": 3}},
    {"group": "sat127", "window": "replicate"},
    {"canonicalize": "hue100000"},
    {"canonicalize": {"group": "hue4", "iterations": 10**9}},
    {"canonicalize": {"group": "hue4", "width": 10**9}},
    {"canonicalize": [1]},
    {"name": ["z2cnn"]},
    {"name": "resnet50", "group_stages": 10**9},
    {"name": "resnet50", "group_stages": "all"},
    {"name": "resnet18", "stem": {}},
    {"name": "segmenter", "kernel_size": 10**9 + 1},
    {"reduce": [1]},
    {"depth": 10**9},
]


@pytest.mark.parametrize("asked", HOSTILE, ids=lambda asked: str(asked)[:50])
def test_no_card_has_anything_built_that_its_weights_do_not_hold(folder, monkeypatch, asked):
    built = []

    def create_model(**architecture):
        built.append(ec.create_model(**architecture))
        return built[-1]

    monkeypatch.setattr(_pretrained, "create_model", create_model)
    monkeypatch.setattr(_pretrained, "read_weights", lambda *_: pytest.fail("the weights were read"))
    ask_for(folder, **asked)
    with pytest.raises(ValueError, match=rf"({CARD}|{WEIGHTS}) (describes a network that cannot|does not fit)") as said:
        ec.from_pretrained(folder)
    assert len(str(said.value)) < 1000
    assert all(parameter.is_meta for network in built for parameter in network.parameters())


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on memory")
def test_all_of_them_together_take_little_memory(folder):
    """Less than a thousandth of what the least of them asks for."""
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    card = (folder / CARD).read_text()
    for asked in HOSTILE:
        (folder / CARD).write_text(card)
        ask_for(folder, **asked)
        with pytest.raises(ValueError, match=r"cannot be built|does not fit"):
            ec.from_pretrained(folder)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < (300 << 10 if sys.platform == "linux" else 300 << 20)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"image_size": 10**9}, "image_size must be a number of pixels from 1 to 8192"),
        ({"classes": "abc"}, "classes must be a list of names"),
        ({"classes": [1, 2, 3]}, "classes must be a list of names"),
        ({"classes": ["a", "b"]}, "classes has 2 names of classes for a model with 3"),
        ({"normalization": {"mean": [float("nan")] * 3, "std": [1.0] * 3}}, "normalization must be .* finite"),
        ({"parameters": -1}, "parameters must be"),
        ({"group": "x" * 10**6}, "group must be the name of a group"),
    ],
)
def test_fields_that_cannot_be_are_named(folder, changes, said):
    edit(folder, **changes)
    with pytest.raises(ValueError, match=rf"config\.json: {said}") as error:
        ec.from_pretrained(folder)
    assert len(str(error.value)) < 500


def test_classes_are_those_of_the_network_also_where_the_card_does_not_count_them(tmp_path):
    folder = ec.save_pretrained(ec.create_model("z2cnn", group="hue3", width=2), tmp_path)
    architecture = json.loads((folder / CARD).read_text())["architecture"]
    del architecture["num_classes"]  # ten, where nothing is said
    edit(folder, architecture=architecture, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"config\.json: classes has 3 names of classes for a network with 10"):
        ec.from_pretrained(folder)


def test_a_card_that_nests_deeply_or_is_huge_is_damaged(folder):
    (folder / CARD).write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"config\.json: it is damaged"):
        ec.from_pretrained(folder)
    with (folder / CARD).open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(ValueError, match=r"config\.json has 8,388,609 bytes, too many"):
        ec.from_pretrained(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("name", [CARD, WEIGHTS])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(ValueError, match=f"{name} is no file"):
        ec.from_pretrained(folder)


@pytest.mark.parametrize("kind", [torch.int8, torch.int64, torch.bool, torch.complex64])
def test_weights_of_another_kind_are_refused(folder, kind):
    name = "layers.0.weight"
    change(folder, **{name: load_file(folder / WEIGHTS)[name].to(kind)})
    with pytest.raises(ValueError, match=rf"model\.safetensors does not fit the network: {name} has {kind}"):
        ec.from_pretrained(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["layers.0.weight", "lift.mean"])
def test_weights_that_are_not_finite_are_refused_by_name(folder, name, value):
    tensor = load_file(folder / WEIGHTS)[name]
    tensor.view(-1)[0] = value
    change(folder, **{name: tensor})
    with pytest.raises(ValueError, match=rf"{WEIGHTS} holds no network.*{name} has 1 of {tensor.numel()} values"):
        ec.from_pretrained(folder)


def test_weights_that_are_not_finite_are_not_saved(model, tmp_path):
    torch.nn.init.constant_(model.layers[0].weight, float("nan"))
    with pytest.raises(ValueError, match=r"could not be read back: layers\.0\.weight has \d+ of \d+ values"):
        ec.save_pretrained(model, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_weights_of_a_terabyte_are_not_read(folder):
    """A file with holes, whose header says what it has: it does not fit, and that is all that is looked at."""
    header = json.dumps({"layers.0.weight": {"dtype": "F32", "shape": [1 << 38], "data_offsets": [0, 1 << 40]}})
    with (folder / WEIGHTS).open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header.encode())
        try:
            file.truncate(8 + len(header) + (1 << 40))
        except OSError:
            pytest.skip("no file with holes here")
    with pytest.raises(ValueError, match=r"model\.safetensors does not fit the network"):
        ec.from_pretrained(folder)


def test_a_group_too_large_to_convolve_on_is_refused_at_once():
    assert ec.group("hue100000").order == 100_000  # it moves colours all the same
    with pytest.raises(
        ValueError, match=r"convolutions take groups of 1,024 elements at most, got 100,000 in hue100000"
    ):
        ec.create_model("z2cnn", group="hue100000")


# ---------------------------------------------------------------------------------------------- the hub


class Hub:
    """A hub that has one repository, and is asked for its files' sizes first."""

    def __init__(self, folder, sizes):
        self.folder, self.sizes, self.asked = folder, sizes, []

    def HfApi(self):  # noqa: N802
        return self

    def model_info(self, name, revision=None, files_metadata=False):
        assert files_metadata
        files = [type("File", (), {"rfilename": file, "size": size}) for file, size in self.sizes.items()]
        return type("Info", (), {"siblings": files})

    def snapshot_download(self, name, revision=None, allow_patterns=None):
        self.asked += allow_patterns
        return str(self.folder)


def test_nothing_but_the_card_and_the_weights_is_fetched_and_no_more_than_they_may_have(folder, monkeypatch):
    needed = _pretrained.needed
    hub = Hub(folder, {"evil.bin": 1 << 50, CARD: 10, WEIGHTS: 1000})
    monkeypatch.setattr(_pretrained, "needed", lambda name: hub if name == "huggingface_hub" else needed(name))
    ec.from_pretrained("some/one")
    assert sorted(hub.asked) == [CARD, WEIGHTS]
    for name, size in ((CARD, 9 << 20), (WEIGHTS, 1 << 40)):
        hub.asked, hub.sizes = [], {name: size}
        with pytest.raises(ValueError, match=rf"{name} of some/one on the hub has {size:,} bytes, more than"):
            ec.from_pretrained("some/one")
        assert not hub.asked
