"""Checkpoints: complete, or not there."""

import hashlib

import pytest

from equicolor.train._checkpoints import Checkpoints


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints(tmp_path)


def write(checkpoints, step, content):
    checkpoints.partial(step).write_bytes(content)
    return checkpoints.finish(step)


def test_the_newest_is_the_one_of_the_latest_step_not_of_the_latest_writing(checkpoints):
    later = write(checkpoints, 1000, b"later")
    write(checkpoints, 999, b"earlier")
    assert checkpoints.newest() == later


def test_what_is_not_finished_is_not_seen(checkpoints):
    kept = write(checkpoints, 1, b"whole")
    checkpoints.partial(2).write_bytes(b"ha")
    assert checkpoints.newest() == kept
    checkpoints.remove_partial()
    assert list(checkpoints.folder.iterdir()) == [kept]


@pytest.mark.parametrize("damage", [b"", b"whol", b"wholf", b"whole and more"])
def test_a_damaged_one_gives_way_to_the_one_before(checkpoints, damage):
    kept = write(checkpoints, 1, b"good")
    write(checkpoints, 2, b"whole").write_bytes(damage)
    with pytest.warns(UserWarning, match="step-000000002.* is damaged"):
        assert checkpoints.newest() == kept


def test_only_the_last_two_are_kept_and_other_files_are_left_alone(checkpoints):
    other = checkpoints.folder / "notes.pt"
    other.write_text("mine")
    paths = [write(checkpoints, step, bytes([step])) for step in range(5)]
    assert sorted(checkpoints.folder.iterdir()) == sorted([other, *paths[-2:]])


def test_there_is_none_in_an_empty_folder(checkpoints):
    assert checkpoints.newest() is None
    assert checkpoints.latest_step() is None


def test_they_are_written_and_found_by_python_3_10_too(checkpoints, monkeypatch):
    monkeypatch.delattr(hashlib, "file_digest", raising=False)  # of Python 3.11
    large = bytes(range(256)) * 10_000
    path = write(checkpoints, 1, large)
    assert hashlib.sha256(large).hexdigest() in path.name
    assert checkpoints.newest() == path
