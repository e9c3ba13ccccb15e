"""Names in tables: text that every file can hold and no spreadsheet runs, and rows of CSV files made of it."""

import csv
import io
import re
from collections.abc import Sequence

#: How a cell starts that spreadsheets take for a formula, behind apostrophes of its own.
_FORMULA = re.compile("'*[=+@＝＋－＠-]")
#: What no line of UTF-8 holds: characters that end it or that a terminal obeys, and halves of pairs, as which Python
#: keeps the bytes of a file's name that are no UTF-8.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
#: What a field is quoted for: commas, and what separates fields where a comma is a decimal point.
_QUOTED = re.compile('[,;"]')


def printable(name: str) -> str:
    r"""A name as text of one line in UTF-8: bytes that are no UTF-8 become ``\xff``, control characters ``\n``.

    >>> print(printable("caf\udce9.png"), printable("café.png"), printable("a\nb.png"))
    caf\xe9.png café.png a\nb.png
    """
    return _UNPRINTABLE.sub(_code, name)


def _code(found: re.Match[str]) -> str:
    number = ord(found.group())
    return f"\\x{number - 0xDC00:02x}" if 0xDC80 <= number <= 0xDCFF else ascii(found.group())[1:-1]


def six_digits(number: float) -> float:
    """A number as it is written: six digits, however small it is.

    >>> six_digits(0.123456789), six_digits(1.23456789e-9)
    (0.123457, 1.23457e-09)
    """
    return float(f"{number:.6g}")


def escaped(text: str) -> str:
    """A cell of a CSV file: with an apostrophe in front where a spreadsheet would take it for a formula.

    >>> escaped("=1+1"), escaped("cat"), escaped("-0.5")
    ("'=1+1", 'cat', '-0.5')
    """
    return f"'{text}" if _is_formula(text) else text


def unescaped(cell: str) -> str:
    """What :func:`escaped` was given.

    >>> unescaped("'=1+1"), unescaped("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def csv_line(values: Sequence[object]) -> str:
    """A row of a CSV file. Numbers are as Python writes them; text is quoted where it must be, and never a formula."""
    fields = [_field(value) for value in values]
    return ",".join(fields) + "\n" if fields != [""] else '""\n'  # an empty line would be no row


def read_csv_line(line: str) -> list[str]:
    """The cells of a row that :func:`csv_line` wrote, as text.

    Raises:
        ValueError: a quote is open at its end, or stands where none may.
    """
    try:
        return [unescaped(cell) for cell in next(csv.reader(io.StringIO(line), strict=True), [])]
    except csv.Error as error:
        raise ValueError(f"no row of a CSV file: {error}") from None


def _field(value: object) -> str:
    text = escaped(printable(value)) if isinstance(value, str) else "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not is_number(text)


def is_number(text: str) -> bool:
    """Whether a text is a number, also 1e-3, which YAML 1.1 reads as text."""
    try:
        float(text)
    except ValueError:
        return False
    return True
