"""What the packages export, read by Griffe from the files as for the site: nothing is imported."""

import logging
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: The packages of the reference.
PACKAGES = sorted(page.stem for page in (ROOT / "docs" / "reference").glob("*.md") if page.stem != "index")


@cache
def library():
    griffe = pytest.importorskip("griffe")
    logging.getLogger("griffe").setLevel(logging.ERROR)
    return griffe.load("equicolor", search_paths=[str(ROOT / "src")], resolve_aliases=True, docstring_parser="google")


def public(package):
    """The classes and functions that a package exports, and their public methods and properties."""
    module = library()[package]
    exported = module.exports or [name for name, thing in module.members.items() if not thing.is_alias]
    for name in map(str, exported):
        thing = module[name].final_target if module[name].is_alias else module[name]
        if name.startswith("_") or not (thing.is_function or thing.is_class):
            continue
        yield thing
        for member in thing.members.values() if thing.is_class else ():
            if member.is_alias or member.name.startswith("_"):
                continue
            if member.is_function or "property" in member.labels:
                yield member
