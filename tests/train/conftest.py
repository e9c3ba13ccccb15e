"""What the tests of runs share."""

import pytest
import torch

from equicolor.train import fit
from runs import SMALL


@pytest.fixture(scope="package")
def whole(tmp_path_factory):
    """The small run, never interrupted; for all tests to look at."""
    torch.set_num_threads(1)  # as the tests have, which come after this
    return fit(SMALL, tmp_path_factory.mktemp("whole") / "run", quiet=True)
