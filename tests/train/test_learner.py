"""The Lightning modules, also in a Trainer of one's own."""

import lightning
import pytest
import torch

from equicolor.train import ImageData, Learner
from equicolor.train._learner import MeanLoss
from runs import SMALL


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
