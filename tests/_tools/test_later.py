"""Names that are imported when they are first asked for: the same ones for Python and for a type checker."""

import ast
import importlib
from pathlib import Path

import pytest

PACKAGES = ("equicolor", "equicolor.train")


def checked(tree):
    """The imports under ``if TYPE_CHECKING``: names, each with its module."""
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports for alias in node.names}


@pytest.mark.parametrize("name", PACKAGES)
def test_python_and_type_checkers_find_the_same_names(name):
    package = importlib.import_module(name)
    names = checked(ast.parse(Path(package.__file__).read_text(encoding="utf-8")))
    assert sorted(names) == sorted(package.__all__)
    for each, module in names.items():
        found = getattr(package, each)
        if module != name:
            assert found is getattr(importlib.import_module(module), each)
    assert set(names) <= set(dir(package))


@pytest.mark.parametrize("name", PACKAGES)
def test_what_is_not_there_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        _ = importlib.import_module(name).nothing
