"""Numbers and lists as a person says them."""

from collections.abc import Sequence

#: More names than these are counted.
_MOST = 5


def spoken_time(seconds: float) -> str:
    """A time in words.

    >>> spoken_time(45), spoken_time(600), spoken_time(9000)
    ('45 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def spoken_size(count: int) -> str:
    """Bytes as a person reads them.

    >>> spoken_size(142_000), spoken_size(25_100_000)
    ('142 kB', '25.1 MB')
    """
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:,.1f} MB"


def in_unit(number: str, unit: str) -> str:
    """A number with its unit: signs stand close, words do not.

    >>> in_unit("90", "°"), in_unit("+0.5", "stops"), in_unit("3", "")
    ('90°', '+0.5 stops', '3')
    """
    return f"{number} {unit}" if unit[:1].isalnum() else f"{number}{unit}"


def first_line(error: BaseException) -> str:
    r"""What an error says, in a line; its name, if it says nothing.

    >>> first_line(ValueError("no such thing\nat all")), first_line(KeyError())
    ('no such thing', 'KeyError')
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def named(names: Sequence[str]) -> str:
    """Names in a sentence, which stays short.

    >>> named(["red", "green", "blue"]), named(list("abcdefg"))
    ('red, green and blue', 'a, b, c, d and 3 others')
    """
    shown = list(names) if len(names) <= _MOST else [*names[: _MOST - 1], f"{len(names) - _MOST + 1:,} others"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
