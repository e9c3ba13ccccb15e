"""Evaluation: counts that agree with torchmetrics, and curves that show the group."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torchmetrics.classification import MulticlassCalibrationError

import equicolor as ec
from equicolor.data import Held, load
from equicolor.trained import Evaluation, class_probabilities, default_shifts, evaluate, evaluate_curve
from without_float64 import DEVICE, WithoutFloat64


@pytest.fixture(scope="module")
def digits():
    return load("digits", split="test").sample(40)


class Sharp(nn.Module):
    """A network whose predictions are not all alike, as those of fresh weights are."""

    def __init__(self, group):
        super().__init__()
        self.network = ec.create_model("z2cnn", group)

    def forward(self, images):
        return 300 * self.network(images)


def test_confidence_and_confusion_agree_with_torchmetrics():
    probabilities, labels = (4 * torch.randn(500, 7)).softmax(1), torch.randint(7, (500,))
    evaluation = Evaluation.empty("abcdefg")
    for some in torch.arange(500).split(64):
        evaluation = evaluation.add(probabilities[some], labels[some])
    expected = MulticlassCalibrationError(7, n_bins=15, norm="l1")(probabilities, labels)
    assert evaluation.calibration_error == pytest.approx(expected.item(), abs=1e-5)
    assert evaluation.error == pytest.approx((probabilities.argmax(1) != labels).double().mean().item())
    assert evaluation.confusion[2, 3] == ((labels == 2) & (probabilities.argmax(1) == 3)).sum()
    assert evaluation.class_errors[4] == pytest.approx(
        (probabilities.argmax(1) != 4)[labels == 4].double().mean().item()
    )


def test_predictions_are_counted_from_a_device_without_float64():
    probabilities, labels = torch.randn(50, 7).softmax(1), torch.randint(7, (50,))
    expected = Evaluation.empty("abcdefg").add(probabilities, labels)
    with WithoutFloat64():
        counted = Evaluation.empty("abcdefg").add(probabilities.to(DEVICE), labels.to(DEVICE))
    assert torch.equal(counted.bins, expected.bins)
    assert torch.equal(counted.confusion, expected.confusion)


def test_a_sure_and_right_network_is_calibrated_and_a_sure_and_wrong_one_is_not():
    sure = torch.eye(3)[[0, 1, 2]]
    assert Evaluation.empty("abc").add(sure, torch.tensor([0, 1, 2])).calibration_error == 0
    assert Evaluation.empty("abc").add(sure, torch.tensor([1, 2, 0])).calibration_error == 1


def test_a_class_without_images_has_no_error_and_json_still_takes_it():
    evaluation = Evaluation.empty("abc").add(torch.eye(3)[[0]], torch.tensor([0]))
    assert evaluation.summary()["class_errors"] == {"a": 0.0, "b": None, "c": None}


def test_a_map_of_one_logit_is_foreground_against_background():
    probabilities = class_probabilities(torch.full((2, 1, 3, 4), 100.0))
    assert probabilities.shape == (24, 2)
    assert probabilities[:, 1].min() == 1


def test_an_evaluation_counts_what_the_network_itself_predicts(digits):
    model = ec.create_model("z2cnn", "hue4").eval()
    seen = []
    evaluation = evaluate(model, digits, batch_size=16, advance=seen.append)
    with torch.no_grad():
        wrong = model(digits[:].images).argmax(1) != digits.labels
    assert evaluation.error == pytest.approx(wrong.double().mean().item())
    assert seen == [16, 16, 8]
    assert evaluation.count == 40


def test_the_curve_of_a_hue_network_repeats_with_its_group(digits):
    curve = evaluate_curve(Sharp("hue4"), digits.sample(20), "hue", [0, 45, 90, 180, 360])
    means = {shift: float(result.bins[1].sum()) for shift, result in curve.items()}
    assert means[0] == pytest.approx(means[90], rel=1e-3) == pytest.approx(means[180], rel=1e-3)
    assert means[0] == pytest.approx(means[360], rel=1e-3)
    assert means[0] != pytest.approx(means[45], rel=1e-2)


def test_a_curve_starts_from_the_shift_that_the_set_is_under():
    model = Sharp(None)
    images = load("digits", split="test", shift="hue:30").sample(20)
    turned = evaluate_curve(model, images, "hue", [50.0])[50.0]
    directly = evaluate(model, images.with_shift("hue:80"))
    assert torch.allclose(turned.bins, directly.bins, atol=1e-2)
    assert not torch.allclose(turned.bins, evaluate(model, images).bins, atol=1e-2)


def test_a_curve_shifts_by_the_action_asked_for():
    model, images = Sharp(None), load("digits", split="test").sample(20)
    found = {}
    for action in ("clamp", "exact"):
        found[action] = evaluate_curve(model, images, "lum", [-0.3], action=action)[-0.3].bins
        assert torch.equal(found[action], evaluate(model, images.with_shift(f"lum:-0.3:{action}")).bins)
    assert not torch.equal(found["clamp"], found["exact"])


def test_default_shifts_span_the_circle_and_both_sides():
    assert default_shifts("hue")[0] == 0
    assert default_shifts("hue")[-1] == 360
    assert default_shifts("temp")[::10] == [-1, 0, 1]
    assert default_shifts("sat") == pytest.approx([-0.5 + 0.05 * step for step in range(21)])
    with pytest.raises(ValueError, match="unknown colour move 'red'"):
        default_shifts("red")
    with pytest.raises(ValueError, match=r"unknown shift 'gain:0'.*direction"):
        default_shifts("gain")


def test_a_curve_over_light_moves_the_light(digits):
    images, model = load("digits", split="test", shift="hue:30").sample(20), Sharp("temp3")
    curve = evaluate_curve(model, images, "temp", [0.0, 0.5])
    warm = evaluate(model, load("digits", split="test", shift="hue:30,temp:0.5").sample(20))
    assert torch.equal(curve[0.5].bins, warm.bins)
    assert not torch.equal(curve[0.0].bins, warm.bins)


def test_a_network_for_other_classes_is_refused(digits):
    with pytest.raises(ValueError, match="4 classes apart, digits has 10"):
        evaluate(ec.create_model("z2cnn", None, num_classes=4), digits)
    with pytest.raises(ValueError, match="segmenter cannot be evaluated"):
        evaluate(ec.create_model("segmenter"), digits)


def test_one_logit_is_evaluated_on_two_classes_as_that_of_the_second(digits):
    two = replace(digits.subset((digits.labels < 2).nonzero().flatten()), classes=("zero", "one"))
    model = ec.create_model("z2cnn", None, num_classes=1).eval()
    evaluation = evaluate(model, two)
    with torch.no_grad():
        predicted = (model(two[:].images)[:, 0] > 0).long()
    assert evaluation.confusion.tolist() == [
        [int(((two.labels == i) & (predicted == j)).sum()) for j in range(2)] for i in range(2)
    ]
    with pytest.raises(ValueError, match="2 classes apart, digits has 10"):
        evaluate(model, digits)


def test_predictions_of_other_classes_are_not_counted(digits):
    with pytest.raises(ValueError, match="predictions of 2 classes, expected 10"):
        evaluate(nn.Sequential(ec.create_model("z2cnn", None, num_classes=1)), digits)


def test_a_segmentation_is_evaluated_pixel_by_pixel(digits):
    digits = digits.sample(3).in_memory()
    ink = (digits.source.images > 127).byte()
    images = replace(digits, task="segmentation", masks=Held(ink))
    model = ec.create_model("segmenter", "hue3", width=4).eval()
    evaluation = evaluate(model, images)
    with torch.no_grad():
        predicted = model(digits[:].images)[:, 0] > 0
    assert evaluation.classes == ("background", "foreground")
    assert evaluation.count == 3 * 28 * 28
    assert evaluation.confusion[1, 1] == (predicted & ink[:, 0].bool()).sum()


# ---------------------------------------------------------------------------------------------- classes by name


@pytest.fixture
def known(tmp_path):
    """A network read from a file, which says what its classes are called."""
    model = ec.create_model("z2cnn", "hue4")
    model(load("digits", split="train")[:64].images)  # norms that have seen images
    return ec.from_pretrained(ec.save_pretrained(model, tmp_path, classes=tuple("0123456789")))


def test_classes_in_another_order_give_the_same_numbers(known, digits):
    order = torch.randperm(10)
    other = replace(
        digits, labels=order.argsort()[digits.labels], classes=tuple(digits.classes[place] for place in order)
    )
    assert not torch.equal(other.labels, digits.labels)
    one, two = evaluate(known, digits), evaluate(known, other)
    assert torch.equal(one.confusion, two.confusion)
    assert one.classes == two.classes == known.card.classes


def test_a_set_of_fewer_classes_is_evaluated_on_those(known, digits):
    some = digits.subset((digits.labels == 3) | (digits.labels == 7))
    fewer = replace(some, labels=(some.labels == 3).long(), classes=("7", "3"))
    assert torch.equal(evaluate(known, fewer).confusion, evaluate(known, some).confusion)
    assert evaluate(known, fewer).confusion[[3, 7]].sum() == len(some)


def test_classes_that_the_network_does_not_know_are_refused_by_name(known, digits):
    renamed = replace(digits, classes=("zero", *digits.classes[1:]))
    with pytest.raises(ValueError, match=r"has images of 'zero'"):
        evaluate(known, renamed)


def test_one_name_stands_against_all_others(tmp_path, digits):
    model = ec.create_model("z2cnn", None, num_classes=1).eval()
    loaded = ec.from_pretrained(ec.save_pretrained(model, tmp_path, ["3"]))
    found = evaluate(loaded, digits)
    assert found.classes == ("not 3", "3")
    assert found.confusion[1].sum() == (digits.labels == 3).sum()
    with pytest.raises(ValueError, match="tells '3' from the rest"):
        evaluate(loaded, replace(digits, classes=tuple("abcdefghij")))


def test_images_are_prepared_as_the_network_says(known, digits):
    colourful = load("digits", split="test", shift="hue:uniform").sample(40)
    known.preparation = ec.models.Preparation(28, grey=True)
    grey = evaluate(known, colourful)
    known.preparation = None
    with torch.no_grad():
        expected = known(ec.models.grey(colourful[:].images)).softmax(1)
    assert float(grey.bins[1].sum()) == pytest.approx(expected.amax(1).double().sum().item(), abs=1e-4)
    assert float(evaluate(known, colourful).bins[1].sum()) != pytest.approx(float(grey.bins[1].sum()), abs=1e-4)
