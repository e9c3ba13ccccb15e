"""The report of a command: one page with a conclusion first, then tables and pictures, and how to repeat it."""

from collections.abc import Sequence
from pathlib import Path

from equicolor._tools.environment import versions
from equicolor._tools.files import png, write_text
from equicolor._tools.pages import Drawing, html_command, html_conclusion, html_page, html_picture, html_table
from equicolor._tools.tables import Table


def write_page(
    path: Path,
    title: str,
    conclusion: Sequence[str],
    tables: Sequence[Table],
    drawings: Sequence[Drawing],
    command: str,
) -> Path:
    """Writes it.

    Args:
        path: of the HTML file.
        title: above everything.
        conclusion: what was found, a paragraph each.
        tables: the numbers.
        drawings: the pictures.
        command: that does it again.
    """
    parts = [html_conclusion(conclusion), *map(html_table, tables)]
    parts += [html_picture(png(each.picture), each.alt, each.caption) for each in drawings]
    made = f"equicolor {versions()['equicolor'] or ''}"
    return write_text(path, html_page(title, [*filter(None, parts), html_command(command, made)]))
