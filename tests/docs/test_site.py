"""The site builds without a warning, has every public name, loads nothing from elsewhere, and its links work."""

import importlib
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import equicolor as ec
from equicolor import algorithms

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
#: What people start, and what is nobody's: described on pages of its own, and not at all.
NOT_IN_THE_REFERENCE = {"__main__", "app", "bench", "cli", "commands", "experiments", "serve"}
PACKAGES = sorted(
    path.stem
    for path in (ROOT / "src" / "equicolor").iterdir()
    if (path.suffix == ".py" or (path / "__init__.py").is_file())
    and not path.stem.startswith("_")
    and path.stem not in NOT_IN_THE_REFERENCE
)


class _Page(HTMLParser):
    """What a page asks for and where it links to, and the places on it that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.links, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.places |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag == "link" and attributes.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(attributes["href"])
        elif attributes.get("src"):
            self.loaded.append(attributes["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as by ``make docs``, and its pages."""
    build, config = pytest.importorskip("mkdocs.commands.build"), importlib.import_module("mkdocs.config")
    folder = tmp_path_factory.mktemp("site")
    settings = config.load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True)
    settings.plugins.on_startup(command="build", dirty=False)
    build.build(settings)  # a warning is an exception
    settings.plugins.on_shutdown()
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}


def test_every_public_name_of_every_package_is_in_the_reference(site):
    inventory = zlib.decompress((site / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    there = {line.split(" ", 1)[0] for line in inventory.splitlines()}
    for package in PACKAGES:
        module = importlib.import_module(f"equicolor.{package}")
        missing = {name for name in public_names(module) if f"{module.__name__}.{name}" not in there}
        assert not missing, f"no docstring, and no '#:' above a constant: {missing} of {module.__name__}"


def public_names(module):
    if hasattr(module, "__all__"):
        return module.__all__
    assert module is algorithms  # a file without a list
    ours = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return [name for name in ours if not name.startswith("_")]


def test_every_name_of_equicolor_itself_is_on_the_first_page_of_the_reference():
    told = set(re.findall(r"\[`(?:ec|equicolor)\.(\w+)`\]", (REFERENCE / "index.md").read_text(encoding="utf-8")))
    assert set(ec.__all__) <= told
    assert told - set(ec.__all__) == {"comparison", "deploy", "metrics", "train", "trained"}
    assert {path.stem for path in REFERENCE.glob("*.md")} == {*PACKAGES, "index"}


def test_no_page_loads_anything_from_another_server(site, pages):
    for path, page in pages.items():
        assert [address for address in page.loaded if urlsplit(address).netloc] == [], path
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", styles)


def test_links_and_pictures_lead_to_a_file_and_to_a_place_in_it(site, pages):
    nowhere = []
    for path, page in pages.items():
        for address in page.links + page.loaded:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = pages[target].places if target in pages else {parts.fragment}
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in known):
                nowhere.append((path.relative_to(site), address))
    assert nowhere == []
