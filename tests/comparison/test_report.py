"""An outcome on disk: files that can be read back, and one report that needs no other file."""

import csv
import json
import re

import pytest
from PIL import Image

from equicolor._tools.pages import Drawing
from equicolor.comparison import write_report
from equicolor.comparison._report import DIFFERS, QUICK
from equicolor.experiments import Experiment, Outcome, Table

RECORDS = [
    {"network": "Hue-3, really", "seed": 1999, "error": 0.012345678901234567},
    {"network": 'a "quoted" one', "seed": 2000, "error": 1e-09, "note": "line\nbreak"},
    {"network": "none", "seed": None, "error": 0.0},
]


CAUSE = "Hue-3 differs since it is <ours>."


def written(folder, quick=False):
    about = ("name", "A <title>", "Table “X & Y”", "About.", lambda *_: outcome, "Less of it.", 1)
    experiment = Experiment(*about, {"Hue-3": CAUSE, "Z2CNN": "Another does."})
    table = Table("Errors & more", ["network", "A/A"], [["Hue-3", "1.00 (0.10)"], ["– the paper's", "<2.00>"]])
    picture = Image.new("RGB", (4, 3), "red")
    drawing = Drawing(picture, "A red card: [4] by 3.", "All of it is red.")
    outcome = Outcome(RECORDS, [table], {"picture": drawing}, ["A note with <angles>."], ["Red it is."])
    return write_report(experiment.heading(quick, {"Hue-3, really"}), outcome, folder, "equicolor reproduce name")


def test_the_report_needs_no_other_file(tmp_path):
    text = written(tmp_path).read_text()
    sources = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"'\s>)]*)""", text)
    assert sources
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert "<script" not in text
    assert "<link" not in text
    assert "http" not in text


def test_what_could_be_taken_for_markup_is_escaped(tmp_path):
    text = written(tmp_path).read_text()
    for shown in ("A &lt;title&gt;", "“X &amp; Y”", "&lt;2.00&gt;", "with &lt;angles&gt;"):
        assert shown in text


def test_metrics_read_back_as_they_were_measured(tmp_path):
    written(tmp_path)
    assert json.loads((tmp_path / "metrics.json").read_text())["records"] == RECORDS
    with (tmp_path / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["network"] for row in rows] == [record["network"] for record in RECORDS]
    assert [float(row["error"]) for row in rows] == [record["error"] for record in RECORDS]
    assert [row["seed"] for row in rows] == ["1999", "2000", ""]
    assert [row["note"] for row in rows] == ["", r"line\nbreak", ""]


def test_pictures_are_files_too(tmp_path):
    written(tmp_path)
    with Image.open(tmp_path / "picture.png") as picture:
        assert picture.size == (4, 3)


@pytest.mark.parametrize("quick", [True, False])
def test_the_quick_version_is_marked_everywhere(tmp_path, quick):
    report = written(tmp_path, quick)
    for text in (report.read_text(), (tmp_path / "table.md").read_text()):
        assert (QUICK in text) == quick
        assert ("Less of it." in text) == quick
    assert json.loads((tmp_path / "metrics.json").read_text())["quick"] is quick


def test_the_command_and_the_environment_are_recorded(tmp_path):
    report = written(tmp_path)
    found = json.loads((tmp_path / "metrics.json").read_text())
    assert found["command"] == "equicolor reproduce name"
    assert {"torch", "equicolor", "machine"} <= set(found["environment"])
    assert "equicolor reproduce name" in report.read_text()


def test_writing_again_replaces_and_leaves_nothing_half_written(tmp_path):
    first = {path.name: path.read_bytes() for path in written(tmp_path).parent.iterdir()}
    written(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first


def test_pictures_say_what_they_show_and_have_captions(tmp_path):
    report = written(tmp_path).read_text()
    assert 'alt="A red card: [4] by 3."' in report
    assert "<figcaption>All of it is red.</figcaption>" in report
    assert "![A red card: (4) by 3.](picture.png)\n\nAll of it is red." in (tmp_path / "table.md").read_text()


def test_the_conclusion_is_in_the_first_lines(tmp_path):
    report = written(tmp_path).read_text()
    assert report.index("Red it is.") < report.index("About.") < report.index("<table>")
    assert (tmp_path / "table.md").read_text().startswith("# A <title>\n\nRed it is.\n")


@pytest.mark.parametrize("quick", [True, False])
def test_known_differences_from_the_paper_are_explained_where_they_are_shown(tmp_path, quick):
    report = written(tmp_path, quick)
    for text in (report.read_text(), (tmp_path / "table.md").read_text()):
        assert (DIFFERS in text) != quick
        assert "Another does." not in text  # of a row that is not there
    assert ("since it is &lt;ours&gt;" in report.read_text()) != quick
