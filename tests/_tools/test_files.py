"""Files that are complete or not there."""

import json
import math
from pathlib import Path

import pytest
from PIL import Image

from equicolor._tools.files import complete_file, complete_files, write_csv, write_json, write_picture, write_text
from equicolor._tools.pictures import new_figure


def test_an_interrupted_file_leaves_what_stood_there_and_nothing_else(tmp_path: Path) -> None:
    path = write_text(tmp_path / "new" / "a.txt", "before")

    def interrupted() -> None:
        with complete_file(path, "w") as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "before"
    assert list(path.parent.iterdir()) == [path]


def test_files_that_belong_together_appear_together_the_one_that_speaks_of_the_others_last(
    tmp_path, monkeypatch
) -> None:
    moved, replace = [], Path.replace
    monkeypatch.setattr(Path, "replace", lambda file, to: moved.append(to.name) or replace(file, to))
    with complete_files(tmp_path / "new", last="a.json") as files:
        for name in ("a.json", "b.bin", "c.bin"):
            (files / name).write_text(name)
        assert [path.name for path in (tmp_path / "new").iterdir()] == [files.name]
    assert sorted(moved) == ["a.json", "b.bin", "c.bin"]
    assert moved[-1] == "a.json"
    assert {path.name: path.read_text() for path in (tmp_path / "new").iterdir()} == {name: name for name in moved}


def test_of_files_that_belong_together_none_appears_where_one_fails(tmp_path) -> None:
    def interrupted() -> None:
        with complete_files(tmp_path, last="a") as files:
            (files / "b").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_links_are_written_through(tmp_path: Path) -> None:
    target = write_text(tmp_path / "target", "before")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_text(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"


def test_csv_quotes_what_it_must_and_leaves_none_empty(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", ["name", "value"], [['a "b", c', 1.5], ["d", None]])
    assert path.read_text() == 'name,value\n"a ""b"", c",1.5\nd,\n'


@pytest.mark.parametrize("picture", [new_figure(1, 1), Image.new("RGB", (3, 2))])
def test_pictures_of_both_libraries_become_png(tmp_path: Path, picture: object) -> None:
    with Image.open(write_picture(tmp_path / "a.png", picture)) as read:
        assert read.format == "PNG"


def test_json_holds_null_where_there_is_no_number(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", {"loss": math.nan, "rates": [1.5, math.inf, (-math.inf, 2)], "name": "nän"})
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "loss": None,
        "rates": [1.5, None, [None, 2]],
        "name": "nän",
    }
