"""An outcome on disk: ``metrics.json``, ``metrics.csv``, one PNG for each picture, ``table.md`` and ``report.html``.

The report is one file that needs no other: its pictures are inside it.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equicolor._tools import environment
from equicolor._tools.devices import chosen_device
from equicolor._tools.files import complete_file, json_text, png, write_csv, write_text
from equicolor._tools.pages import (
    html_command,
    html_conclusion,
    html_page,
    html_paragraphs,
    html_picture,
    html_table,
)
from equicolor._tools.tables import Table
from equicolor.comparison._outcome import Outcome

#: Above what explains where numbers are not the paper's.
DIFFERS = "Where this differs from the paper, and why"
QUICK = "Quick version: reduced data and training. Its numbers show that everything works, not how well."


@dataclass(frozen=True)
class Heading:
    """What stands above a report.

    Attributes:
        name: the name of the experiment, or "compare".
        title: above everything.
        about: one or two sentences on what is asked.
        paper: which table or figure of the paper it repeats.
        quick: what the quick version did instead, in a sentence; empty for the whole.
        differs: what is known of differences from the paper, a paragraph each.
    """

    name: str
    title: str
    about: str
    paper: str = ""
    quick: str = ""
    differs: Sequence[str] = ()


def write_report(heading: Heading, outcome: Outcome, folder: Path, command: str) -> Path:
    """Writes an outcome as a report with all its files.

    Args:
        heading: what stands above it.
        outcome: what was found.
        folder: where to.
        command: the command that does it again.

    Returns:
        The path of the report.
    """
    pictures = {name: png(drawing.picture) for name, drawing in outcome.pictures.items()}
    about = _environment()
    made = {
        "experiment": heading.name,
        "paper": heading.paper,
        "quick": bool(heading.quick),
        "command": command,
        "environment": about,
        **({"conclusion": list(outcome.conclusion)} if outcome.conclusion else {}),
    }
    columns = list(dict.fromkeys(key for record in outcome.records for key in record))
    rows = [[record.get(column) for column in columns] for record in outcome.records]
    write_text(folder / "metrics.json", json_text({**made, "records": list(outcome.records)}, indent=1) + "\n")
    write_csv(folder / "metrics.csv", columns, rows)
    for name, data in pictures.items():
        with complete_file(folder / f"{name}.png") as file:
            file.write(data)
    write_text(folder / "table.md", _markdown(heading, outcome, command))
    return write_text(folder / "report.html", _html(heading, outcome, pictures, command, about))


def _environment() -> dict[str, Any]:
    """The results' own: which machine it was matters less than that it was one such."""
    versions = environment.versions()
    about = environment.machine(chosen_device("auto"))
    return {
        **{name: versions[name] for name in ("equicolor", "torch", "numpy", "python")},
        "machine": f"{about['system']}, {about['cores']} cores",
        "device": about["device"],
    }


def _markdown(heading: Heading, outcome: Outcome, command: str) -> str:
    parts = [f"# {heading.title}"]
    if heading.quick:
        parts.append(f"**{QUICK}** {heading.quick}")
    parts += [*outcome.conclusion, heading.about]
    if heading.paper:
        parts.append(f"In the paper: {heading.paper}.")
    parts.append(f"```\n{command}\n```")
    parts += [_markdown_table(table) for table in outcome.tables]
    for name, drawing in outcome.pictures.items():
        parts += [f"![{drawing.alt.translate(_BRACKETS)}]({name}.png)", *filter(None, [drawing.caption])]
    parts += outcome.notes
    if heading.differs:
        parts += [f"## {DIFFERS}", *heading.differs]
    return "\n\n".join(parts) + "\n"


#: They would end the words of a picture early.
_BRACKETS = str.maketrans("[]", "()")


def _markdown_table(table: Table) -> str:
    lines = ["| " + " | ".join(map(str, cells)) + " |" for cells in (table.columns, *table.rows)]
    rule = "| --- " + "| ---: " * (len(table.columns) - 1) + "|"
    return "\n".join([f"**{table.title}**", "", lines[0], rule, *lines[1:]])


def _html(heading: Heading, outcome: Outcome, pictures: dict[str, bytes], command: str, about: dict[str, Any]) -> str:
    say = html.escape
    parts = []
    if heading.quick:
        parts.append(f'<p class="quick"><strong>{say(QUICK)}</strong> {say(heading.quick)}</p>')
    parts += [html_conclusion(outcome.conclusion), html_paragraphs([heading.about])]
    if heading.paper:
        parts.append(html_paragraphs([f"In the paper: {heading.paper}."]))
    parts += [html_table(table) for table in outcome.tables]
    for name, drawing in outcome.pictures.items():
        parts.append(html_picture(pictures[name], drawing.alt, drawing.caption))
    parts.append(html_paragraphs(outcome.notes))
    if heading.differs:
        parts.append(f"<h2>{say(DIFFERS)}</h2>{html_paragraphs(heading.differs)}")
    made = ", ".join(f"{name} {value}" for name, value in about.items())
    return html_page(heading.title, [*filter(None, parts), html_command(command, made)])
