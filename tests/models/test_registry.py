import pytest
import torch

import equicolor as ec
from equicolor._tools import plugins
from equicolor.models import Z2CNN, ResNet, Segmenter, _registry


def test_lists_the_networks_of_the_paper():
    assert ec.list_models() == ["resnet18", "resnet34", "resnet44", "resnet50", "segmenter", "z2cnn"]
    assert ec.list_models("*44") == ["resnet44"]
    assert ec.list_models("vgg*") == []


@pytest.mark.parametrize(("name", "kind"), [("z2cnn", Z2CNN), ("resnet44", ResNet), ("segmenter", Segmenter)])
def test_makes_networks_by_name(name, kind):
    assert isinstance(ec.create_model(name, width=8), kind)


def test_a_network_knows_its_task_and_the_size_of_images_it_was_made_for():
    assert ec.list_models(task="segmentation") == ["segmenter"]
    assert "segmenter" not in ec.list_models(task="classification")
    assert {name: ec.create_model(name).image_size for name in ("z2cnn", "resnet18", "segmenter")} == {
        "z2cnn": 28,
        "resnet18": 32,
        "segmenter": 128,
    }
    assert ec.create_model("resnet18", stem="imagenet").image_size == 224


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(ValueError, match="there is a network 'z2cnn' already, Z2CNN"):
        ec.register_model("z2cnn")(ResNet)
    with pytest.raises(TypeError, match="a subclass of Model"):
        ec.register_model("linear")(torch.nn.Linear)


def test_a_network_of_another_package_is_found_by_its_entry_point(monkeypatch):
    class Plugin:
        value = "stranger"

        @staticmethod
        def load():
            ec.register_model("thumb")(type("Thumb", (Z2CNN,), {}))

    monkeypatch.setattr(_registry, "_MODELS", dict(_registry._MODELS))
    monkeypatch.setattr(plugins, "entry_points", lambda group: [Plugin] if group == "equicolor.plugins" else [])
    assert type(ec.create_model("thumb")).__name__ == "Thumb"


def test_a_group_may_be_given_as_such_or_by_name():
    group = ec.Hue(4) * ec.Saturation(3, step=0.05, action="clamp")
    model = ec.create_model("z2cnn", group)
    assert model.group == group
    assert ec.create_model("z2cnn", str(group)).group == group
    assert model.config["group"] == "hue4-sat3(step=0.05,action=clamp)"


def test_the_first_line_of_a_models_repr_sums_it_up():
    first = repr(ec.create_model("z2cnn", "hue4", bias=True, width="paper")).splitlines()[0]
    assert first == "z2cnn, hue4, width=paper: 25,690 parameters"
    assert "no group, width=fast" in repr(ec.create_model("z2cnn", width="fast")).splitlines()[0]


def test_an_unknown_name_is_answered_with_a_close_one_and_all():
    with pytest.raises(
        ValueError, match=r"unknown model 'resnet-44'. Did you mean 'resnet44'\? There are resnet18, .*z2cnn"
    ):
        ec.create_model("resnet-44")


def test_an_unknown_group_is_answered_with_those_that_a_model_takes():
    with pytest.raises(ValueError, match=r"unknown group 'huge4'.*hue4.*ceconv3.*None"):
        ec.create_model("z2cnn", "huge4")


def test_an_unknown_option_is_answered_with_those_that_exist():
    with pytest.raises(TypeError, match=r"z2cnn has no option 'stem'. Its own are bias, softmax;.*width"):
        ec.create_model("z2cnn", stem="cifar")


def test_rescaling_reaches_the_group_convolutions_and_nothing_else():
    model = ec.create_model("z2cnn", "sat3", rescale=True)
    assert all(layer.rescale for layer in model.modules() if isinstance(layer, ec.nn.GroupConv2d))
    for group in (None, "ceconv3"):
        with pytest.raises(ValueError, match="rescale=True is for the edges of a truncated group"):
            ec.create_model("z2cnn", group, rescale=True)


def test_windows_and_pooling_are_options_of_every_network():
    for name in ("z2cnn", "resnet18"):
        model = ec.create_model(name, "sat3", window="replicate", reduce="mean")
        assert {layer.window for layer in model.modules() if isinstance(layer, ec.nn.GroupConv2d)} == {"replicate"}
        assert [layer.reduce for layer in model.modules() if isinstance(layer, ec.nn.GroupPool)] == ["mean"]
        assert str(ec.create_model(**model.config)) == str(model)
    with pytest.raises(ValueError, match="window='replicate' is for the edges of a truncated group"):
        ec.create_model("z2cnn", None, window="replicate")
    with pytest.raises(ValueError, match="reduce='mean' is for pooling over a group"):
        ec.create_model("z2cnn", None, reduce="mean")


def test_a_window_that_shrinks_is_pooled_over_while_three_elements_are_left():
    model = ec.create_model("z2cnn", "temp7-tint7", 2, window="valid")
    convolutions = [layer for layer in model.modules() if isinstance(layer, ec.nn.GroupConv2d)]
    assert [str(layer.out_group) for layer in convolutions] == ["temp5-tint5", "temp3-tint3"]
    (pool,) = (layer for layer in model.modules() if isinstance(layer, ec.nn.GroupPool))
    assert str(pool.group) == "temp3-tint3"
    assert model(torch.rand(2, 3, 32, 32)).shape == (2, 2)
    assert str(ec.create_model(**model.config)) == str(model)
    assert 0.85 < model.num_parameters / ec.create_model("z2cnn", None, 2).num_parameters < 1.15


def test_a_window_that_cannot_shrink_or_a_network_that_does_not_is_refused():
    with pytest.raises(ValueError, match=r"windows of 5 elements at least, such as 'sat5'.*got sat3"):
        ec.create_model("z2cnn", "sat3", window="valid")
    with pytest.raises(ValueError, match="ResNet takes no window='valid'"):
        ec.create_model("resnet18", "sat5", window="valid")
