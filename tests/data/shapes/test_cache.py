"""The cache of Shapes is safe: it gives what casting gives, whatever happens to its file."""

import multiprocessing
import os

import numpy as np
import pytest

from equicolor.data import Shapes
from equicolor.data.shapes import _cache
from equicolor.data.shapes._geometry import VERSION, cast

SIZE = 4
NAME = f"shapes-v{VERSION}-{SIZE}.npz"


@pytest.fixture(scope="module")
def geometry():
    return cast(SIZE)


@pytest.fixture
def no_casting(monkeypatch):
    def fail(image_size):
        raise AssertionError("the geometry was cast, not read")

    return lambda: monkeypatch.setattr(_cache, "cast", fail)


def same(one, other):
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(one, other, strict=True))


def test_what_is_read_is_what_was_cast(tmp_path, geometry, no_casting):
    written = _cache.geometry(SIZE, tmp_path / "new" / "folder")
    no_casting()
    assert same(written, geometry)
    assert same(_cache.geometry(SIZE, tmp_path / "new" / "folder"), written)
    assert os.listdir(tmp_path / "new" / "folder") == [NAME]


@pytest.mark.parametrize("damage", ["cut short", "not an archive", "empty", "another size", "a folder"])
def test_a_damaged_file_is_cast_anew(tmp_path, geometry, damage):
    file = tmp_path / NAME
    _cache.geometry(SIZE, tmp_path)
    whole = file.read_bytes()
    contents = {"cut short": whole[:-100], "not an archive": b"hello", "empty": b""}
    if damage in contents:
        file.write_bytes(contents[damage])
    elif damage == "another size":
        _cache.geometry(SIZE + 1, tmp_path)
        file.write_bytes((tmp_path / NAME.replace(f"-{SIZE}.", f"-{SIZE + 1}.")).read_bytes())
    else:
        file.unlink()
        file.mkdir()
    assert same(_cache.geometry(SIZE, tmp_path), geometry)
    if damage != "a folder":  # which is left alone
        with np.load(file) as repaired:
            assert np.array_equal(repaired["coverage"], geometry.coverage)
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("place", [i / 20 for i in range(20)])
def test_a_flipped_bit_does_not_get_through(tmp_path, geometry, place):
    _cache._write(tmp_path / NAME, geometry)
    content = bytearray((tmp_path / NAME).read_bytes())
    content[int(place * len(content))] ^= 16
    (tmp_path / NAME).write_bytes(content)
    found = _cache._read(tmp_path / NAME, SIZE)
    assert found is None or same(found, geometry)


def test_a_file_cannot_bring_code_along(tmp_path, geometry):
    np.savez(tmp_path / NAME, coverage=np.array([print], dtype=object), luminance=np.zeros(1))
    assert same(_cache.geometry(SIZE, tmp_path), geometry)


def test_processes_that_start_at_once_agree(tmp_path, geometry):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.starmap(_cache.geometry, [(SIZE, tmp_path)] * 4, chunksize=1)
    assert all(same(result, geometry) for result in results)
    assert os.listdir(tmp_path) == [NAME]


def test_a_place_that_cannot_be_written_does_no_harm(tmp_path, geometry):
    (tmp_path / "file").write_text("the user's own")
    assert same(_cache.geometry(SIZE, tmp_path / "file"), geometry)
    assert (tmp_path / "file").read_text() == "the user's own"


def test_the_users_cache_directory_is_the_default(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    Shapes(image_size=SIZE).render([0])
    assert (tmp_path / "equicolor" / NAME).is_file()
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _cache.default_directory() == tmp_path / ".cache" / "equicolor"


def test_memory_only_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    Shapes(image_size=SIZE, cache=False).render([0])
    Shapes(image_size=SIZE, cache=tmp_path / "mine").render([0])
    assert os.listdir(tmp_path) == ["mine"]
