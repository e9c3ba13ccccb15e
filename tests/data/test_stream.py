"""The order of a stream: every image once, few row groups at a time, and nothing read by two processes."""

from collections import OrderedDict

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equicolor.data import stream_order


@given(
    counts=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    batch_size=st.sampled_from([1, 2, 4, 6, 16]),
    seed=st.integers(0, 5),
    epoch=st.integers(0, 3),
)
def test_an_epoch_has_every_image_once(counts, batch_size, seed, epoch):
    groups = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    order = stream_order(groups, batch_size, seed, epoch, lanes=4, window=3)
    assert sorted(order.tolist()) == list(range(sum(counts)))
    assert torch.equal(order, stream_order(groups, batch_size, seed, epoch, lanes=4, window=3))


def test_epochs_and_seeds_have_orders_of_their_own():
    groups = torch.arange(64) // 4
    orders = {tuple(stream_order(groups, 8, seed, epoch).tolist()) for seed in (0, 1) for epoch in (0, 1)}
    assert len(orders) == 4


def reads(groups, most):
    """How often a row group is read by one who remembers the last so many."""
    held, count = OrderedDict(), 0
    for group in groups:
        count += group not in held
        held[group] = None
        held.move_to_end(group)
        while len(held) > most:
            held.popitem(last=False)
    return count


@pytest.mark.parametrize("world", [1, 2, 4])
def test_processes_read_each_row_group_once_and_hold_few(world):
    size, window, lanes, batch_size = 20, 40, 4, 16
    groups = torch.arange(3200) // size
    order = stream_order(groups, batch_size, seed=0, epoch=0, lanes=lanes, window=window)
    parts = groups[order].reshape(-1, world, batch_size // world)
    most = lanes // world * (window // size + 2)
    counts = [reads(parts[:, rank].flatten().tolist(), most) for rank in range(world)]
    # A group may lie where one lane ends and the next begins, or one window.
    assert sum(counts) <= int(groups.max()) + 1 + lanes


def test_a_batch_is_mixed_from_several_row_groups():
    groups = torch.arange(3200) // 20
    batches = groups[stream_order(groups, 16, seed=0, epoch=0, lanes=4, window=40)].reshape(-1, 16)
    assert all(len(batch.unique()) >= 4 for batch in batches)
