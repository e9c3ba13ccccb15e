"""A hook of MkDocs: notebooks below docs/ become pages, with the outputs that were saved in them.

They are pages of Markdown like all others, so their links are checked, and their code can be searched and copied; what
was drawn becomes files beside them. `docs/scripts/execute.py` writes the outputs.
"""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

#: Below the title of each page.
_INVITATION = (
    '*A notebook, to try for yourself: <a href="{name}" download>{name}</a>, with `pip install "equicolor[{extras}]"`. '
    "What stands below the code is what it printed and drew.*"
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for each notebook, and a file for each of its pictures."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        path = Path(file.abs_src_path or "")
        files.append(File.generated(config, page_address(file.src_uri), abs_src_path=str(path)))
        for name, content in pictures(path):
            files.append(File.generated(config, file.src_uri.replace(path.name, name), content=content))
    return files


def on_page_read_source(page: Page, config: MkDocsConfig) -> str | None:
    """The page of a notebook, in Markdown; of others, what their files hold."""
    path = Path(page.file.abs_src_path or "")
    return markdown(path) if path.suffix == ".ipynb" else None


def page_address(notebook: str) -> str:
    """The page of a notebook, as MkDocs names sources."""
    return notebook.removesuffix(".ipynb") + ".md"


def prose(path: Path) -> str:
    """The text of a notebook, without code."""
    return "\n\n".join(_text(cell) for cell in _read(path)["cells"] if cell["cell_type"] == "markdown")


def pictures(path: Path) -> Iterator[tuple[str, bytes]]:
    """The names and contents of what a notebook has drawn."""
    for cell in _read(path)["cells"]:
        for name, output in _drawn(path, cell):
            yield name, base64.b64decode(output["data"]["image/png"])


def markdown(path: Path) -> str:
    """A notebook as a page."""
    notebook = _read(path)
    pieces = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            pieces.append(_text(cell))
        else:
            pieces += [_fenced(_text(cell), "python"), *_shown(path, cell)]
    title, _, rest = "\n\n".join(pieces).partition("\n")
    invitation = _INVITATION.format(name=path.name, extras=notebook["metadata"]["extras"])
    return f"{title}\n\n{invitation}\n{rest}\n"


def _read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def _text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _shown(path: Path, cell: dict[str, Any]) -> Iterator[str]:
    """The outputs of a cell in their order: what it printed, what its last line is, what it drew."""
    names = {id(output): name for name, output in _drawn(path, cell)}
    for output in cell["outputs"]:
        if name := names.get(id(output)):
            yield f"![{cell['metadata']['alt']}]({name})"
        else:
            text = output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
            yield _fenced("".join(text).rstrip("\n"), "{ .text .output .no-copy }")


def _drawn(path: Path, cell: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    outputs = [output for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})]
    for number, output in enumerate(outputs, start=1):
        yield f"{path.stem}-{cell['execution_count']}-{number}.png", output


def _fenced(text: str, language: str) -> str:
    longest = max((len(ticks) for ticks in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence} {language}\n{text}\n{fence}"
