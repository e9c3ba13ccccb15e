"""Metrics: those of torchmetrics, of whole sets and of resamples alike, and nothing where there is nothing."""

import math

import pytest
import torch
import torchmetrics.functional.classification as F
from hypothesis import given, settings
from hypothesis import strategies as st

from equicolor.metrics import METRICS, Pixels, Predictions, chosen_metrics, pair_auc, score


def made(count=400, classes=5, seed=0, sharp=2.0):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(classes, (count,), generator=generator)
    logits = sharp * torch.randn(count, classes, generator=generator)
    return Predictions((logits + 2 * torch.nn.functional.one_hot(labels, classes)).softmax(1), labels)


def test_metrics_of_many_classes_are_those_of_torchmetrics():
    said = made()
    p, y, values = said.probabilities, said.labels, said.values()
    expected = {
        "error": 1 - F.multiclass_accuracy(p, y, 5, average="micro"),
        "balanced_accuracy": F.multiclass_accuracy(p, y, 5, average="macro"),
        "auc": F.multiclass_auroc(p, y, 5),
        "f1": F.multiclass_f1_score(p, y, 5),
        "sensitivity": F.multiclass_recall(p, y, 5),
        "specificity": F.multiclass_specificity(p, y, 5),
        "ece": F.multiclass_calibration_error(p, y, 5, n_bins=15),
    }
    for name, value in expected.items():
        assert float(values.overall[name]) == pytest.approx(float(value), abs=1e-6), name
    each = {"f1": F.multiclass_f1_score, "sensitivity": F.multiclass_recall, "specificity": F.multiclass_specificity}
    for name, function in {**each, "auc": F.multiclass_auroc}.items():
        assert values.classes[name].tolist() == pytest.approx(function(p, y, 5, average="none").tolist(), abs=1e-6)
    assert torch.equal(said.confusion, F.multiclass_confusion_matrix(p, y, 5))


@pytest.mark.parametrize("positive", [0, 1])
def test_metrics_of_two_classes_are_those_of_the_positive_one(positive):
    said = made(classes=2)
    p, y, values = said.probabilities[:, positive], (said.labels == positive).long(), said.values(positive).overall
    assert float(values["auc"]) == pytest.approx(float(F.binary_auroc(p, y)), abs=1e-6)
    assert float(values["f1"]) == pytest.approx(float(F.binary_f1_score(p, y)), abs=1e-6)
    assert float(values["sensitivity"]) == pytest.approx(float(F.binary_recall(p, y)), abs=1e-6)
    assert float(values["specificity"]) == pytest.approx(float(F.binary_specificity(p, y)), abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 4), st.integers(5, 40), st.integers(0, 999), st.sampled_from([0.5, 2.0, 60.0]))
def test_a_resample_has_the_metrics_of_its_images(classes, count, seed, sharp):
    said = made(count, classes, seed, sharp)  # those of 60 are sure to the last bit: ties, and confidences of 1
    rows = torch.randint(count, (3, count), generator=torch.Generator().manual_seed(seed))
    weights = torch.stack([each.bincount(minlength=count) for each in rows]).float()
    found = said.resampled(weights)
    for number, each in enumerate(rows):
        expected = said[each].values()
        for one, other in zip(found, expected, strict=True):
            for name, value in other.items():
                assert torch.allclose(one[name][number], value.double(), atol=1e-5, equal_nan=True), name


def test_pixels_have_the_metrics_of_all_of_them_together():
    said = made(600, 2)
    images = Pixels.of(said.probabilities.view(6, 100, 2), said.labels.view(6, 100))
    images = Pixels.joined([images[torch.arange(2)], images[torch.arange(2, 6)]])
    together, found = said.values(1).overall, images.values(1).overall
    for name in together.keys() - {"auc"}:
        assert float(found[name]) == pytest.approx(float(together[name]), abs=1e-6), name
    jaccard = F.binary_jaccard_index(said.probabilities.argmax(1), said.labels)
    assert float(found["iou"]) == pytest.approx(float(jaccard), abs=1e-6)
    assert torch.equal(images.confusion, said.confusion)
    half = Pixels.of(said.probabilities.view(6, 100, 2)[:3], said.labels.view(6, 100)[:3]).values(1).overall
    some = images.resampled(torch.tensor([[2.0, 2, 2, 0, 0, 0]]), 1).overall
    assert float(some["ece"]) == pytest.approx(float(half["ece"]), abs=1e-9)


def test_intervals_hold_the_value_and_narrow_with_more_images():
    few, many = score(made(100)), score(made(6400))
    for name, each in few.overall.items():
        assert 0 <= each.low <= each.high <= 1, name
        narrower = many.overall[name].high - many.overall[name].low
        assert narrower < (each.high - each.low) / 3, name
        if name != "ece":  # which noise can only raise
            assert each.low <= each.value <= each.high, name


def test_the_interval_of_an_error_is_that_of_a_binomial():
    said = made(2000, 2)
    error = score(said).overall["error"]
    deviation = math.sqrt(error.value * (1 - error.value) / 2000)
    assert error.low == pytest.approx(error.value - 1.96 * deviation, abs=0.3 * deviation)
    assert error.high == pytest.approx(error.value + 1.96 * deviation, abs=0.3 * deviation)


def test_intervals_are_the_same_every_time_and_others_by_another_seed():
    said = made()
    assert score(said) == score(said)
    assert score(said, seed=1).overall["auc"].low != score(said).overall["auc"].low
    assert score(said, seed=1).overall["auc"].value == score(said).overall["auc"].value


def test_clusters_of_equal_images_widen_the_interval():
    said = made(50, 2)
    copies = torch.arange(50).repeat_interleave(20)
    apart, together = score(said[copies]), score(said[copies], clusters=copies)
    alone = score(said).overall["error"]
    assert together.overall["error"] == alone
    wide, narrow = (each.overall["error"].high - each.overall["error"].low for each in (together, apart))
    assert wide > 3 * narrow


def test_one_image_or_one_cluster_has_no_interval():
    assert score(made(1)).overall["error"].low is None
    assert score(made(20), clusters=torch.zeros(20)).overall["error"].low is None
    assert score(made(20), resamples=0).overall["error"].low is None


def test_what_is_not_there_has_no_value():
    said = made(60, 3)
    found = score(said[(said.labels < 2).nonzero().flatten()])
    assert all(each.value is None and each.low is None for each in found.classes[2].values())
    assert found.overall["auc"].value == pytest.approx(
        (found.classes[0]["auc"].value + found.classes[1]["auc"].value) / 2
    )
    alone = score(said[(said.labels == 1).nonzero().flatten()], positive=1)
    assert alone.overall["auc"].value is None
    assert alone.overall["specificity"].value is None
    assert alone.overall["sensitivity"].value is not None
    assert str(alone.overall["auc"]) == "–"


def test_an_area_of_one_kind_alone_is_no_area():
    assert math.isnan(pair_auc(torch.tensor([0.1, 0.9]), torch.tensor([1, 1])))
    assert math.isnan(pair_auc(torch.tensor([0.1, 0.9]), torch.tensor([0, 0])))


def test_a_set_of_very_many_classes_keeps_its_values_and_the_intervals_that_are_quick(monkeypatch):
    monkeypatch.setattr("equicolor.metrics._predictions._MOST", 100)
    found = score(made())
    assert found.overall["auc"].value is not None
    assert found.overall["auc"].low is None
    assert found.overall["f1"].low is not None
    assert found.overall["ece"].low is not None


def test_metrics_are_chosen_by_name():
    assert chosen_metrics(["error,AUC", "balanced accuracy", "error"]) == ("error", "auc", "balanced_accuracy")
    assert chosen_metrics([]) == tuple(METRICS)
    with pytest.raises(ValueError, match=r"unknown metric 'acu': did you mean 'auc'\? There are error, balanced_error"):
        chosen_metrics(["acu"])
    with pytest.raises(ValueError, match=r"unknown metric 'zzz': there are error"):
        chosen_metrics(["zzz"])
