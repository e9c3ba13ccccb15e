"""What there is: data sets, and images of a user's own."""

from pathlib import Path

import pytest

import original_formats as formats
from equicolor import commands
from equicolor.data import Contents


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    formats.write_class_folders(tmp_path / "cells" / "train", 3)
    formats.write_class_folders(tmp_path / "cells" / "test_pink", 1)
    return tmp_path / "cells"


def test_images_of_ones_own_are_described(cells: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for named in ({"name": str(cells)}, {"root": cells}, {"name": "folder", "root": cells}):
        found = commands.data(**named)
        assert isinstance(found, Contents)
        assert found.counts == {"train": {"cat": 3, "dog": 3}, "test_pink": {"cat": 1, "dog": 1}}
        said = capsys.readouterr().out
        assert "8 images, read as split/class/image" in said
        assert "all classes       6           2" in said
        assert "files of 12×10; read as 10×10" in said


def test_a_table_is_described_with_domains_and_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formats.write_class_folders(tmp_path / "img", 6)
    rows = [f"img/{kind}/{n}.png,{kind},lab{n % 2},p{n}" for kind in ("cat", "dog") for n in range(6)]
    (tmp_path / "cells.csv").write_text("\n".join(["file,class,domain,group", *rows]))
    commands.data(root=tmp_path / "cells.csv")
    said = capsys.readouterr().out
    assert "lab0" in said
    assert "groups" in said
    assert "Note: splits are cut at random, and keep the images of each of 6 groups together" in said


def test_a_root_of_data_sets_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formats.write_mnist(tmp_path / "mnist")
    for root in (tmp_path, tmp_path / "mnist", tmp_path / "nowhere"):
        found = commands.data(root=root)
        assert isinstance(found, list)
        states = {each.name: each.state for each in found}
        assert states["mnist"] == ("absent" if root.name == "nowhere" else "present")
    capsys.readouterr()
    one = commands.data("mnist", root=tmp_path)
    assert isinstance(one, list)
    assert [each.name for each in one] == ["mnist"]
    assert "60,000" in capsys.readouterr().out
