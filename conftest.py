"""What all tests and all examples in docstrings share: one thread for each worker, and the same chance in every run.

A test that fails by chance once in many runs tells nothing about the change it fails on. Chance is looked for where
somebody reads what it finds: ``HYPOTHESIS_PROFILE=explore make test`` draws other examples each time, and more of them.
"""

import os
import random

# Before PyTorch is imported, and for the processes that tests start: threads that wait for a core spin meanwhile.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, settings

_SETTINGS = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("equicolor", max_examples=25, derandomize=True, **_SETTINGS)
settings.register_profile("explore", max_examples=100, **_SETTINGS)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "equicolor"))


@pytest.fixture(autouse=True)
def _reproducible():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  what others' code draws from
    random.seed(0)
