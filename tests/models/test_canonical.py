"""canonicalize: any network made invariant by a small one in front of it."""

import pytest
import torch
from torch import Tensor, nn

import equicolor as ec
from equicolor.models import Canonicalized, Model
from zoo import settle


class TinyViT(nn.Module):
    """A vision transformer of torch.nn parts: patches, two layers of attention, a linear head."""

    def __init__(self, size: int = 32, patch: int = 8, width: int = 32, classes: int = 5) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, stride=patch)
        self.places = nn.Parameter(torch.randn(1, (size // patch) ** 2, width))
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        tokens = self.patches(images).flatten(2).transpose(1, 2) + self.places
        logits: Tensor = self.head(self.layers(tokens).mean(1))
        return logits


def _plain_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)
    )


NETWORKS = {
    "random z2cnn": lambda: settle(ec.create_model("z2cnn")),
    "transformer": TinyViT,
    "converted": lambda: ec.convert(_plain_cnn(), "hue2"),
}


@pytest.mark.parametrize("mode", ["discrete", "continuous"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", ["hue3", "hue4"])
def test_any_untrained_network_is_invariant_to_every_element(name, network, mode):
    whole = ec.canonicalize(NETWORKS[network](), name, mode=mode).eval()
    group, images = ec.group(name), torch.rand(4, 3, 32, 32) * torch.rand(4, 3, 1, 1)
    still, moves = whole(images), whole.canonicalizer(images).move
    assert not torch.allclose(whole.canonicalizer(group.act_on_images(1, images)).move, moves)
    for element in group:
        torch.testing.assert_close(whole(group.act_on_images(element, images)), still, atol=1e-5, rtol=1e-5)


def test_without_it_these_networks_are_not_invariant():
    images = torch.rand(4, 3, 32, 32)
    for make in (NETWORKS["random z2cnn"], NETWORKS["transformer"]):
        network = make().eval()
        assert not torch.allclose(network(ec.group("hue3").act_on_images(1, images)), network(images), atol=1e-2)


def test_a_network_of_the_zoo_stays_one():
    network = ec.create_model("z2cnn", "hue4", num_classes=4)
    whole = ec.canonicalize(network, "temp-tint")
    assert isinstance(whole, Model)
    assert whole.network is network
    assert whole.group == network.group
    assert whole.features(torch.rand(1, 3, 32, 32)).shape == (4, 4, 3, 3)
    again = ec.create_model(**whole.config)
    assert again.config == whole.config
    again.load_state_dict(whole.state_dict())
    assert whole.num_parameters == network.num_parameters + sum(p.numel() for p in whole.canonicalizer.parameters())


def test_canonicalisers_nest_and_may_be_ones_own():
    inner = ec.canonicalize(ec.create_model("z2cnn"), "hue4")
    assert ec.canonicalize(inner, "temp-tint").eval()(torch.rand(2, 3, 32, 32)).shape == (2, 10)

    class Halved(nn.Module):
        def forward(self, images):
            return images / 2, None

    whole = ec.canonicalize(nn.Identity(), canonicalizer=Halved())
    assert type(whole) is Canonicalized
    assert torch.equal(whole(torch.ones(1, 3, 2, 2)), torch.full((1, 3, 2, 2), 0.5))


def test_what_stands_in_front_is_exact_and_what_is_behind_another_is_not():
    torch.manual_seed(0)
    light = ec.nn.Canonicalizer("temp-tint")
    torch.nn.init.normal_(light.shifts[-1].weight)  # as if it had learnt something
    images, hues = torch.rand(4, 3, 32, 32) * torch.rand(4, 3, 1, 1), ec.group("hue4")
    plain, group = settle(ec.create_model("z2cnn")), settle(ec.create_model("z2cnn", "hue4"))
    hue_first = ec.canonicalize(ec.canonicalize(plain, canonicalizer=light), "hue4").eval()
    light_first = ec.canonicalize(group, canonicalizer=light).eval()
    turned = hues.act_on_images(1, images)
    torch.testing.assert_close(hue_first(turned), hue_first(images), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(group(turned), group(images), atol=1e-5, rtol=1e-5)
    assert (light_first(turned) - light_first(images)).abs().max() > 1e-3


def test_it_comes_in_the_precision_of_the_network():
    whole = ec.canonicalize(ec.create_model("z2cnn").double(), "hue4")
    assert {p.dtype for p in whole.parameters()} == {torch.float64}


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="one of the two"):
        ec.canonicalize(nn.Identity())
    with pytest.raises(ValueError, match="takes no size"):
        ec.canonicalize(nn.Identity(), canonicalizer=nn.Identity(), size=3)
    with pytest.raises(TypeError, match="got function"):
        ec.canonicalize(lambda images: images, "hue4")


def test_where_colour_is_the_class_it_is_thrown_away():
    """Tomatoes, ripe and unripe, that differ by a turn of the hue and by nothing else."""
    ripe = torch.rand(8, 3, 32, 32) * torch.tensor([1.0, 0.2, 0.2]).view(3, 1, 1)
    unripe = ec.group("hue3").act_on_images(1, ripe)
    network = settle(ec.create_model("z2cnn", num_classes=2))
    whole = ec.canonicalize(network, "hue3").eval()
    assert (network(ripe) - network(unripe)).abs().max() > 0.1
    torch.testing.assert_close(whole(ripe), whole(unripe), atol=1e-5, rtol=1e-5)
