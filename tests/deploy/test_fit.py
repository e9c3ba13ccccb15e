"""Images fitted by products of matrices: what PIL makes of them."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from equicolor._tools.images import Decoding, picture
from equicolor.deploy._fit import centre, fitted


def images(height, width):
    return torch.randint(0, 256, (2, 3, height, width), dtype=torch.uint8)


@pytest.mark.parametrize("fit", ["crop", "stretch"])
@pytest.mark.parametrize(
    "size", [(40, 31), (31, 40), (13, 17), (300, 17), (5, 200), (128, 128), (29, 57), (200, 333), (1, 1), (2, 90)]
)
def test_every_pixel_is_that_of_pil_or_the_next_level(size, fit):
    given = images(*size)
    expected = [picture(image, Decoding(28, fit)) for image in given.permute(0, 2, 3, 1).contiguous().numpy()]
    difference = (fitted(given, 28, fit) - torch.from_numpy(np.stack(expected)).permute(0, 3, 1, 2)).abs()
    assert difference.max() <= 1
    assert (difference > 0).double().mean() < 0.2  # most are the same


@pytest.mark.parametrize("fit", ["crop", "stretch"])
def test_images_that_fit_already_are_not_changed(fit):
    given = images(28, 28)
    assert torch.equal(fitted(given, 28, fit), given.float())


def test_the_centre_is_that_of_pytorch():
    given = torch.rand(2, 3, 40, 40)
    scaled = F.interpolate(given, (33, 33), mode="bilinear", antialias=True)
    torch.testing.assert_close(centre(given, 33, 28), scaled[..., 2:30, 2:30], atol=1e-5, rtol=0)
