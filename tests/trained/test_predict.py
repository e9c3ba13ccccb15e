"""Prediction: what names stand for, what cannot be read, what the network says."""

import numpy as np
import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor.data import load
from equicolor.trained import file_batches, find_images, open_model, predict, set_batches


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("b.png", "a.JPG", "deep/c.png", "deep/er/d.png"):
        pixels = np.random.default_rng(0).integers(0, 256, (40, 32, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / name, format="PNG")
    (tmp_path / "notes.txt").write_text("no image")
    (tmp_path / "broken.png").write_bytes((tmp_path / "b.png").read_bytes()[:60])
    return tmp_path


def test_folders_globs_and_files_are_found_once_each(folder):
    bad = []
    names = [str(folder / "b.png"), str(folder), str(folder / "deep" / "**" / "*.png"), str(folder / "notes.txt")]
    found = find_images(names, lambda *problem: bad.append(problem))
    found = [path.relative_to(folder).as_posix() for path in found]
    assert found == ["b.png", "a.JPG", "broken.png", "deep/c.png", "deep/er/d.png", "notes.txt"]
    assert bad == []


def test_names_that_stand_for_nothing_are_reported_each_with_its_reason(tmp_path):
    (tmp_path / "empty").mkdir()
    bad = {}
    assert find_images([str(tmp_path / name) for name in ("empty", "x.png", "*.gif")], bad.__setitem__) == []
    assert list(bad.values()) == ["the folder holds no images", "there is no such file or folder", "no file matches"]


def test_a_file_that_is_named_like_a_glob_is_taken_by_its_name(folder):
    path = folder / "b[1].png"
    (folder / "b.png").rename(path)
    assert find_images([str(path)], pytest.fail) == [path]


def test_broken_files_are_reported_and_the_rest_are_predicted(folder):
    model = ec.create_model("z2cnn", "hue4").eval()
    bad = {}
    paths = find_images([str(folder)], bad.__setitem__)
    found = list(predict(model, file_batches(paths, 28, 2, bad.__setitem__), list("abcdefghij")))
    assert [prediction.path for prediction in found] == [str(path) for path in paths if path.name != "broken.png"]
    assert list(bad) == [str(folder / "broken.png")]
    assert "cannot be read as an image" in bad[str(folder / "broken.png")]


def test_a_prediction_is_the_likeliest_class_with_its_probability():
    model = ec.create_model("z2cnn", "hue4").eval()
    images = load("digits", split="test").sample(5)
    found = list(predict(model, set_batches(images, 2), images.classes))
    with torch.no_grad():
        expected = model(images[:].images).softmax(1)
    assert [p.label for p in found] == [images.classes[i] for i in expected.argmax(1)]
    assert [p.probability for p in found] == pytest.approx(expected.amax(1).tolist(), abs=1e-4)
    assert found[0].path == f"digits/test/{images.original_rows[0]}"


def test_a_network_that_gives_maps_cannot_predict():
    with pytest.raises(ValueError, match="takes a classifier"):
        list(predict(ec.create_model("segmenter").eval(), [(["x"], torch.rand(1, 3, 32, 32))], ["a"]))


@pytest.mark.parametrize("classes", [["x"], ["not x", "x"]])
def test_one_logit_tells_two_classes_apart_and_speaks_for_the_second(classes):
    class Logit(torch.nn.Linear):
        def forward(self, images):
            return images[:, :1, 0, 0]

    images = torch.tensor([2.0, -1.0]).view(2, 1, 1, 1).expand(2, 3, 4, 4)
    found = list(predict(Logit(1, 1), [(["a", "b"], images)], classes))
    assert [p.label for p in found] == ["x", "not x"]
    assert [p.probability for p in found] == pytest.approx([0.880797, 0.731059], abs=1e-5)


@pytest.mark.parametrize(("names", "label"), [(None, "1"), (["x"], "x"), (["y", "x"], "x")])
def test_a_saved_classifier_of_one_logit_predicts(names, label, tmp_path):
    model = ec.create_model("z2cnn", None, num_classes=1)
    torch.nn.init.constant_(model.layers[-1].bias, 5.0)
    opened = open_model(ec.save_pretrained(model, tmp_path, names), "cpu")
    (found,) = predict(opened.model, [(["a"], torch.rand(1, 3, 28, 28))], opened.classes)
    assert found.label == label


def test_names_that_are_not_those_of_the_classes_are_refused():
    model = ec.create_model("z2cnn", None, num_classes=3).eval()
    with pytest.raises(ValueError, match="2 names for the 3 classes"):
        list(predict(model, [(["a"], torch.rand(1, 3, 28, 28))], ["a", "b"]))
