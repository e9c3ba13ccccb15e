"""What all tests share: quiet, reproducible, one thread for each worker."""

import pytest
import torch
from hypothesis import HealthCheck, settings

#: What other packages add is looked at from processes of its own: imported here, it would be there in every test.
collect_ignore = ["stranger.py"]

settings.register_profile("equicolor", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("equicolor")


@pytest.fixture(autouse=True)
def _reproducible():
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture(params=[torch.float32, torch.float64], ids=["float32", "float64"])
def dtype(request):
    """Every claim about numbers is made in both precisions."""
    return request.param
