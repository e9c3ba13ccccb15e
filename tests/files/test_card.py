"""The card: it says how images are prepared, old ones stay readable, and wrong ones are refused by the field."""

import copy
import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import equicolor as ec
from equicolor.files import CARD, README, Card, card_of, read_card, readme
from equicolor.files._readme import is_ours
from equicolor.models import Preparation

OLD = Path(__file__).parent / "cards"


@pytest.fixture
def model():
    model = ec.create_model("z2cnn", "hue3", num_classes=2, width=4)
    model.preparation = Preparation(28, resize=32, crop=32, gray=True)
    return model


ABOUT = {
    "data": {"name": "cells", "split": "train", "images": 12, "fingerprint": "ab"},
    "recipe": {"data": "cells", "model": "z2cnn", "lr": 0.1},
    "metrics": {"test": {"error": 0.25, "loss": 1.5}},
    "license": "mit",
}


def test_everything_that_is_said_of_a_network_comes_back_with_it(model, tmp_path):
    ec.save_pretrained(model, tmp_path, ["healthy", "sick"], **ABOUT)
    loaded = ec.from_pretrained(tmp_path)
    assert loaded.preparation == model.preparation
    card = loaded.card
    assert card == read_card(tmp_path)
    assert card.classes == ("healthy", "sick")
    assert {name: getattr(card, name) for name in ABOUT} == ABOUT
    assert (card.image_size, card.resize, card.crop, card.fit, card.gray) == (28, 32, 32, "crop", True)
    assert Card.from_json(card.to_json()) == card
    image = torch.rand(3, 50, 40)
    assert torch.equal(loaded.preprocess(image), model.preprocess(image))


def test_a_network_that_is_saved_again_keeps_its_card_while_its_weights_are_those(model, tmp_path):
    ec.save_pretrained(model, tmp_path / "first", ["healthy", "sick"], **ABOUT)
    loaded = ec.from_pretrained(tmp_path / "first")
    assert read_card(ec.save_pretrained(loaded, tmp_path / "second")) == loaded.card
    changed = copy.deepcopy(loaded)
    torch.nn.init.zeros_(next(changed.parameters()))
    card = card_of(changed)
    assert (card.metrics, card.data, card.recipe) == ({}, None, None)  # they were those of other weights
    assert (card.classes, card.license, card.preparation) == (("healthy", "sick"), "mit", model.preparation)


def test_networks_of_other_makes_are_told_how_to_prepare_images_too(tmp_path):
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    ec.save_pretrained(network, tmp_path, ["a", "b"], preparation=Preparation(16, gray=True))
    loaded = ec.from_pretrained(tmp_path, model=copy.deepcopy(network))
    assert loaded.card.classes == ("a", "b")
    assert loaded.preprocess(torch.rand(3, 20, 30)).shape == (1, 3, 16, 16)


# ---------------------------------------------------------------------------------------------- old cards


@pytest.mark.parametrize("path", sorted(OLD.glob("*.json")), ids=lambda path: path.stem)
def test_cards_of_every_earlier_format_are_read(path):
    card = Card.read(path)
    written = json.loads(path.read_text())
    assert card.architecture == written["architecture"]
    assert card.classes == tuple(written["classes"])
    assert card.group == written["group"]
    assert card.task == "classification"
    assert card.preparation is None or written["format"] > 1
    assert ec.create_model(**card.architecture).config == card.architecture


def test_there_is_a_card_of_every_earlier_format():
    formats = {json.loads(path.read_text())["format"] for path in OLD.glob("*.json")}
    assert formats == set(range(1, Card().format))


def test_a_card_in_british_spelling_says_the_same():
    card = Card.read(OLD / "format-2-british.json")
    assert card.preparation == Preparation(28, resize=32, crop=30, gray=True)
    assert card.license == "mit"
    assert card.normalization["std"][1] == 0.25
    assert not {"grey", "normalisation", "licence"} & set(card.to_dict())


def test_a_card_of_before_there_were_several_normalisations_of_colours_keeps_its_own():
    assert Card.read(OLD / "format-3.json").preparation == Preparation(32, color_normalization="gray-world")
    old = json.loads((OLD / "format-3.json").read_text())
    assert Card.from_dict(old | {"gray_world": False}).preparation == Preparation(32)
    with pytest.raises(ValueError, match="gray_world must be true or false, got 'yes'"):
        Card.from_dict(old | {"gray_world": "yes"})


def test_an_old_card_of_a_segmenter_says_so():
    old = {"library_name": "equicolor", "format": 1, "architecture": {"name": "segmenter", "num_classes": 1}}
    assert Card.from_dict(old).task == "segmentation"


# ---------------------------------------------------------------------------------------------- wrong cards

WRONG = {
    "architecture": ["z2cnn", 3, {"width": 4}.keys()],
    "source": [3, ["timm"], "x" * 5000],
    "group": [4, ["hue4"]],
    "task": ["detection", None, 3, []],
    "classes": ["ab", [1, 2], {"a": 1}, 3, ["a", "b", "c"]],
    "image_size": [0, -1, 2.5, "28", True, 10**9, float("nan")],
    "resize": [0, "x", 10**9, [28]],
    "crop": [-3, 10**12, "28"],
    "fit": ["squeeze", None, 3],
    "gray": [0, 1, "yes", None],
    "color_normalization": [0, True, "gray_world", "grey", ["macenko"]],
    "normalization": [3, {"mean": 1}, {"mean": [0], "std": [0]}, {"mean": [float("nan")], "std": [1]}, "x"],
    "data": ["digits", 3],
    "recipe": ["digits", [1]],
    "metrics": [None, [1], {"test": 3}, {"test": {"error": "low"}}],
    "license": [3, {}],
    "parameters": [-1, 2.5, "many"],
    "sha256": [3, []],
    "library_version": [3],
}


@pytest.mark.parametrize(("field", "value"), [(name, value) for name, those in WRONG.items() for value in those])
def test_a_field_of_another_type_is_refused_by_its_name_in_one_line(model, field, value):
    good = card_of(model, ["healthy", "sick"], **ABOUT).to_dict()
    with pytest.raises(ValueError, match=field) as error:
        Card.from_dict(good | {field: value})
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_every_field_is_checked():
    assert set(WRONG) | {"format"} == set(Card().to_dict()) - {"library_name"}


def test_sizes_that_contradict_each_other_are_refused(model):
    good = card_of(model).to_dict()
    with pytest.raises(ValueError, match="image_size, resize and crop do not go together: cannot cut 28×28 out of 20"):
        Card.from_dict(good | {"crop": 20})


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "[]", "3", "null", '{"library_name": 3}', "9" * 5000, "\x00"])
def test_what_is_no_card_is_refused(text, tmp_path):
    (tmp_path / CARD).write_text(text)
    with pytest.raises(ValueError, match=r"config\.json: it is (damaged|no card)"):
        read_card(tmp_path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(field=st.sampled_from([*WRONG, "format"]), value=json_values)
def test_whatever_a_field_holds_a_card_is_read_or_refused(field, value):
    good = Card(architecture={"name": "z2cnn", "num_classes": 2}, image_size=28, metrics={"test": {"error": 0.5}})
    try:
        card = Card.from_dict(good.to_dict() | {field: value})
    except ValueError:
        return
    assert is_ours(readme(card))
    assert Card.from_json(card.to_json()).name == card.name


# ---------------------------------------------------------------------------------------------- the page


def test_the_page_is_one_that_the_hub_understands(model, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    ec.save_pretrained(model, tmp_path, ["healthy", "sick"], **ABOUT)
    page = hub.ModelCard.load(tmp_path / README)
    assert page.data.license == "mit"
    assert page.data.library_name == "equicolor"
    assert page.data.pipeline_tag == "image-classification"
    (result,) = page.data.eval_results
    assert (result.dataset_type, result.dataset_split) == ("cells", "test")
    assert (result.metric_type, result.metric_value) == ("accuracy", 0.75)
    for word in ("`hue3`", "hue +120°", "healthy, sick", "made grey", "32×32", "0.2500", "lr: 0.1", "## Limits"):
        assert word in page.text


def test_the_code_of_the_page_runs(model, tmp_path, monkeypatch, capsys):
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    ec.save_pretrained(model, "path/to/this/folder", ["healthy", "sick"], **ABOUT)
    Image.new("RGB", (40, 40), "red").save("image.jpg")
    text = Path("path/to/this/folder", README).read_text()
    exec(text.split("```python\n")[1].split("```")[0], {})
    assert capsys.readouterr().out.strip() in ("healthy", "sick")


def test_a_page_that_a_user_wrote_or_changed_is_kept_unless_asked(model, tmp_path):
    page = tmp_path / README
    ec.save_pretrained(model, tmp_path)
    ours = page.read_text()
    assert is_ours(ours)
    ec.save_pretrained(model, tmp_path, license="mit")
    assert "license: mit" in page.read_text()  # ours, written anew
    for words in ("My own page.\n", ours.replace("## Limits", "## Limits, as we saw them"), ours + "\nAnd more.\n"):
        page.write_text(words)
        ec.save_pretrained(model, tmp_path)
        assert page.read_text() == words
    ec.save_pretrained(model, tmp_path, overwrite_readme=True)
    assert page.read_text() == ours


def test_a_page_claims_nothing_that_was_not_recorded(tmp_path):
    page = readme(card_of(ec.create_model("z2cnn", None, width=4)))
    assert "model-index" not in page
    assert "license" not in page
    assert "was not recorded" in page
    assert "conventional" in page
