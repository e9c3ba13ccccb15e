"""A hook of MkDocs: files of the repository that pages link to become part of the site, and the links lead there.

Pages are written for readers of the repository: `docs/method.md` links to `../results/windows/table.md`, and
`results/README.md` to `../docs/reproduce.md`. On the site `docs/` is the root, and everything else keeps its path. So a
link is read where its file is in the repository, and written anew for where it is on the site.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from notebooks import page_address, prose

ROOT = Path(__file__).parents[2]
#: Pages that the navigation names, and from which other files are found.
FIRST = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "results/README.md")
#: Pages of the repository that have another one on the site in their place.
INSTEAD = {"README.md": "index.md"}
#: ``](target)`` of a link or a picture, and ``src="target"``.
_LINK = re.compile(r'(?P<before>\]\(|\bsrc=")(?P<target>[^)"#\s:]+)(?P<anchor>#[^)"\s]*)?(?P<after>[)"])')
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what pages link to, and what that links to in turn, as far as it is in the repository and not in docs/."""
    waiting = [ROOT / name for name in FIRST] + [Path(file.abs_src_path) for file in files.documentation_pages()]
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        address = site_address(path)
        if files.get_file_from_path(address) is None:
            files.append(File.generated(config, address, abs_src_path=str(path), inclusion=InclusionLevel.NOT_IN_NAV))
        for target in linked_files(path) if path.suffix in (".md", ".ipynb") else ():
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Writes the links of a page for where it is on the site; what is no file is left for MkDocs to warn of."""
    path = Path(page.file.abs_src_path)
    here = posixpath.dirname(page.file.src_uri)

    def moved(link: re.Match[str]) -> str:
        target = (path.parent / link["target"]).resolve()
        if not _is_ours(target):
            return link[0]
        address = posixpath.relpath(site_address(target), here or ".")
        return f"{link['before']}{address}{link['anchor'] or ''}{link['after']}"

    return _outside_of_code(markdown, moved)


def site_address(path: Path) -> str:
    """Where a file of the repository is on the site, as MkDocs names sources: below docs/ or by its path."""
    name = path.relative_to(ROOT).as_posix()
    address = INSTEAD.get(name, name.removeprefix("docs/"))
    return page_address(address) if path.suffix == ".ipynb" else address


def linked_files(page: Path) -> Iterator[Path]:
    """The files of the repository that a page links to."""
    text = _CODE.sub("", prose(page) if page.suffix == ".ipynb" else page.read_text(encoding="utf-8"))
    for link in _LINK.finditer(text):
        target = (page.parent / link["target"]).resolve()
        if _is_ours(target):
            yield target


def _is_ours(path: Path) -> bool:
    return path.is_file() and path.is_relative_to(ROOT)


def _outside_of_code(markdown: str, replaced: Callable[[re.Match[str]], str]) -> str:
    """The links of a page, replaced; what stands in code is no link."""
    pieces, end = [], 0
    for code in _CODE.finditer(markdown):
        pieces += [_LINK.sub(replaced, markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*pieces, _LINK.sub(replaced, markdown[end:])])
