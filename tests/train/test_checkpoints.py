"""Checkpoints: complete, or not there."""

import errno
import hashlib
import os
import stat

import pytest

from equicolor._tools.files import write_text
from equicolor.train import TrainingError
from equicolor.train import _checkpoints as module
from equicolor.train._checkpoints import Checkpoints


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints(tmp_path)


def write(checkpoints, step, content):
    checkpoints.partial(step).write_bytes(content)
    return checkpoints.finish(step)


def contents(checkpoints):
    return {path.name: path.read_bytes() for path in checkpoints.folder.iterdir()}


def read_fails(monkeypatch, path):
    """As a disk that fails, for now, to read one file."""
    sha256 = module.digest

    def reading(other):
        if other == path:
            raise OSError(errno.EIO, "Input/output error")
        return sha256(other)

    monkeypatch.setattr(module, "digest", reading)


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
    good = write(checkpoints, 1, b"good")
    write(checkpoints, 2, b"whole").write_bytes(damage)
    assert checkpoints.newest() == good


def test_asking_for_the_newest_touches_no_file(checkpoints):
    for step in (1, 2):
        write(checkpoints, step, b"whole").write_bytes(b"damaged")
    before = contents(checkpoints)
    assert checkpoints.newest() is None
    assert contents(checkpoints) == before


def test_damaged_ones_are_kept_aside_when_a_run_goes_on_from_an_earlier_one(checkpoints):
    good = write(checkpoints, 1, b"good")
    spoilt = write(checkpoints, 2, b"whole")
    spoilt.write_bytes(b"damaged")
    with pytest.warns(UserWarning, match=rf"{spoilt.name} is damaged.*goes on from step 1"):
        assert checkpoints.to_go_on_from() == good
    assert contents(checkpoints) == {good.name: b"good", f"{spoilt.name}.damaged": b"damaged"}
    assert checkpoints.latest_step() == 1


def test_a_disk_that_cannot_read_one_now_changes_nothing(checkpoints, monkeypatch):
    write(checkpoints, 1, b"good")
    unreadable, spoilt = write(checkpoints, 2, b"whole"), write(checkpoints, 3, b"whole")
    spoilt.write_bytes(b"damaged")
    before = contents(checkpoints)
    with monkeypatch.context() as patch:
        read_fails(patch, unreadable)
        for ask in (checkpoints.newest, checkpoints.to_go_on_from):
            with pytest.raises(TrainingError, match=rf"cannot read the checkpoint .*{unreadable.name}.*try again"):
                ask()
    assert contents(checkpoints) == before
    assert checkpoints.newest() == unreadable


@pytest.mark.parametrize("trouble", ["damaged", "unreadable"])
def test_as_many_good_ones_are_kept_as_asked_for_whatever_happened_to_others(checkpoints, trouble, monkeypatch):
    paths = [write(checkpoints, step, bytes([step])) for step in (1, 2)]
    if trouble == "damaged":
        paths[1].write_bytes(b"damaged")
    else:
        read_fails(monkeypatch, paths[1])
    paths.append(write(checkpoints, 3, b"3"))
    assert sorted(checkpoints.folder.iterdir()) == paths
    paths.append(write(checkpoints, 4, b"4"))
    assert sorted(checkpoints.folder.iterdir()) == paths[2:]


def test_no_more_is_read_than_the_answer_takes(checkpoints, monkeypatch):
    for step in range(3):
        write(checkpoints, step, bytes([step]))
    read, sha256 = [], module.digest
    monkeypatch.setattr(module, "digest", lambda path: read.append(path.name[:14]) or sha256(path))
    checkpoints.newest()
    checkpoints.to_go_on_from()
    checkpoints.latest_step()
    assert checkpoints.size() == 1
    assert read == ["step-000000002"] * 2
    read.clear()
    write(checkpoints, 3, b"3")
    assert read == ["step-000000003", "step-000000002"]  # what is written, and what is kept beside it


def test_what_is_forced_onto_the_disk_was_opened_for_writing(checkpoints, monkeypatch):
    """Windows refuses to synchronise a file that was opened for reading."""
    fcntl = pytest.importorskip("fcntl")
    modes, fsync = [], os.fsync

    def recording(handle):
        if stat.S_ISREG(os.fstat(handle).st_mode):  # folders are synchronised where there is no Windows
            modes.append(fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", recording)
    write(checkpoints, 1, b"whole")
    write_text(checkpoints.folder / "results.json", "{}", durable=True)
    assert len(modes) == 2
    assert all(mode in (os.O_WRONLY, os.O_RDWR) for mode in modes)


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
