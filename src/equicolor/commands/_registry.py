"""Which commands there are: the functions in the files of this package, and those that others register."""

import inspect
from collections.abc import Callable
from typing import TypeAlias, TypeVar

Command: TypeAlias = Callable[..., object]
C = TypeVar("C", bound=Command)

_COMMANDS: dict[str, Command] = {}
_PLACES: dict[str, int] = {}


def register_command(place: int = 1000) -> Callable[[C], C]:
    """Makes a function a command of ``equicolor``, under its own name.

    A file of this package in which a function is decorated with it is all that a new command takes; a module of your
    own does the same, and is found by ``equicolor`` if its package names it as an entry point in the group
    ``equicolor.plugins``. The command line is made from the function: parameters before ``*`` are positional, others
    are options, their types say what they take, and ``--help`` is the docstring, with sections for arguments and an
    example as those here have. What is heavy should be imported inside the function.

    Args:
        place: in the list of commands, which is sorted by it; ours are below 100.

    Raises:
        ValueError: there is another command of this name.
        TypeError: a parameter has no type.

    Example::

        @register_command()
        def greet(name: str, *, times: int = 1) -> None:
            "Greets somebody."
            print(" ".join(["hello"] * times), name)
    """

    def register(function: C) -> C:
        name = function.__name__
        if name in _COMMANDS:
            raise ValueError(f"there is a command {name!r} already, of {_COMMANDS[name].__module__}")
        for parameter in inspect.signature(function).parameters.values():
            if parameter.annotation is parameter.empty or isinstance(parameter.annotation, str):
                raise TypeError(
                    f"{parameter.name} of the command {name!r} has no type that can be read: write one, and not as a "
                    "text, which 'from __future__ import annotations' makes of it too"
                )
        _COMMANDS[name], _PLACES[name] = function, place
        return function

    return register


def list_commands() -> dict[str, Command]:
    """The commands by name, in the order of ``equicolor --help``."""
    return {name: _COMMANDS[name] for name in sorted(_COMMANDS, key=lambda name: (_PLACES[name], name))}
