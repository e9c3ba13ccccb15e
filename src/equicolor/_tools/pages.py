"""Reports as one HTML file that needs no other: a conclusion, tables, and pictures inside of it.

They are read on a phone, too, and in the dark: what is wider than the page scrolls within its own box, and colours
follow the reader's. Pictures are drawn for white paper, in colours that mean something, so in the dark they lie on a
white card instead of being turned inside out.
"""

import base64
import html
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from equicolor._tools.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

_STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --faint: #666; --line: #ddd; --soft: #f4f4f4;
  --said: #eef4fb; --edge: #0072b2; --warn: #fff3cd; --warned: #b07d00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6ea; --paper: #15181c; --faint: #a3a9b2; --line: #3a414b;
  --soft: #22272e; --said: #1b2836; --edge: #5ab4e6; --warn: #3a3117; --warned: #e0a800; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--paper); overflow-wrap: break-word; }
h1 { line-height: 1.2; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child, .word { text-align: left; }
td { white-space: nowrap; } td:first-child, td.word { white-space: normal; min-width: 6rem; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
caption span { position: sticky; left: 0; display: inline-block; max-width: min(66rem, calc(100vw - 2.5rem)); }
figure { margin: 1.5rem 0; } figcaption { color: var(--faint); font-size: .9rem; padding-top: .4rem; max-width: 46rem; }
.picture { overflow-x: auto; } .picture img { max-width: 100%; height: auto; display: block; }
@media (prefers-color-scheme: dark) { .picture { background: #fff; border-radius: 8px; padding: .5rem; } }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; }
.conclusion { background: var(--said); padding: .2rem 1rem; border-left: 4px solid var(--edge); }
.quick { background: var(--warn); padding: .6rem 1rem; border-left: 4px solid var(--warned); }
footer { color: var(--faint); font-size: .85rem; margin-top: 3rem; }
@media (max-width: 40rem) { body { margin: 1rem auto; } h1 { font-size: 1.5rem; } th, td { padding: .3rem .5rem; }
  .picture img { max-width: 38rem; } }
"""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A picture for a report.

    Attributes:
        picture: of matplotlib's or of PIL's.
        alt: what there is to see, for those who do not see it: the numbers, not the name of a file.
        caption: below the picture, for everybody.
    """

    picture: "Figure | Image"
    alt: str
    caption: str = ""


def html_page(title: str, parts: Sequence[str]) -> str:
    """A whole page under its title, of parts that are HTML already."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style>"
    )
    body = "\n".join([f"<h1>{html.escape(title)}</h1>", *parts])
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def html_conclusion(lines: Sequence[str]) -> str:
    """What it comes to, before everything else; nothing where there is nothing to say."""
    return f'<div class="conclusion">{html_paragraphs(lines)}</div>' if lines else ""


def html_paragraphs(lines: Sequence[str]) -> str:
    """Texts, a paragraph each."""
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def html_table(table: Table) -> str:
    """A table under its title, in a box of its own, which scrolls where the table is wider than the page."""
    words = set(table.left or ())

    def line(tag: str, cells: Sequence[object]) -> str:
        kinds = [' class="word"' if name in words else "" for name in table.columns]
        return "<tr>" + "".join(f"<{tag}{k}>{_cell(c)}</{tag}>" for c, k in zip(cells, kinds, strict=True)) + "</tr>"

    body = "\n".join(line("td", row) for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0"><table><caption><span>{html.escape(table.title)}</span></caption>\n'
        f"{line('th', table.columns)}\n{body}\n</table></div>"
    )


def _cell(content: object) -> str:
    return html.escape(str(content)).replace("\n", "<br>")


def html_picture(data: bytes, alt: str, caption: str = "") -> str:
    """A picture, from the contents of its PNG file.

    Args:
        data: of the file.
        alt: what there is to see, for those who do not see it.
        caption: below the picture, for everybody.
    """
    width, height = struct.unpack(">II", data[16:24])  # of the first chunk of a PNG file
    below = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure><div class="picture" tabindex="0"><img alt="{html.escape(alt)}" width="{width}" height="{height}" '
        f'src="data:image/png;base64,{base64.b64encode(data).decode()}"></div>{below}</figure>'
    )


def html_command(command: str, made: str) -> str:
    """How to repeat it, and what it was made with."""
    return f"<h2>Repeat it</h2><pre>{html.escape(command)}</pre><footer>{html.escape(made)}</footer>"
