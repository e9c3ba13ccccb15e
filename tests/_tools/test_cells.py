"""Names in tables: readable everywhere, run nowhere."""

import csv
import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equicolor._tools.cells import csv_line, escaped, printable, read_csv_line, unescaped
from equicolor._tools.files import write_csv

#: What spreadsheets take for a formula, ASCII and as wide as an ideograph.
STARTS = tuple("=+-@＝＋－＠\t\r\n")


@pytest.mark.parametrize("name", ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1"])
def test_no_cell_starts_as_a_formula_does(name, tmp_path):
    path = write_csv(tmp_path / "a.csv", [name, "b"], [[name, 1.5]])
    rows = list(csv.reader(path.open(newline="", encoding="utf-8")))
    assert all(not cell.startswith(STARTS) for row in rows for cell in row)


def test_numbers_stay_numbers():
    assert (
        csv_line([-1.5, -3, "-1.5", "-2.5e-03", "+90", "-inf", None, True]) == "-1.5,-3,-1.5,-2.5e-03,+90,-inf,,True\n"
    )


def test_a_separator_of_another_country_starts_no_cell():
    assert csv_line(["a;=1+1.png"]) == '"a;=1+1.png"\n'


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("'=+-@,\"0\n")), min_size=1))
def test_what_is_written_is_read_back_from_a_line(values):
    line = csv_line(values)
    assert line.count("\n") == 1
    assert read_csv_line(line) == [printable(value) for value in values]
    assert all(unescaped(escaped(value)) == value for value in values)
    assert next(csv.reader(io.StringIO(line))) == [escaped(printable(value)) for value in values]


@given(st.text(st.sampled_from("'=1-"), max_size=5), st.text(st.sampled_from("'=1-"), max_size=5))
def test_two_names_are_never_written_alike(one, other):
    assert (escaped(one) == escaped(other)) == (one == other)


@given(st.binary())
def test_any_bytes_of_a_name_are_a_line_of_utf8(name):
    name = os.fsdecode(name)
    assert printable(name).encode("utf-8").decode().splitlines() in ([printable(name)], [])
    assert printable(printable(name)) == printable(name)


@pytest.mark.parametrize("line", ['"a,b\n', '"a"b",c\n'])
def test_half_a_row_is_no_row(line):
    with pytest.raises(ValueError, match="no row of a CSV file"):
        read_csv_line(line)
