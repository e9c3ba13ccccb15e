"""docs/groups.md: its code runs as it stands, and the group that it adds in one file is like the library's own."""

import re
from pathlib import Path

import pytest
import torch

import equicolor as ec
from equicolor.groups import _names

PAGE = Path(__file__).parents[2] / "docs" / "groups.md"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """What the page's blocks define, run one after the other in a folder of their own."""
    folder = tmp_path_factory.mktemp("page")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 5
    names = {"__name__": "oklab"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_names, "_FACTORS", dict(_names._FACTORS))
        patch.chdir(folder)
        for block in blocks:
            exec(compile(block, str(PAGE), "exec"), names)
        yield names


def test_what_is_saved_is_read_back_as_it_was(page):
    images = torch.rand(2, 3, 28, 28)
    assert page["same"].group == page["OKHue"](6) * page["OKChroma"](3, step=0.1) == page["group"]
    assert torch.equal(page["same"](images), page["model"](images))


def test_fast_is_direct_on_a_circle_and_in_a_product_of_ones_own(page):
    for group, rank in (("okhue6", 8), ("okhue4-okchroma3", 20)):
        layers = [ec.nn.GroupConv2d(group, 3, 4, 3, algorithm=name).double() for name in ("fast", "direct")]
        layers[1].load_state_dict(layers[0].state_dict())
        features = torch.rand(2 * layers[0].group.order, 3, 6, 6, dtype=torch.float64)
        torch.testing.assert_close(layers[0](features), layers[1](features))
        assert ec.algorithms.fast(ec.group(group)).rank == rank


def test_a_product_uses_the_hue_of_ones_own_and_not_another(page):
    images = torch.rand(2, 3, 4, 4)
    product = ec.group("okhue4-okchroma3")
    assert torch.equal(product.act_on_images((1, 0), images), page["OKHue"](4).act_on_images(1, images))
    assert (product.act_on_images((1, 0), images) - ec.Hue(4).act_on_images(1, images)).abs().max() > 0.05
    with pytest.raises(ValueError, match=r"okhue4 \* sat3 is no group.*OKLab.*do not commute"):
        ec.group("okhue4-sat3")
    assert ec.group("okhue4+sat3").order == 12


def test_the_moves_are_those_of_oklab(page):
    red = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64).view(3, 1, 1)
    lightness, a, b = page["to_oklab"](red).flatten().tolist()  # as Ottosson gives them
    assert (lightness, a, b) == pytest.approx((0.628, 0.225, 0.126), abs=1e-3)
    muted = page["OKHue"](4).domain(torch.rand(2, 3, 4, 4, dtype=torch.float64))
    before, after = page["to_oklab"](muted), page["to_oklab"](page["OKHue"](4).act_on_images(1, muted))
    torch.testing.assert_close(after[:, 0], before[:, 0])
    torch.testing.assert_close(after[:, 1], -before[:, 2])


def test_networks_on_it_are_equivariant_where_the_moves_are_exact(page):
    network = torch.nn.Sequential(
        ec.nn.Lift("okhue6"), ec.nn.GroupConv2d("okhue6", 3, 8, 3), torch.nn.ReLU(), ec.nn.GroupPool("okhue6")
    )
    ec.testing.assert_equivariant(network, "okhue6")
    vivid = torch.rand(2, 3, 16, 16)
    assert ec.equivariance_error(network, vivid, "okhue6").max() > 1e-3  # clipped, and said to be


def test_shifts_curves_and_jitter_follow_from_the_name(page):
    assert str(page["images"].shift) == "okhue:90"
    assert list(page["curve"]) == [0, 60, 120]
    assert page["jittered"].shape == (20, 3, 28, 28)
    from equicolor.trained import plot_curve

    axis = plot_curve("okhue", {0.0: 0.1, 360.0: 0.2}, order=6).axes[0]
    assert axis.get_xlabel() == "OKLab hue shift in °"
    assert len(axis.lines) == 1 + 7


def test_the_converted_network_is_that_of_each_recoloured_copy(page):
    plain, converted, images = page["plain"], page["converted"], torch.rand(2, 3, 12, 12)
    group = ec.group("okhue6")
    features = torch.stack([plain[:4](group.act_on_images(element, images)) for element in group])
    torch.testing.assert_close(converted(images), plain[4](features.amax(0)))
