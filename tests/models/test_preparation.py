"""How images are prepared: the same from a file, an array and a tensor, in the order that the docstring gives."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image

import equicolor as ec
from equicolor.data import Augment, CorruptImageError
from equicolor.models import Preparation, gray


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
    assert torch.allclose(gray(images), kornia.rgb_to_grayscale(images).expand(-1, 3, -1, -1), atol=1e-6)
    assert torch.equal(Preparation(4, gray=True)(images), gray(images))


def test_masks_are_cut_as_images_are():
    masks = (torch.rand(2, 20, 30) > 0.5).long()
    images = masks[:, None].expand(-1, 3, -1, -1).float()
    seen, cut = Preparation(12, resize=16, crop=14, gray=True)(images, masks)
    assert cut.shape == (2, 12, 12)
    assert cut.dtype == torch.long
    assert ((seen[:, 0] - cut).abs() < 0.51).float().mean() > 0.75  # both are rounded, by another number of steps


@pytest.mark.parametrize("pipeline", ["none", "photo", "flip+gray", "photo+resnet-gray", "centre-crop", "grey"])
def test_what_an_augmentation_does_in_testing_is_its_preparation(pipeline):
    augment, images = Augment(pipeline, 24).eval(), torch.rand(3, 3, 24, 24)
    assert torch.equal(augment(images), augment.preparation(images))
    assert augment.preparation.gray == ("gray" in pipeline or "grey" in pipeline)
    assert augment.preparation.crop == (27 if {"photo", "centre-crop"} & set(pipeline.split("+")) else None)


def test_another_size_keeps_the_proportions():
    assert Preparation(224, resize=256, crop=256).at(112) == Preparation(112, resize=128, crop=128)
    assert Preparation(28, gray=True).at(56) == Preparation(56, gray=True)


def test_a_fresh_network_takes_images_of_the_size_it_is_made_for(photograph):
    model = ec.create_model("z2cnn", "hue3", width=4)
    assert model.preprocess(photograph).shape == (1, 3, 28, 28)
    assert model(model.preprocess(photograph)).shape == (1, 10)
    model.preparation = Preparation(32, gray=True)
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


@pytest.mark.parametrize("shape", [(4, 99), (100, 4)])
def test_a_long_image_is_cut_before_it_is_scaled_and_shows_the_same_centre(shape):
    image = torch.rand(1, 3, *shape)
    whole = F.interpolate(image, [3 * side for side in shape], mode="bilinear", antialias=True)
    top, left = ((side - 12) // 2 for side in whole.shape[-2:])
    torch.testing.assert_close(Preparation(12)(image), whole[..., top : top + 12, left : left + 12])
    assert Preparation(12)(torch.rand(3, 1, 5_000_000)).shape == (1, 3, 12, 12)  # scaled whole, it would take 9 GB


@pytest.mark.parametrize(
    ("how", "function", "words"),
    [
        ("gray-world", ec.color.gray_world, "white-balanced by the grey world"),
        ("reinhard", ec.color.reinhard, "its colours normalised after Reinhard"),
        ("macenko", ec.color.macenko, "its stains normalised after Macenko"),
    ],
)
def test_colours_are_normalised_in_testing_as_in_training_and_the_card_says_so(how, function, words, tmp_path):
    augment = ec.data.Augment(how, 28)
    assert augment.preparation == Preparation(28, color_normalization=how)
    images = torch.rand(2, 3, 28, 28) * torch.tensor([1.0, 0.7, 0.4]).view(3, 1, 1)
    normal = function(images)
    assert (normal - images).abs().max() > 0.1
    assert torch.equal(augment.train()(images), normal)
    assert torch.equal(augment.eval()(images), normal)
    model = ec.create_model("z2cnn", width=4).eval()
    model.preparation = augment.preparation
    ec.save_pretrained(model, tmp_path / "model")
    again = ec.from_pretrained(tmp_path / "model")
    assert again.card.color_normalization == how
    assert torch.equal(again.preprocess(images), normal)
    assert words in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")


def test_colours_are_normalised_once_and_in_a_way_that_there_is():
    with pytest.raises(ValueError, match="'gray-world\\+flip\\+macenko' normalises colours twice: it may have one of"):
        ec.data.Augment("gray-world+flip+macenko", 28)
    with pytest.raises(ValueError, match="unknown colour normalisation 'vahadane': expected one of 'gray-world', "):
        Preparation(28, color_normalization="vahadane")
