"""The data module: what a step sees is a function of its number."""

from itertools import chain

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equicolor.data import load
from equicolor.train import ImageData, StepSampler, TrainingError
from runs import SMALL


@given(
    count=st.integers(8, 60),
    steps=st.integers(1, 20),
    start=st.integers(0, 20),
    seed=st.integers(0, 5),
    parts=st.data(),
)
def test_a_sampler_that_starts_later_goes_on_as_one_that_started_at_the_first_step(count, steps, start, seed, parts):
    accumulate = parts.draw(st.sampled_from([1, 2]))
    given = {"count": count, "batch_size": 8, "steps": steps, "seed": seed, "accumulate": accumulate}
    whole = list(StepSampler(**given))
    assert list(StepSampler(**given, start=min(start, steps))) == whole[min(start, steps) * accumulate :]


@given(count=st.integers(8, 60), world=st.sampled_from([1, 2, 4]), accumulate=st.sampled_from([1, 2]))
def test_processes_and_parts_divide_each_batch_of_the_image_set(count, world, accumulate):
    given = {"count": count, "batch_size": 8, "steps": 3, "seed": 1}
    whole = [sorted(batch) for batch in StepSampler(**given)]
    shares = [list(StepSampler(**given, accumulate=accumulate, rank=rank, world=world)) for rank in range(world)]
    for step, batch in enumerate(whole):
        parts = [share[step * accumulate + part] for share in shares for part in range(accumulate)]
        assert {len(part) for part in parts} == {8 // world // accumulate}
        assert sorted(chain(*parts)) == batch


def test_batches_are_those_of_the_image_set():
    images = load("digits").sample(50)
    sampler = StepSampler(count=50, batch_size=16, steps=6, seed=7)
    expected = [batch for epoch in range(2) for batch in images.batches(16, True, seed=7, epoch=epoch, drop_last=True)]
    for indices, batch in zip(sampler, expected, strict=True):
        assert torch.equal(images[indices].images, batch.images)


def test_an_epoch_sees_no_image_twice_and_the_next_sees_them_in_another_order():
    batches = list(StepSampler(count=32, batch_size=8, steps=8, seed=0))
    first, second = list(chain(*batches[:4])), list(chain(*batches[4:]))
    assert sorted(first) == sorted(second) == list(range(32))
    assert first != second


def test_a_batch_that_cannot_be_divided_is_named():
    with pytest.raises(ValueError, match="a multiple of 6"):
        StepSampler(count=100, batch_size=16, steps=1, seed=0, accumulate=3, world=2)
    with pytest.raises(ValueError, match="cannot be drawn from 10"):
        StepSampler(count=10, batch_size=16, steps=1, seed=0)
    with pytest.raises(TrainingError, match="fewer than a batch of 16"):
        ImageData(SMALL.replace(train_size=10))


def test_test_splits_can_be_sampled_and_hold_no_more_than_the_sample():
    data = ImageData(SMALL.replace(test_size=20, data="saturation_shift_shapes3d", test_splits=["test_a", "test_b"]))
    assert [len(images) for images in data.tests.values()] == [20, 20]
    assert [len(images.source) for images in (data.train, *data.tests.values())] == [96, 20, 20]
    whole = load("saturation_shift_shapes3d", split="test_b", in_memory=False).sample(20)
    assert torch.equal(data.tests["test_b"][:].images, whole[:].images)


@pytest.mark.parametrize("world", [1, 2, 3])
def test_processes_share_a_test_split_in_as_many_batches_each(world):
    shares = []
    for rank in range(world):
        data = ImageData(SMALL, rank, world)
        (loader,) = data.testing().values()
        shares.append(list(loader.batch_sampler))
    assert len({len(share) for share in shares}) == 1
    assert all(batch for share in shares for batch in share)
    assert sorted(i for share in shares for batch in share for i in batch) == list(range(len(data.tests["test_b"])))
