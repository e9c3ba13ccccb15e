"""An outcome on disk: ``metrics.json``, ``metrics.csv``, one PNG for each picture, ``table.md`` and ``report.html``.

The report is one file that needs no other: its pictures are inside it.
"""

import base64
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equicolor._tools import environment
from equicolor._tools.devices import chosen_device
from equicolor._tools.files import complete_file, png, write_csv, write_text
from equicolor._tools.tables import Table
from equicolor.experiments._experiment import Experiment, Outcome

QUICK = "Quick version: reduced data and training. Its numbers show that everything works, not how well."
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
img { max-width: 100%; } pre { background: #f4f4f4; padding: .8rem; overflow-x: auto; }
.quick { background: #fff3cd; padding: .6rem 1rem; border-left: 4px solid #e0a800; }
footer { color: #666; font-size: .85rem; margin-top: 3rem; }
"""


def write_report(experiment: Experiment, outcome: Outcome, folder: Path, command: str, quick: bool) -> Path:
    """Writes everything into ``folder`` and returns the path of the report."""
    pictures = {name: png(picture) for name, picture in outcome.pictures.items()}
    about = _environment()
    made = {
        "experiment": experiment.name,
        "paper": experiment.paper,
        "quick": quick,
        "command": command,
        "environment": about,
    }
    columns = list(dict.fromkeys(key for record in outcome.records for key in record))
    rows = [[record.get(column) for column in columns] for record in outcome.records]
    write_text(folder / "metrics.json", json.dumps({**made, "records": list(outcome.records)}, indent=1) + "\n")
    write_csv(folder / "metrics.csv", columns, rows)
    for name, data in pictures.items():
        with complete_file(folder / f"{name}.png") as file:
            file.write(data)
    write_text(folder / "table.md", _markdown(experiment, outcome, command, quick))
    return write_text(folder / "report.html", _html(experiment, outcome, pictures, command, quick, about))


def _environment() -> dict[str, Any]:
    """The results' own: which machine it was matters less than that it was one such."""
    versions = environment.versions()
    about = environment.machine(chosen_device("auto"))
    return {
        **{name: versions[name] for name in ("equicolor", "torch", "numpy", "python")},
        "machine": f"{about['system']}, {about['cores']} cores",
        "device": about["device"],
    }


def _markdown(experiment: Experiment, outcome: Outcome, command: str, quick: bool) -> str:
    parts = [f"# {experiment.title}", experiment.about]
    if experiment.paper:
        parts.append(f"In the paper: {experiment.paper}.")
    if quick:
        parts.append(f"**{QUICK}** {experiment.quick}")
    parts.append(f"```\n{command}\n```")
    parts += [_markdown_table(table) for table in outcome.tables]
    parts += [f"![{name}]({name}.png)" for name in outcome.pictures]
    parts += outcome.notes
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: Table) -> str:
    lines = ["| " + " | ".join(map(str, cells)) + " |" for cells in (table.columns, *table.rows)]
    rule = "| --- " + "| ---: " * (len(table.columns) - 1) + "|"
    return "\n".join([f"**{table.title}**", "", lines[0], rule, *lines[1:]])


def _html(
    experiment: Experiment,
    outcome: Outcome,
    pictures: dict[str, bytes],
    command: str,
    quick: bool,
    environment: dict[str, Any],
) -> str:
    say = html.escape
    parts = [f"<h1>{say(experiment.title)}</h1>", f"<p>{say(experiment.about)}</p>"]
    if experiment.paper:
        parts.append(f"<p>In the paper: {say(experiment.paper)}.</p>")
    if quick:
        parts.append(f'<p class="quick"><strong>{say(QUICK)}</strong> {say(experiment.quick)}</p>')
    parts += [_html_table(table) for table in outcome.tables]
    for name, data in pictures.items():
        source = base64.b64encode(data).decode()
        parts.append(f'<p><img alt="{say(name)}" src="data:image/png;base64,{source}"></p>')
    parts += [f"<p>{say(note)}</p>" for note in outcome.notes]
    made = ", ".join(f"{name} {value}" for name, value in environment.items())
    parts.append(f"<h2>Repeat it</h2><pre>{say(command)}</pre><footer>{say(made)}</footer>")
    head = f'<meta charset="utf-8"><title>{say(experiment.title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _html_table(table: Table) -> str:
    def line(tag: str, cells: Sequence[object]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "\n".join(line("td", row) for row in table.rows)
    return f"<table><caption>{html.escape(table.title)}</caption>\n{line('th', table.columns)}\n{body}\n</table>"
