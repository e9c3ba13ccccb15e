"""Tables as they are printed: words at the left, numbers at the right, cells as they are and numbers whole."""

import pytest

from equicolor._tools.tables import Table, show_table


def test_the_first_column_stands_at_the_left_and_numbers_at_the_right(capsys):
    show_table(Table("Errors", ("network", "error"), [("Hue-3", 1.5), ("Z2CNN, tuned", 12.25)]))
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "Errors"
    assert "Hue-3            1.5" in lines
    assert "Z2CNN, tuned   12.25" in lines


def test_columns_can_be_placed_otherwise(capsys):
    show_table(Table("", ("band", "what"), [("0°", "red"), ("120°", "green, blue")], left=("what",)))
    shown = capsys.readouterr().out
    assert "   0°   red" in shown
    assert " 120°   green, blue" in shown


def test_brackets_in_a_cell_are_no_markup(capsys):
    show_table(Table("", ("network",), [("Hue-3 [bold] [8,000 training images]",)]))
    assert "Hue-3 [bold] [8,000 training images]" in capsys.readouterr().out


NUMBERS = [f"{place}.5–9{place}.25" for place in range(8)]
TABLE = Table("Title", ("set", *(f"metric {place}" for place in range(8))), [("a set", *NUMBERS)])


@pytest.mark.parametrize("width", [30, 50, 80, 120])
def test_numbers_are_never_cut(width, monkeypatch, capsys):
    monkeypatch.setattr("equicolor._tools.tables._WIDTH", width)
    show_table(TABLE)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if "a set" in line]
    assert [cell for row in rows for cell in row.replace("a set", "").split()] == NUMBERS
    assert (len(rows) == 1) == (width == 120)


def test_words_are_folded_instead(monkeypatch, capsys):
    monkeypatch.setattr("equicolor._tools.tables._WIDTH", 40)
    show_table(Table("Title", ("what", "where"), [("a", "word " * 20)], left=("what", "where")))
    lines = capsys.readouterr().out.splitlines()
    assert sum("what" in line for line in lines) == 1
    assert sum(line.count("word") for line in lines) == 20
