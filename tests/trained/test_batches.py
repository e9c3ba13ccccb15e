"""Images from files, in batches: in their order, decoded ahead, and never many at once."""

import threading

import numpy as np
import pytest
from PIL import Image

from equicolor.data import load
from equicolor.trained import _batches, default_workers, file_batches, image_names, set_batches


@pytest.fixture
def paths(tmp_path):
    paths = [tmp_path / f"{number:02}.png" for number in range(23)]
    for number, path in enumerate(paths):
        Image.new("RGB", (9, 9), (number, 0, 0)).save(path)
    for number in (0, 7, 22):
        paths[number].write_bytes(b"no image")
    return paths


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_files_come_in_their_order_whoever_decodes_them(paths, workers):
    bad = []
    batches = list(file_batches(paths, 4, 8, lambda name, _: bad.append(name), workers=workers))
    assert [len(names) for names, _ in batches] == [8, 8, 4]
    names = [name for some, _ in batches for name in some]
    assert names == [str(path) for number, path in enumerate(paths) if number not in (0, 7, 22)]
    values = [int(image[0, 0, 0]) for _, images in batches for image in images]
    assert values == [number for number in range(23) if number not in (0, 7, 22)]
    assert bad == [str(paths[number]) for number in (0, 7, 22)]


def test_a_few_batches_are_decoded_ahead_and_no_more(paths, monkeypatch):
    asked = []
    given = (asked.append(path) or path for path in paths)
    batches = file_batches(given, 4, 2, lambda *_: None, workers=2)
    next(batches)
    assert len(asked) <= 2 + 1 + 2 * 2  # a batch, a file that is none, and two batches ahead
    batches.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("decode")]


def test_an_error_in_a_thread_is_an_error(paths, monkeypatch):
    def fails(*_):
        raise RuntimeError("surprise")

    monkeypatch.setattr(_batches, "decode", fails)
    with pytest.raises(RuntimeError, match="surprise"):
        next(file_batches(paths, 4, 2, lambda *_: None, workers=2))


@pytest.mark.parametrize(("options", "message"), [((0, 0), "batch_size must"), ((1, -1), "workers must be 0 or more")])
def test_wrong_numbers_are_refused_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        file_batches([], 4, options[0], lambda *_: None, workers=options[1])


def test_there_is_a_worker():
    assert 1 <= default_workers() <= 8


def test_images_of_a_set_are_named_by_their_places():
    digits = load("digits", split="test").sample(5)
    batches = list(set_batches(digits, 2))
    assert [name for names, _ in batches for name in names] == list(image_names(digits))
    assert np.allclose(batches[1][1], digits[2:4].images)
