"""A network in training: its loss, what is counted, its optimiser; also in a loop of one's own."""

import pytest
import torch

from equicolor.data import Batch
from equicolor.train import ImageData, Learner
from equicolor.train._learner import BalancedAccuracy, MeanLoss, PairAUC, new_optimizer
from runs import SMALL
from without_float64 import DEVICE, WithoutFloat64


@pytest.fixture(scope="module")
def data():
    return ImageData(SMALL)


def test_the_learner_works_in_a_loop_of_ones_own(data):
    learner = Learner(SMALL, data.train)
    optimizer = new_optimizer(SMALL, learner.model)
    losses = []
    for step, batch in enumerate(data.training()):
        loss = learner.training_step(batch, step)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    assert len(losses) == data.steps == 12
    assert learner.take("in training")["loss"] == pytest.approx(sum(losses) / 12)
    assert sum(losses[-3:]) < sum(losses[:3])
    with torch.no_grad():
        for number, batch in enumerate(data.testing()["test_b"]):
            learner.test_step(batch, number, "test_b")
    assert 0 < learner.take("on test_b")["error"] < 1


def test_the_weights_a_run_starts_with_follow_from_its_seed(data):
    one, same, other = (Learner(SMALL.replace(seed=seed), data.train).model.state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(value, same[name]) for name, value in one.items())
    assert any(not torch.equal(value, other[name]) for name, value in one.items())


def test_an_option_that_an_optimiser_does_not_have_is_named():
    with pytest.raises(ValueError, match="unknown option 'momentum' in optimizer_options"):
        SMALL.replace(optimizer="adam", optimizer_options={"momentum": 0.9})


def test_another_optimiser_does_not_take_over_the_options_of_the_one_before(data):
    recipe = SMALL.replace(optimizer="sgd", optimizer_options={"momentum": 0.9}).replace(optimizer="adam")
    assert recipe.optimizer_options == {}
    assert isinstance(new_optimizer(recipe, Learner(SMALL, data.train).model), torch.optim.Adam)


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
    here = Learner(recipe, data.train)
    with WithoutFloat64():
        there = Learner(recipe, data.train).to(DEVICE)
        for number in range(2):
            loss = there.training_step(Batch(*(part.to(DEVICE) for part in batch)), number)
            loss.backward()
            here.training_step(batch, number).backward()
            there.test_step(Batch(*(part.to(DEVICE) for part in batch)), number, "test_b")
            here.test_step(batch, number, "test_b")
        assert loss.device.type == DEVICE
        for place in ("in training", "on test_b"):
            assert there.take(place) == pytest.approx(here.take(place), rel=1e-3)


def test_balanced_accuracy_is_the_mean_over_the_classes_that_are_there():
    metric = BalancedAccuracy(3)
    logits = torch.eye(3)[torch.tensor([0, 0, 0, 1, 1, 2])]
    metric.update(logits[:3], torch.tensor([0, 0, 1]))
    metric.update(logits[3:], torch.tensor([0, 0, 1]))  # class 2 is predicted and never there
    assert float(metric.compute()) == pytest.approx((2 / 4 + 0 / 2) / 2)
    metric.reset()
    metric.update(logits, torch.tensor([0, 0, 0, 1, 1, 2]))
    assert float(metric.compute()) == 1


def test_the_auc_of_two_classes_is_how_often_the_second_scores_higher():
    torch.manual_seed(0)
    logits, targets = torch.randint(-3, 4, (40, 2)).float(), torch.randint(2, (40,))
    metric = PairAUC()
    metric.update(logits[:15], targets[:15])
    metric.update(logits[15:], targets[15:])
    scores = logits[:, 1] - logits[:, 0]
    pairs = scores[targets == 1][:, None] - scores[targets == 0]
    higher = (pairs > 0).double() + 0.5 * (pairs == 0)
    torch.testing.assert_close(metric.compute().double(), higher.mean(), atol=1e-6, rtol=0)


def test_one_class_alone_has_no_auc():
    metric = PairAUC()
    metric.update(torch.randn(5, 2), torch.ones(5, dtype=torch.long))
    assert metric.compute().isnan()
