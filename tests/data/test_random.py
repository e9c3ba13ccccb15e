"""Draws are functions of seed and index alone."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equicolor.data._random import hashed, key, permutation, uniform


def test_the_hash_is_splitmix64() -> None:
    # The first outputs of the reference implementation, started at 0.
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert hashed(np.arange(3, dtype=np.uint64)).tolist() == expected


def test_draws_are_the_same_on_every_machine_and_version() -> None:
    assert permutation(10, seed=0).tolist() == [4, 3, 0, 1, 5, 9, 7, 2, 8, 6]
    assert uniform(torch.arange(3), 1999, "hue").tolist() == [
        0.46407389256480047,
        0.7671241351685286,
        0.1915574961621841,
    ]


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=20), st.integers(0, 2**63))
def test_a_draw_does_not_depend_on_its_neighbours(indices: list[int], seed: int) -> None:
    together = uniform(torch.tensor(indices), seed, "x")
    alone = [uniform(torch.tensor([index]), seed, "x").item() for index in indices]
    assert together.tolist() == alone


@given(st.integers(0, 300), st.integers(0, 2**63))
def test_a_permutation_has_every_index_once(count: int, seed: int) -> None:
    assert sorted(permutation(count, seed).tolist()) == list(range(count))


def test_draws_fill_the_unit_interval_evenly() -> None:
    draws = uniform(torch.arange(100_000), 7, "hue")
    counts = torch.histc(draws, bins=10, min=0, max=1)
    assert draws.min() >= 0
    assert draws.max() < 1
    assert (counts - 10_000).abs().max() < 500  # five standard deviations are 474


def test_neighbouring_seeds_and_purposes_share_nothing() -> None:
    rows = torch.arange(10_000)
    draws = [uniform(rows, 0, "hue"), uniform(rows, 1, "hue"), uniform(rows, 0, "sat"), uniform(rows + 1, 0, "hue")]
    for i in range(len(draws)):
        for j in range(i):
            assert torch.corrcoef(torch.stack([draws[i], draws[j]]))[0, 1].abs() < 0.05


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 on, got -1"):
        key(-1, "x")
