"""What the tests of the networks share."""

import pytest
import torch
from torch import Tensor


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def images() -> Tensor:
    return torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))
