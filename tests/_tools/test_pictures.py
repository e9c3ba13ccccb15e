"""Pictures: what they show, by what is in them."""

import numpy as np
import torch

from equicolor._tools.pictures import contact_sheet


def test_a_contact_sheet_holds_the_images_in_their_order():
    shades = torch.tensor([10, 200, 90], dtype=torch.uint8)
    images = shades.view(3, 1, 1, 1).expand(-1, 3, 32, 32)
    sheet = np.asarray(contact_sheet(images, [("first", [2, 0]), ("none", []), ("second", [1])]))
    flat = sheet[:, 120, 0]
    assert (flat == 90).sum() == 64  # thumbnails of 64 pixels, the first of each section at the left
    assert (flat == 200).sum() == 64
    assert (sheet[:, 190, 0] == 10).sum() == 64
    assert np.flatnonzero(flat == 90)[0] < np.flatnonzero(flat == 200)[0]
