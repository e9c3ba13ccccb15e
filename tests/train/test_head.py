"""Training of the classifier alone: the rest stays as it is, is asked once, and a run resumes exactly."""

import pytest
import torch

from convert_networks import torchvision_models
from equicolor.train import Learner, Recipe, fit, resume
from equicolor.train._learner import new_model
from runs import SMALL, assert_identical, fail, rows, stop_at, weights

HEAD = SMALL.replace(
    model="resnet18", model_options={"width": 4}, train_only="head", augment="gray", train_size=48, epochs=4
)
TINY = "timm:test_resnet"


def is_heads(name):
    return name.startswith("head.classifier.")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    torch.set_num_threads(1)
    return fit(HEAD, tmp_path_factory.mktemp("head") / "run", quiet=True)


def test_the_head_alone_learns(run):
    from equicolor.data import load

    begun = new_model(HEAD, load(HEAD.data, split="train")).state_dict()
    trained = weights(run.folder)
    assert any(not torch.equal(begun[name], trained[name]) for name in trained if is_heads(name))
    rest = [name for name in trained if not is_heads(name)]
    assert any("running_mean" in name for name in rest)
    assert_identical({name: begun[name] for name in rest}, {name: trained[name] for name in rest})


@pytest.mark.parametrize("augment", ["gray", "flip"], ids=["remembered", "drawn anew"])
def test_a_run_of_the_head_that_was_stopped_ends_with_the_same_weights(augment, run, tmp_path, monkeypatch):
    recipe = HEAD.replace(augment=augment)
    whole = run if augment == "gray" else fit(recipe, tmp_path / "whole", quiet=True)
    with monkeypatch.context() as patch:
        stop_at(patch, 5, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(recipe, tmp_path / "run", quiet=True)
    again = resume(tmp_path / "run", quiet=True)
    assert_identical(weights(again.folder), weights(whole.folder))
    assert rows(again.folder) == rows(whole.folder)


def test_what_is_remembered_is_what_would_be_computed_anew(run, tmp_path, monkeypatch):
    asked = []
    logits = Learner._logits
    monkeypatch.setattr(Learner, "_logits", lambda self, images: asked.append(0) or logits(self, images))
    fit(HEAD, tmp_path / "remembered", quiet=True)
    tested = len(asked)
    monkeypatch.setattr(Learner, "remembers", False)
    anew = fit(HEAD, tmp_path / "anew", quiet=True)
    assert len(asked) - tested == tested + anew.summary["steps"]  # in every step, and not in testing alone
    for name, value in weights(anew.folder).items():
        torch.testing.assert_close(weights(run.folder)[name], value, atol=1e-4, rtol=1e-3)


def test_weights_alone_learn_and_the_statistics_of_norms_stay(tmp_path):
    recipe = HEAD.replace(epochs=None, iterations=2)
    still, learnt, usual = (
        weights(fit(recipe.replace(train_only=only, lr=lr), tmp_path / name, quiet=True).folder)
        for name, only, lr in (("still", "weights", 1e-30), ("learnt", "weights", 0.01), ("usual", None, 0.01))
    )
    statistics = {name for name in learnt if "running" in name or "num_batches" in name}
    assert statistics
    same = {name for name in learnt if torch.equal(learnt[name], still[name])}
    assert same == {*statistics, "lift.mean", "lift.std"}
    assert any(not torch.equal(usual[name], still[name]) for name in statistics)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "z2cnn", "model_options": {}}, "z2cnn ends in GroupPool"),
        ({"canonicalize": "hue4", "canonicalizer_training": "together"}, "canonicalizer_training='together'"),
        (
            {"train_only": "weights", "canonicalize": "hue4", "canonicalizer_training": "together"},
            "train_only: weights is for .* canonicalizer_training='together'",
        ),
        ({"train_only": "tail"}, "There are head, weights"),
    ],
)
def test_what_has_no_head_to_train_alone_is_refused(changes, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        fit(HEAD.replace(**changes), tmp_path / "run", quiet=True)


def test_a_network_begins_with_that_of_a_run_and_keeps_its_head(tmp_path):
    torchvision_models()
    fields = {"model": TINY, "group": None, "model_options": {"pretrained": False}, "iterations": 1, "train_size": 16}
    plain = fit(SMALL.replace(epochs=None, **fields), tmp_path / "plain", quiet=True)
    images = plain.recipe.replace(group="hue3", weights=str(plain.folder), model_options={"pretrained": None})
    converted = new_model(images, _train_set(images)).eval()
    batch = torch.rand(2, 3, 32, 32)
    turned = torch.stack([plain.model.features(each) for each in converted.group.lift(batch).chunk(3)])
    head = plain.model.get_classifier()
    torch.testing.assert_close(converted(batch), head(turned.amax(0)), atol=1e-5, rtol=1e-4)


def test_a_network_begins_with_no_group_network_of_a_run(run):
    torchvision_models()
    recipe = Recipe("digits", TINY, epochs=1, weights=str(run.folder))
    with pytest.raises(ValueError, match=r"is resnet18 with hue3: weights are those of a network of timm"):
        new_model(recipe, _train_set(recipe))


def _train_set(recipe):
    from equicolor.data import load

    return load(recipe.data, split="train")
