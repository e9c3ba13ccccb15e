"""The command that does it again, as it can be typed."""

import shlex
from collections.abc import Sequence


def command_line(command: str, *words: str, **options: object) -> str:
    """A command with its arguments and its options; those that are None, false or empty are left out.

    >>> command_line("bench", quick=True, groups=["hue3", "hue4"], rounds=None, set_=["lr=0.1", "epochs=2"])
    'equicolor bench --quick --groups hue3 hue4 --set lr=0.1 --set epochs=2'
    """
    typed = ["equicolor", command, *words]
    for name, value in options.items():
        option = f"--{name.rstrip('_')}"
        if name == "set_" and isinstance(value, Sequence):
            typed += [word for pair in value for word in (option, pair)]
        elif value is True:
            typed.append(option)
        elif value:
            several = isinstance(value, Sequence) and not isinstance(value, str)
            typed += [option, *map(str, value if several else [value])]  # type: ignore[call-overload]
    return shlex.join(typed)
