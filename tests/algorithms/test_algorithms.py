"""Bilinear algorithms: the right sums, at the ranks of the table."""

import itertools
from functools import reduce

import numpy as np
import pytest
import torch

import equicolor as ec
from equicolor import algorithms, group
from equicolor.algorithms import (
    Algorithm,
    blocks,
    cyclic,
    direct,
    edge_scales,
    fast,
    filter_bank,
    inner,
    replicated,
    taps,
    transposed,
    truncated,
    valid,
    written_out,
)
from equicolor.nn import GroupConv2d
from equicolor.nn._combine import combine, unstack

NAMES = ["hue1", "hue2", "hue5", "hue12", "sat1", "sat2", "sat3", "lum4", "lum5", "hue4-sat3", "sat3-hue3-lum2"]


def tensor(algorithm: Algorithm) -> np.ndarray:
    """The trilinear form: the weight of x_h w_t in y_g, ``(g, h, t)``."""
    return np.einsum("gr,rh,rt->ght", algorithm.inverse, algorithm.feature, algorithm.filter)


def correlation(group: ec.Group) -> np.ndarray:
    """y_g = Σ_h x_h w_{h-g}, by definition."""
    expected = np.zeros((group.order,) * 3)
    for g in group:
        for h in group:
            difference = group.compose(h, group.inverse(g))
            if difference in group:
                expected[group.index(g), group.index(h), group.index(difference)] = 1
    return expected


@pytest.mark.parametrize("name", [*NAMES, *(f"hue{n}" for n in range(1, 17)), "hue36"])
def test_every_algorithm_sums_the_group_convolution(name):
    group = ec.group(name)
    np.testing.assert_allclose(tensor(fast(group)), correlation(group), atol=2e-15)
    np.testing.assert_array_equal(tensor(direct(group)), correlation(group))


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("hue3", 4),
        ("hue4", 5),
        ("hue6", 8),
        ("hue8", 11),
        ("hue12", 17),
        ("sat2", 3),
        ("sat3", 4),
        ("sat5", 10),
        ("hue4-sat3", 20),
        ("hue4-sat5", 41),
        ("temp3-tint3", 16),
        ("temp3-tint3-exp3", 64),
        ("hue3-sat3-lum3", 64),
    ],
)
def test_the_table_of_ranks(name, rank):
    assert fast(ec.group(name)).rank == rank


@pytest.mark.parametrize("n", range(1, 40))
def test_the_rank_stays_below_one_and_a_half_times_the_order(n):
    assert cyclic(n).rank == ((3 * n - 1) // 2 if n % 2 else (3 * n - 2) // 2)
    assert cyclic(n).rank < 1.5 * n


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_small_cyclic_groups_need_additions_only(n):
    for matrix in (cyclic(n).feature, cyclic(n).inverse):
        assert set(np.unique(matrix)) <= {-2.0, -1.0, 0.0, 1.0, 2.0}


def test_direct_has_a_convolution_for_each_nonzero_block_and_fast_never_more():
    assert [direct(ec.group(name)).rank for name in ("hue4", "sat3", "hue4-sat3")] == [16, 7, 112]
    for name in NAMES:
        assert fast(ec.group(name)).rank <= direct(ec.group(name)).rank
    assert truncated(3).rank == 4


def test_the_algorithm_of_a_product_sums_the_product_of_groups():
    assert fast(ec.group("hue4-sat3")) == cyclic(4) @ truncated(3)
    np.testing.assert_allclose(tensor(cyclic(4) @ cyclic(3)), np.kron(tensor(cyclic(4)), tensor(cyclic(3))), atol=1e-15)


def test_the_filter_bank_is_circulant_for_hue_and_banded_for_saturation():
    assert filter_bank(ec.Hue(3)) == ((0, 1, 2), (2, 0, 1), (1, 2, 0))
    assert filter_bank(ec.Saturation(3)) == ((1, 2, None), (0, 1, 2), (None, 0, 1))


@pytest.mark.parametrize("window", ["zero", "rescale", "replicate", "valid"])
@pytest.mark.parametrize("name", [*NAMES, "sat7", "hue2-sat5", "temp3-tint5"])
def test_fast_sums_the_blocks_of_every_window(name, window):
    on = ec.group(name)
    expected = np.zeros((len(blocks(on, window)), on.order, taps(on, window)))
    for g, row in enumerate(blocks(on, window)):
        for h, filters in enumerate(row):
            expected[g, h, list(filters)] = edge_scales(on)[g] if window == "rescale" else 1
    np.testing.assert_allclose(tensor(fast(on, window)), expected, atol=5e-15)


def test_windows_differ_in_what_the_edge_sees():
    on = ec.Saturation(3)
    assert blocks(on, "zero") == (((1,), (2,), ()), ((0,), (1,), (2,)), ((), (0,), (1,)))
    assert blocks(on, "replicate") == (((0, 1), (2,), ()), ((0,), (1,), (2,)), ((), (0,), (1, 2)))
    assert blocks(on, "valid") == (((0,), (1,), (2,)),)
    assert blocks(ec.Hue(3), "valid") == blocks(ec.Hue(3))


@pytest.mark.parametrize(("name", "left"), [("sat7", "sat5"), ("lum2", "lum2"), ("hue4-sat4", "hue4-sat2")])
def test_what_a_valid_convolution_leaves_is_a_smaller_window_of_the_same_step(name, left):
    assert inner(ec.group(name)) == ec.group(left)
    stepped = inner(ec.Saturation(5, step=0.3))
    assert (stepped.order, stepped.amount(1)) == (3, 0.3)
    assert fast(ec.Saturation(7), "valid").rank == 9 < cyclic(7).rank


def test_edges_of_a_truncated_group_are_scaled_up():
    assert edge_scales(ec.Hue(3)) == (1, 1, 1)
    assert edge_scales(ec.Saturation(3)) == (1.5, 1, 1.5)
    assert edge_scales(ec.group("hue2-sat3")) == (1.5, 1, 1.5, 1.5, 1, 1.5)
    plain, scaled = tensor(fast(ec.Saturation(3))), tensor(fast(ec.Saturation(3), "rescale"))
    np.testing.assert_allclose(scaled, plain * np.array([1.5, 1, 1.5])[:, None, None], atol=1e-15)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_combining_is_a_matrix_product_along_the_group_in_any_layout(layout, dtype):
    matrix = ((1.0, 0.0, -2.0), (0.5, 1.0, 0.0))
    features = torch.rand(6, 4, 3, 5, dtype=dtype).contiguous(memory_format=layout)
    split = features.contiguous().view(3, 2, 4, 3, 5)
    expected = torch.einsum("rn,nbchw->rbchw", torch.tensor(matrix, dtype=dtype), split).flatten(0, 1)
    for parts in (features, unstack(features, 3)):
        combined = combine(matrix, parts)
        torch.testing.assert_close(combined, expected)
        assert combined.is_contiguous(memory_format=layout)


def test_constants_made_in_inference_mode_serve_training():
    matrix = ((0.125, 3.0),)
    with torch.inference_mode():
        combine(matrix, torch.rand(2, 3))
    features = torch.rand(2, 3, requires_grad=True)
    combine(matrix, features).sum().backward()
    torch.testing.assert_close(features.grad, torch.tensor([[0.125] * 3, [3.0] * 3]))


def test_a_layer_on_many_elements_is_built_without_the_direct_algorithm(monkeypatch):
    """Of rank n², it took 14 seconds for 200 hues, and was then thrown away."""

    def never(*_):
        raise AssertionError("built the direct algorithm")

    monkeypatch.setattr(algorithms, "direct", never)
    layer = GroupConv2d("hue200", 3, 4, 1)
    assert layer._bilinear.rank == 299
    assert len(layer._bank) == 200


def test_small_windows_take_fewer_products_than_the_circles_they_fit_in():
    assert [truncated(m).rank for m in (2, 3)] == [3, 4]
    assert [cyclic(m + m // 2).rank for m in (2, 3)] == [4, 5]
    assert [replicated(m).rank for m in (2, 3)] == [2, 4]
    assert [valid(2 * m - 1, m).rank for m in (2, 3)] == [3, 6]


@pytest.mark.parametrize("window", ["zero", "rescale", "replicate", "valid"])
@pytest.mark.parametrize("name", ["hue4", "sat2", "sat3", "hue4-sat3", "temp3-tint3", "sat5"])
def test_of_a_bias_that_is_shared_out_all_of_it_reaches_every_element(name, window):
    algorithm = fast(group(name), window)
    np.testing.assert_allclose(np.array(algorithm.inverse) @ algorithm.shares, 1, atol=1e-14)
    assert sum(np.abs(algorithm.shares)) <= 2


@pytest.mark.parametrize("name", ["hue5", "sat4", "hue2-sat3", "hue3-sat2-lum3"])
def test_the_filter_bank_holds_what_composition_says(name):
    on = group(name)
    for g, row in zip(on, filter_bank(on), strict=True):
        for h, tap in zip(on, row, strict=True):
            difference = on.compose(h, on.inverse(g))
            assert tap == (on.index(difference) if difference in on else None)


@pytest.mark.parametrize("window", ["zero", "rescale", "replicate", "valid"])
@pytest.mark.parametrize(
    "name", ["hue4", "sat3", "hue4-sat3", "temp3-tint3", "hue2-sat2-lum3", "hue6-sat4", "hue3-sat5"]
)
def test_written_out_step_by_step_it_is_the_same_matrix(name, window):
    algorithm, draw = fast(group(name), window), np.random.default_rng(0)
    for matrix, steps in (
        (algorithm.feature, algorithm.feature_steps),
        (algorithm.inverse, algorithm.inverse_steps),
        (np.array(algorithm.feature).T, transposed(algorithm.feature_steps)),
        (np.array(algorithm.inverse).T, transposed(algorithm.inverse_steps)),
    ):
        terms = draw.normal(size=(len(matrix[0]), 7))
        np.testing.assert_allclose(np.stack(written_out(steps, list(terms))), np.array(matrix) @ terms, atol=1e-12)


def test_an_algorithm_that_leaves_an_element_out_is_refused():
    with pytest.raises(ValueError, match=r"any result, a 1 for every element .* this one, 2 × 1, cannot"):
        algorithms.Algorithm(((1.0, 0.0),), ((1.0, 0.0),), ((1.0,), (0.0,)))


class Counted:
    """A number that counts how often such numbers are added."""

    additions = 0

    def __add__(self, _):
        Counted.additions += 1
        return self

    def __mul__(self, _):
        return self


def test_step_by_step_takes_fewer_additions(monkeypatch):
    algorithm = fast(group("hue4-sat3"))
    entries = sum(np.count_nonzero(row) - 1 for row in algorithm.feature)
    monkeypatch.setattr(Counted, "additions", 0)
    written_out(algorithm.feature_steps, [Counted()] * 12)
    assert (Counted.additions, entries) == (68, 172)


@pytest.mark.parametrize("names", list(itertools.combinations_with_replacement(["hue3", "hue4", "hue6", "hue12"], 2)))
def test_pairs_of_complex_numbers_are_two_and_not_one_of_nine_products(names):
    first, second = (cyclic(group(name).order) for name in names)
    numbers = [one.parts[0].numbers for one in (first, second)]
    real = [each.count(None) for each in numbers]
    complexes = [len(each) - each.count(None) for each in numbers]
    product = first @ second
    expected = real[0] * real[1] + 3 * (
        real[0] * complexes[1] + complexes[0] * real[1] + 2 * complexes[0] * complexes[1]
    )
    assert product.rank == expected < first.rank * second.rank
    assert product.rank < 1.5 * len(first.inverse) * len(second.inverse)
    np.testing.assert_allclose(tensor(product), np.kron(tensor(first), tensor(second)), atol=2e-15)


@pytest.mark.parametrize("n", range(1, 12))
def test_a_line_takes_no_more_products_than_a_circle(n):
    for count in range(1, n + 1):
        algorithm, draw = valid(n, count), np.random.default_rng(n)
        features, filters = draw.normal(size=n), draw.normal(size=count)
        found = np.array(algorithm.inverse) @ ((algorithm.feature @ features) * (algorithm.filter @ filters))
        np.testing.assert_allclose(found, np.correlate(features, filters, "valid"), atol=1e-12)
        assert algorithm.rank <= cyclic(n).rank - (n > 2)


def growth(inverse, feature, filters):
    """By how much rounding errors may grow on the way: the sums of all absolute terms, by those of the result."""
    result = np.abs(np.einsum("gr,rh,rt->ght", inverse, feature, filters)).sum((1, 2))
    return (np.abs(inverse) @ (np.abs(feature).sum(1) * np.abs(filters).sum(1)) / result).max()


@pytest.mark.parametrize("name", ["hue4-sat3", "hue3-sat3-lum3", "hue12-sat3", "temp3-tint3", "temp5-tint5"])
@pytest.mark.parametrize("window", ["zero", "replicate", "valid"])
def test_fewer_products_lose_no_more_to_rounding(name, window):
    """Than the Kronecker product of the factors' own algorithms, but for a factor of two."""
    algorithm, factors = fast(group(name), window), [fast(factor, window) for factor in group(name).factors]
    whole = [np.array(getattr(algorithm, which)) for which in ("inverse", "feature", "filter")]
    apart = [reduce(np.kron, [getattr(each, which) for each in factors]) for which in ("inverse", "feature", "filter")]
    assert whole[1].shape[0] <= apart[1].shape[0]
    assert growth(*whole) < 2 * growth(*apart)
