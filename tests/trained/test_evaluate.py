"""Evaluation: what a network says of a set, domains and clusters of it, and curves that show the group."""

import json
import math
from dataclasses import replace

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.data import Column, Held, load
from equicolor.trained import class_probabilities, default_shifts, evaluate, evaluate_curve
from original_formats import write_image
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


def confidence(evaluation):
    """The sum of the confidences, which tells predictions apart that call the same classes."""
    return float(evaluation.predictions.probabilities.amax(1).double().sum())


def test_predictions_are_counted_from_a_device_without_float64():
    logits = torch.randn(50, 7)
    with WithoutFloat64():
        counted = class_probabilities(logits.to(DEVICE)).float().cpu()
    assert torch.equal(counted, class_probabilities(logits))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_logits_that_are_not_finite_are_an_error(bad, digits):
    with pytest.raises(ValueError, match="finite logits: 1 of 3 predictions are NaN or infinite"):
        class_probabilities(torch.tensor([[0.0, 1.0], [bad, 0.0], [2.0, 3.0]]))
    model = ec.create_model("z2cnn", None)
    torch.nn.init.constant_(next(model.parameters()), bad)
    with pytest.raises(ValueError, match="finite logits"):
        evaluate(model.eval(), digits)


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
    means = {shift: confidence(result) for shift, result in curve.items()}
    assert means[0] == pytest.approx(means[90], rel=1e-3) == pytest.approx(means[180], rel=1e-3)
    assert means[0] == pytest.approx(means[360], rel=1e-3)
    assert means[0] != pytest.approx(means[45], rel=1e-2)


def test_a_curve_starts_from_the_shift_that_the_set_is_under():
    model = Sharp(None)
    images = load("digits", split="test", shift="hue:30").sample(20)
    turned = evaluate_curve(model, images, "hue", [50.0])[50.0]
    directly = evaluate(model, images.with_shift("hue:80"))
    assert confidence(turned) == pytest.approx(confidence(directly), abs=1e-2)
    assert confidence(turned) != pytest.approx(confidence(evaluate(model, images)), abs=1e-2)


def test_a_curve_shifts_by_the_action_asked_for():
    model, images = Sharp(None), load("digits", split="test").sample(20)
    found = {}
    for action in ("clamp", "exact"):
        found[action] = evaluate_curve(model, images, "lum", [-0.3], action=action)[-0.3].predictions.probabilities
        directly = evaluate(model, images.with_shift(f"lum:-0.3:{action}"))
        assert torch.equal(found[action], directly.predictions.probabilities)
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
    assert torch.equal(curve[0.5].predictions.probabilities, warm.predictions.probabilities)
    assert not torch.equal(curve[0.0].predictions.probabilities, warm.predictions.probabilities)


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
    assert evaluation.positive == "foreground"
    both, either = (predicted & ink[:, 0].bool()).sum(), (predicted | ink[:, 0].bool()).sum()
    assert evaluation.metrics["iou"].value == pytest.approx((both / either).item())
    assert "auc" not in evaluation.metrics


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
    known.preparation = ec.models.Preparation(28, gray=True)
    grey = evaluate(known, colourful)
    known.preparation = None
    with torch.no_grad():
        expected = known(ec.models.gray(colourful[:].images)).softmax(1)
    assert confidence(grey) == pytest.approx(expected.amax(1).double().sum().item(), abs=1e-4)
    assert confidence(evaluate(known, colourful)) != pytest.approx(confidence(grey), abs=1e-4)


# ---------------------------------------------------------------------------------------------- domains and clusters


def test_each_domain_has_the_metrics_of_its_own_images(digits):
    labs = Column.of([("pink", "blue", "blue")[number % 3] for number in range(40)])
    images = replace(digits, domains=labs)
    model = ec.create_model("z2cnn", "hue4").eval()
    found = evaluate(model, images)
    assert list(found.by_domain) == ["blue", "pink"]
    for name, part in found.by_domain.items():
        own = [number for number, lab in enumerate(labs.values) if lab == name]
        directly = evaluate(model, digits.subset(own))
        assert part.metrics == directly.metrics
        assert part.names == directly.names
    assert found.summary()["domains"]["pink"]["images"] == 14


def test_a_set_of_one_domain_says_so_and_one_of_none_says_nothing(digits):
    model = ec.create_model("z2cnn", None).eval()
    one = evaluate(model, replace(digits, domains=Column(("a", "b"), torch.zeros(40, dtype=torch.long))))
    assert list(one.by_domain) == ["a"]
    assert one.by_domain["a"].metrics is one.metrics
    assert evaluate(model, digits).by_domain == {}


def test_images_that_belong_together_are_drawn_together(digits):
    model = ec.create_model("z2cnn", None).eval()
    images = replace(digits, clusters=Column.of([f"slide {number // 20}" for number in range(40)]))
    apart, together = evaluate(model, digits), evaluate(model, images)
    halves = sorted(evaluate(model, digits.subset(range(start, start + 20))).error for start in (0, 20))
    assert [together.metrics["error"].low, together.metrics["error"].high] == pytest.approx(halves)
    assert together.error == apart.error
    assert (together.summary()["intervals"]["drawn"], apart.summary()["intervals"]["drawn"]) == ("clusters", "images")


def test_images_that_cannot_be_read_leave_domains_and_names_in_their_places(tmp_path):
    for number in range(6):
        write_image(tmp_path / "ab"[number % 2] / f"{number}.png", (32, 32), (40 * number, 9, 9))
    (tmp_path / "a" / "2.png").write_bytes(b"no image")
    images = load("folder", tmp_path, "all", image_size=32, on_error="skip", in_memory=False)
    images = replace(images, domains=Column.of(["x", "x", "y", "y", "x", "y"]))
    found = evaluate(ec.create_model("z2cnn", None, num_classes=2).eval(), images, batch_size=2)
    assert found.domains.values == ["x", "y", "y", "x", "y"]
    assert [name.removeprefix(f"{tmp_path}/") for name in found.names] == [
        "a/0.png",
        "a/4.png",
        "b/1.png",
        "b/3.png",
        "b/5.png",
    ]


def test_the_second_of_two_classes_is_positive_unless_told_otherwise(digits):
    two = replace(digits.subset(digits.labels < 2), classes=("zero", "one"))
    model = ec.create_model("z2cnn", None, num_classes=2).eval()
    usual, other = evaluate(model, two), evaluate(model, two, positive="zero")
    assert (usual.positive, other.positive) == ("one", "zero")
    assert usual.metrics["sensitivity"].value == other.metrics["specificity"].value
    assert evaluate(ec.create_model("z2cnn", None).eval(), digits).positive is None
    with pytest.raises(ValueError, match="no class 'two' to be the positive one: expected one of zero, one"):
        evaluate(model, two, positive="two")


def test_a_summary_is_plain_json_without_nan(digits):
    some = digits.subset((digits.labels == 3) | (digits.labels == 7))
    found = evaluate(ec.create_model("z2cnn", "hue4").eval(), some).summary()
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again == found
    assert again["class_errors"]["5"] is None
    assert again["per_class"]["5"]["auc"] == {"value": None, "low": None, "high": None}
    assert again["metrics"]["error"]["value"] == found["error"]
