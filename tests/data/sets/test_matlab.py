"""MATLAB files: what scipy writes is read as scipy reads it; what is damaged is an error, and never a crash."""

import struct

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from equicolor.data.sets._matlab import read_matlab


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_texts_cells_and_structures_come_back(tmp_path, packed):
    cells, structure = np.empty((1, 2), dtype=object), np.empty((1, 2), dtype=[("class", "O"), ("fname", "O")])
    cells[0] = ["AM General Hummer SUV 2000", "Lamborghini Gallardo, ünder"]
    structure[0, 0], structure[0, 1] = (7, "00001.jpg"), (196, "00002.jpg")
    numbers = {
        kind: (np.arange(6).reshape(2, 3) * 40).astype(kind) for kind in ("u1", "i2", "u2", "i4", "f4", "f8", "i8")
    }
    savemat(tmp_path / "a.mat", {"cells": cells, "structure": structure, **numbers}, do_compression=packed)
    found, expected = read_matlab(tmp_path / "a.mat"), loadmat(tmp_path / "a.mat")
    assert found["cells"] == cells[0].tolist()
    assert [(int(entry["class"].item()), entry["fname"]) for entry in found["structure"]] == structure[0].tolist()
    for kind in numbers:
        assert np.array_equal(found[kind], expected[kind])


def test_an_element_that_makes_scipy_crash_is_an_error(tmp_path):
    """Numbers of a type that does not exist: scipy takes what lies there in memory."""
    savemat(tmp_path / "a.mat", {"box": np.arange(4.0)})
    data = (tmp_path / "a.mat").read_bytes()
    start = data.rindex(struct.pack("<II", 9, 32))
    (tmp_path / "a.mat").write_bytes(data[:start] + struct.pack("<II", 16, 32) + data[start + 8 :])
    with pytest.raises(ValueError, match="element of type 16 where numbers were expected"):
        read_matlab(tmp_path / "a.mat")


def test_what_unpacks_to_more_than_any_file_has_is_an_error(tmp_path, monkeypatch):
    savemat(tmp_path / "a.mat", {"zeros": np.zeros(100_000)}, do_compression=True)
    monkeypatch.setattr("equicolor.data.sets._matlab._MOST_BYTES", 10_000)
    with pytest.raises(ValueError, match="larger than any published file"):
        read_matlab(tmp_path / "a.mat")


def test_no_matlab_file_is_an_error(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"MATLAB 5.0")
    with pytest.raises(ValueError, match="does not begin as a MATLAB file"):
        read_matlab(tmp_path / "a.mat")
