"""Networks of timm and torchvision by name: built, converted, saved and opened again."""

import json
import warnings

import pytest
import torch
from safetensors.torch import save_file

import equicolor as ec
from convert_networks import images, randomized, torchvision_models
from equicolor.models import CanonicalizedModel, Model, Preparation
from equicolor.sources import SourceModel

TIMM = {"name": "timm:resnet10t", "pretrained": False}
TORCHVISION = {"name": "torchvision:mobilenet_v3_small", "pretrained": False}


@pytest.mark.parametrize("group", [None, "hue3", "ceconv3"])
@pytest.mark.parametrize("network", [TIMM, TORCHVISION])
def test_what_is_saved_is_opened_without_a_download(network, group, tmp_path):
    model = randomized(ec.create_model(**network, group=group, num_classes=4))
    assert isinstance(model, SourceModel)
    assert isinstance(model, Model)
    ec.save_pretrained(model, tmp_path, classes=["a", "b", "c", "d"])
    card = json.loads((tmp_path / "config.json").read_text())
    assert card["source"] == card["architecture"]["name"] == network["name"]
    assert card["architecture"]["pretrained"] is False
    assert card["group"] == group
    opened = ec.from_pretrained(tmp_path)
    assert type(opened) is SourceModel
    assert torch.equal(opened(images()), model(images()))
    assert opened.preparation == model.preparation


@pytest.mark.parametrize(
    "options",
    [{"width": "matched"}, {"pool_before": "layer2"}, {"budget": 1.5}, {"reduce": "mean"}, {"mean": 0.5, "std": 0.25}],
)
def test_the_arguments_of_the_conversion_are_on_the_card(options, tmp_path):
    model = randomized(ec.create_model(**TIMM, group="hue3", num_classes=3, **options))
    ec.save_pretrained(model, tmp_path)
    assert torch.equal(ec.from_pretrained(tmp_path)(images()), model(images()))
    rebuilt = ec.create_model(**model.config)
    assert str(rebuilt) == str(model)


def test_a_canonicaliser_stands_in_front_of_any_of_them(tmp_path):
    model = ec.create_model("timm:test_vit", num_classes=3, pretrained=False, canonicalize="hue4").eval()
    assert isinstance(model, CanonicalizedModel)
    x = torch.rand(2, 3, 160, 160)
    torch.testing.assert_close(model(ec.Hue(4).act_on_images(1, x)), model(x), rtol=1e-4, atol=1e-4)
    ec.save_pretrained(model, tmp_path)
    assert torch.equal(ec.from_pretrained(tmp_path)(x), model(x))


def test_images_are_prepared_as_the_library_says():
    assert ec.create_model(**TIMM).preparation == Preparation(176, 201, crop=201)
    network = ec.create_model(**TORCHVISION)
    assert network.preparation == Preparation(224, 256, crop=256)
    transforms = torchvision_models().get_model_weights("mobilenet_v3_small").DEFAULT.transforms()
    assert network.config["mean"] == transforms.mean
    assert network.default_cfg["std"] == tuple(transforms.std)


def test_a_new_classifier_is_part_of_what_is_saved(tmp_path):
    model = ec.create_model(**TIMM, group="hue3", num_classes=4).eval()
    model.reset_classifier(6)
    ec.save_pretrained(model, tmp_path)
    assert torch.equal(ec.from_pretrained(tmp_path)(images()), model(images()))


def test_torchvisions_weights_are_taken_with_a_new_classifier(tmp_path, monkeypatch):
    """A download, from a folder: what torchvision does with it is torchvision's."""
    models = torchvision_models()
    torch.manual_seed(1)
    there = models.mobilenet_v3_small()
    monkeypatch.setattr(
        type(models.MobileNet_V3_Small_Weights.DEFAULT), "get_state_dict", lambda *_, **__: there.state_dict()
    )
    model = ec.create_model("torchvision:mobilenet_v3_small", num_classes=5).eval()
    assert model.num_classes == 5
    assert torch.equal(model.body.features[0][0].weight, there.features[0][0].weight)
    assert ec.create_model("torchvision:mobilenet_v3_small").num_classes == 1000
    lifted = ec.create_model("torchvision:mobilenet_v3_small", group="hue3", num_classes=5).eval()
    assert torch.equal(lifted.body.features[0][0].weight[:, :3], there.features[0][0].weight)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": "timm:resnet18x"}, ValueError, "timm has no network 'resnet18x'. Did you mean resnet18 or"),
        ({"name": "timm:resnet18.nope"}, ValueError, "timm has no network 'resnet18.nope'"),
        ({"name": "timm:hf-hub:someone/network"}, ValueError, "timm has no network 'hf-hub:someone/network'"),
        ({"name": "timm:local-dir:/tmp"}, ValueError, "timm has no network 'local-dir:/tmp'"),
        ({"name": "torchvision:fcn_resnet50"}, ValueError, "torchvision has no network 'fcn_resnet50'"),
        ({"name": "jimm:resnet18"}, ValueError, r"unknown model 'jimm:resnet18'.*timm:NAME, and torchvision:NAME"),
        ({**TIMM, "checkpoint_path": "x"}, TypeError, "timm:resnet10t has no option 'checkpoint_path'"),
        ({**TIMM, "drop_rate": [1]}, TypeError, "drop_rate of timm:resnet10t must be a number or text"),
        ({**TIMM, "window": "replicate"}, TypeError, "timm:resnet10t takes no window"),
        ({**TIMM, "width": "fast"}, ValueError, "width of timm:resnet10t must be 'same' or 'matched'"),
        ({**TIMM, "num_classes": 0}, ValueError, "num_classes must be a positive whole number"),
        ({"name": "timm:resnet18", "pretrained": True, "weights": "x.pth"}, ValueError, "give one of the two"),
        ({"name": "timm:resnet18", "pretrained": True, "width": "matched"}, ValueError, "no weights can be kept"),
        ({"name": "timm:vovnet39a", "pretrained": True}, ValueError, "no weights of timm:vovnet39a to be downloaded"),
        ({"name": "z2cnn", "width": "same"}, ValueError, "width='same' is for other libraries' networks"),
    ],
)
def test_what_cannot_be_made_is_said(arguments, error, message):
    with pytest.raises(error, match=message):
        ec.create_model(**arguments)


@pytest.mark.parametrize("name", ["timm:resnet18", "torchvision:mobilenet_v3_small"])
def test_without_a_connection_the_error_says_how_to_go_on(name, monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("urllib.request.urlopen", _no_connection)
    with pytest.raises(
        RuntimeError, match=rf"weights of {name} could not be downloaded .*weights=FILE.*pretrained=Fal"
    ):
        ec.create_model(name, group="hue3")


def _no_connection(*_, **__):
    raise OSError("no connection")


def test_a_network_without_weights_to_be_downloaded_begins_afresh():
    assert ec.create_model("timm:vovnet39a", num_classes=2).num_classes == 2


@pytest.mark.parametrize("extra", [{"pretrained": True}, {"weights": "/somewhere/else.pth"}])
def test_a_card_cannot_ask_for_other_weights(extra, tmp_path):
    ec.save_pretrained(ec.create_model(**TIMM, num_classes=2), tmp_path)
    card = json.loads((tmp_path / "config.json").read_text())
    card["architecture"] |= extra
    (tmp_path / "config.json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match="asks for other weights than those beside it"):
        ec.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    "extra",
    [{"name": "timm:hf-hub:a/b"}, {"name": "timm:convnext_xxlarge"}, {"num_classes": 10**9}, {"group": "hue999"}],
)
def test_a_card_builds_nothing_that_the_weights_are_not_of(extra, tmp_path):
    ec.save_pretrained(ec.create_model(**TIMM, group="hue3", num_classes=2), tmp_path)
    card = json.loads((tmp_path / "config.json").read_text())
    card["architecture"] |= extra
    (tmp_path / "config.json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match=r"cannot be built|does not fit"):
        ec.from_pretrained(tmp_path)


def test_weights_of_a_file_begin_the_plain_network_and_a_classifier_of_another_size_is_new(tmp_path):
    there = randomized(ec.create_model(**TIMM, num_classes=7)).body
    save_file(there.state_dict(), tmp_path / "weights.safetensors")
    torch.save({"state_dict": {f"module.{k}": v for k, v in there.state_dict().items()}}, tmp_path / "weights.pth")
    for name in ("weights.safetensors", "weights.pth"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same = ec.create_model("timm:resnet10t", num_classes=7, weights=tmp_path / name).eval()
        assert torch.equal(same.body(images()), there(images()))
        with pytest.warns(UserWarning, match="classifier 'fc' starts anew, with 3 classes: that of .* has 7"):
            other = ec.create_model("timm:resnet10t", group="hue3", num_classes=3, weights=tmp_path / name)
        assert torch.equal(other.body.layer1[0].conv1.weight[:, :64], there.layer1[0].conv1.weight)
