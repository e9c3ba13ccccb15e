"""The contract of our own that import-linter checks: what it lets pass, and what not."""

import pytest

from contracts import NoPrivateImports


@pytest.fixture
def check(tmp_path, monkeypatch):
    """What the contract says of a package ``house`` in which ``kitchen.cook`` has this line."""

    def broken(line):
        files = {"_tools": "knife = 1", "kitchen._oven": "heat = 1", "hall.door": "_key = 1", "kitchen.cook": line}
        for module, text in files.items():
            place = tmp_path / "house" / f"{module.replace('.', '/')}.py"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            (place.parent / "__init__.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
        options = {"package": "house", "open_to_all": ["house._tools"]}
        contract = NoPrivateImports("name", {"root_packages": ["house"]}, options)
        return contract.check(graph=None, verbose=False).metadata["broken"]

    return broken


@pytest.mark.parametrize(
    "line",
    [
        "from house.kitchen._oven import heat",
        "from house.kitchen import _oven",
        "from house._tools import knife",
        "from house.hall.door import __doc__",
        "from elsewhere._private import thing",
    ],
)
def test_a_packages_own_private_names_and_those_that_are_open_to_all_may_be_imported(line, check):
    assert check(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "from house.hall.door import _key",
        "from house.hall import _door",
        "def later():\n    import house.hall._door",
        "from ..hall import _door",
        "from house.kitchen._oven import _fuse",
    ],
)
def test_a_private_name_that_crosses_a_package_is_named_with_its_place(line, check):
    (broken,) = check(line)
    assert broken.startswith("house/kitchen/cook.py:")
    assert "._" in broken
