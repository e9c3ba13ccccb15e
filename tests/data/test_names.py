"""What a user calls a data set: a name, or a path."""

from pathlib import Path

import pytest

import original_formats as formats
from equicolor.data import DataNotFoundError, is_own, list_datasets, load, resolve, splits_of


@pytest.fixture
def cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    formats.write_class_folders(tmp_path / "cells")
    lines = [f"cells/{name}/{number}.png,{name}" for name in ("cat", "dog") for number in range(10)]
    (tmp_path / "cells.csv").write_text("\n".join(["file,class", *lines]))
    return tmp_path


def test_a_path_is_a_folder_or_a_table(cells: Path) -> None:
    assert resolve("cells") == ("folder", "cells")
    assert resolve("cells/") == ("folder", "cells/")
    assert resolve(cells / "cells") == ("folder", str(cells / "cells"))
    assert resolve("cells.csv") == ("table", "cells.csv")


def test_names_stay_with_their_root(cells: Path) -> None:
    (cells / "digits").mkdir()
    assert resolve("digits") == ("digits", None)  # the name of a set comes first …
    assert resolve("./digits") == ("folder", "./digits")  # … and can be told from a folder
    assert resolve("folder", "cells") == ("folder", "cells")


def test_a_path_is_loaded_as_the_set_it_is_and_called_by_its_last_part(cells: Path) -> None:
    for path, kind, root in (("cells/", "folder", "cells"), ("cells.csv", "table", "cells.csv")):
        images, same = load(path, split="test"), load(kind, root, "test")
        assert images.original_rows.tolist() == same.original_rows.tolist()
        assert (images.name, same.name) == ("cells", kind)
        assert len(load(path, split="all")) == 20


def test_what_is_nowhere_is_met_with_what_there_is(cells: Path) -> None:
    with pytest.raises(DataNotFoundError, match=r"no folder and no table nowhere/"):
        resolve("nowhere/")
    with pytest.raises(DataNotFoundError, match=r"no folder and no table cell\.csv"):
        resolve("cell.csv")
    with pytest.raises(ValueError, match=r"unknown data set 'digit'\. Did you mean 'digits'\?"):
        resolve("digit")
    with pytest.raises(ValueError, match=r"cells is a path, and the root is .*: give one of the two"):
        resolve("cells", cells)
    (cells / "notes.txt").touch()
    with pytest.raises(ValueError, match=r"notes\.txt is no table of images"):
        resolve("notes.txt")


def test_the_splits_are_those_that_are_there(cells: Path) -> None:
    assert splits_of("cells") == splits_of("cells.csv") == ("train", "val", "test", "all")
    for part in ("train", "lab3", "test_pink"):
        formats.write_class_folders(cells / "labs" / part, 1)
    assert splits_of("labs") == splits_of("folder", cells / "labs") == ("train", "lab3", "test_pink", "all")
    assert splits_of("malaria") == list_datasets()["malaria"]
    with pytest.raises(DataNotFoundError, match="takes the CSV or Parquet file that lists your images"):
        splits_of("table")


def test_a_layout_is_for_folders_alone(cells: Path) -> None:
    with pytest.raises(ValueError, match="digits has one: leave it out"):
        load("digits", layout="classes")
    with pytest.raises(ValueError, match="is a table: give splits in a column 'split'"):
        splits_of("cells.csv", layout="splits")
    assert [name for name in list_datasets() if is_own(name)] == ["folder", "shards", "table"]
