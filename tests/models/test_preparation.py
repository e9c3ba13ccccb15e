"""How images are prepared: the same from a file, an array and a tensor, in the order that the docstring gives."""

import numpy as np
import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor.data import Augment, CorruptImageError
from equicolor.models import Preparation, grey


@pytest.fixture
def photograph(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (50, 40, 3), dtype=np.uint8)
    path = tmp_path / "photograph.png"
    Image.fromarray(pixels).save(path)
    return path


def test_a_path_an_image_and_an_array_are_prepared_alike(photograph):
    prepare = Preparation(24, resize=32, crop=28)
    from_path = prepare(photograph)
    assert from_path.shape == (1, 3, 24, 24)
    with Image.open(photograph) as image:
        array = np.asarray(image)
        assert torch.equal(prepare(image), from_path)
    assert torch.equal(prepare(array), from_path)
    assert torch.equal(prepare([str(photograph), array]), torch.cat([from_path, from_path]))


def test_a_tensor_is_prepared_as_the_file_is_up_to_the_rounding_to_bytes(photograph):
    with Image.open(photograph) as image:
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1)
    for prepare in (Preparation(25), Preparation(24, resize=32, crop=28), Preparation(30, fit="stretch")):
        assert (prepare(pixels) - prepare(photograph)).abs().max() < 1.5 / 255
        assert torch.equal(prepare(pixels), prepare(pixels[None].float() / 255))


def test_the_centre_is_cut_out_after_scaling():
    square = torch.zeros(1, 1, 32, 32)
    square[..., 4:28, 4:28] = 1
    assert Preparation(24, resize=32, crop=32)(square).min() == 1
    assert torch.equal(Preparation(32)(square), square)


def test_a_wide_image_loses_its_sides_and_a_stretched_one_does_not():
    wide = torch.zeros(1, 1, 8, 24)
    wide[..., 8:16] = 1
    assert Preparation(8)(wide).min() == 1
    assert Preparation(8, fit="stretch")(wide).mean() == pytest.approx(1 / 3, abs=0.05)


def test_grey_is_kornias_brightness_in_three_equal_channels():
    kornia = pytest.importorskip("kornia.color")
    images = torch.rand(2, 3, 4, 4)
    assert torch.allclose(grey(images), kornia.rgb_to_grayscale(images).expand(-1, 3, -1, -1), atol=1e-6)
    assert torch.equal(Preparation(4, grey=True)(images), grey(images))


def test_masks_are_cut_as_images_are():
    masks = (torch.rand(2, 20, 30) > 0.5).long()
    images = masks[:, None].expand(-1, 3, -1, -1).float()
    seen, cut = Preparation(12, resize=16, crop=14, grey=True)(images, masks)
    assert cut.shape == (2, 12, 12)
    assert cut.dtype == torch.long
    assert ((seen[:, 0] - cut).abs() < 0.51).float().mean() > 0.75  # both are rounded, by another number of steps


@pytest.mark.parametrize("pipeline", ["none", "photo", "flip+gray", "photo+resnet-gray", "centre-crop", "grey"])
def test_what_an_augmentation_does_in_testing_is_its_preparation(pipeline):
    augment, images = Augment(pipeline, 24).eval(), torch.rand(3, 3, 24, 24)
    assert torch.equal(augment(images), augment.preparation(images))
    assert augment.preparation.grey == ("gray" in pipeline or "grey" in pipeline)
    assert augment.preparation.crop == (27 if {"photo", "centre-crop"} & set(pipeline.split("+")) else None)


def test_another_size_keeps_the_proportions():
    assert Preparation(224, resize=256, crop=256).at(112) == Preparation(112, resize=128, crop=128)
    assert Preparation(28, grey=True).at(56) == Preparation(56, grey=True)


def test_a_fresh_network_takes_images_of_the_size_it_is_made_for(photograph):
    model = ec.create_model("z2cnn", "hue3", width=4)
    assert model.preprocess(photograph).shape == (1, 3, 28, 28)
    assert model(model.preprocess(photograph)).shape == (1, 10)
    model.preparation = Preparation(32, grey=True)
    prepared = model.preprocess([photograph, photograph])
    assert prepared.shape == (2, 3, 32, 32)
    assert torch.equal(prepared[:, 0], prepared[:, 2])


def test_what_is_no_image_is_refused_with_a_word_on_what_is(tmp_path):
    prepare = Preparation(8)
    (tmp_path / "text.png").write_text("no image")
    with pytest.raises(CorruptImageError, match=r"text\.png cannot be read as an image"):
        prepare(tmp_path / "text.png")
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nowhere\.png"):
        prepare(tmp_path / "nowhere.png")
    with pytest.raises(ValueError, match=r"images must be RGB in \[0, 1\]"):
        prepare(torch.randn(1, 3, 8, 8) * 3)
    with pytest.raises(TypeError, match="a path, a tensor, an array"):
        prepare(3)
    with pytest.raises(ValueError, match="uint8"):
        prepare(np.zeros((8, 8, 3)))
    with pytest.raises(ValueError, match="empty list"):
        prepare([])


def test_sizes_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="give crop"):
        Preparation(24, resize=32)
    with pytest.raises(ValueError, match="cannot cut 24×24 out of 20×20"):
        Preparation(24, resize=32, crop=20)
    with pytest.raises(ValueError, match="positive"):
        Preparation(0)
