"""The Lightning modules, also in a Trainer of one's own."""

import lightning
import pytest
import torch

from equicolor.data import Batch
from equicolor.train import ImageData, Learner
from equicolor.train._learner import MeanLoss
from runs import SMALL
from without_float64 import DEVICE, WithoutFloat64


@pytest.fixture(scope="module")
def data():
    data = ImageData(SMALL)
    data.setup()
    return data


@pytest.mark.filterwarnings("ignore")
def test_the_modules_work_in_a_trainer(data, tmp_path):
    learner = Learner(SMALL, data.train, data.steps)
    before = {name: value.clone() for name, value in learner.model.state_dict().items()}
    trainer = lightning.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
        use_distributed_sampler=False,
    )
    trainer.fit(learner, data)
    assert trainer.global_step == data.steps == 12
    assert trainer.optimizers[0].param_groups[0]["lr"] == pytest.approx(SMALL.rate(12, 12), abs=1e-9)
    assert 0 <= trainer.callback_metrics["test_b error"] <= 1
    assert any(not torch.equal(value, before[name]) for name, value in learner.model.state_dict().items())


def test_the_weights_a_run_starts_with_follow_from_its_seed(data):
    one, same, other = (Learner(SMALL.replace(seed=seed), data.train, 1).model.state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(value, same[name]) for name, value in one.items())
    assert any(not torch.equal(value, other[name]) for name, value in one.items())


def test_an_option_that_an_optimiser_does_not_have_is_named(data):
    with pytest.raises(ValueError, match=r"optimizer_options do not fit adam.*momentum"):
        Learner(SMALL.replace(optimizer="adam"), data.train, 1).new_optimizer()


def test_the_mean_loss_weighs_batches_by_their_images_and_lets_nan_through():
    metric = MeanLoss()
    metric.update(torch.tensor(1.0), 3)
    metric.update(torch.tensor(5.0), 1)
    assert float(metric.compute()) == 2.0
    metric.update(torch.tensor(torch.nan), 1)
    assert metric.compute().isnan()


def _losses(count):
    return torch.rand(count, generator=torch.Generator().manual_seed(1)) * 3


def test_the_mean_loss_is_the_sum_in_float64_bit_for_bit():
    metric, total = MeanLoss(), 0.0
    for number, loss in enumerate(_losses(500)):
        metric.update(loss, number)
        total += float(loss * number)  # Python's numbers are float64
    assert float(metric.compute()) == total / sum(range(500))


def test_the_mean_loss_loses_nothing_on_a_device_without_float64():
    here = MeanLoss()
    with WithoutFloat64():
        there = MeanLoss().to(DEVICE)
        for reset in (False, True):
            for loss in _losses(500):
                here.update(loss, 7)
                there.update(loss.to(DEVICE), 7)
            assert there.total.dtype == torch.float32
            assert float(there.compute()) == pytest.approx(float(here.compute()), rel=1e-12)
            if reset:
                here.reset()
                there.reset()
        there.update(torch.tensor(torch.nan).to(DEVICE), 1)
        assert there.compute().isnan()


def test_training_needs_no_float64_on_the_device(data):
    batch, recipe = data.train[:16], SMALL.replace(channels_last=False)
    here = Learner(recipe, data.train, data.steps)
    with WithoutFloat64():
        there = Learner(recipe, data.train, data.steps).to(DEVICE)
        for number in range(2):
            loss = there.training_step(Batch(*(part.to(DEVICE) for part in batch)), number)
            loss.backward()
            here.training_step(batch, number).backward()
            there.validation_step(Batch(*(part.to(DEVICE) for part in batch)), number)
            here.validation_step(batch, number)
        assert loss.device.type == DEVICE
        for place in ("in training", "on test_b"):
            assert there.take(place) == pytest.approx(here.take(place), rel=1e-3)
