"""Tables as they are printed: words at the left, numbers at the right, cells as they are."""

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
