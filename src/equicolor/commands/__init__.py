"""What the command line does: one typed function for each command, which can be called from Python just as well.

They print what they find and return it: ``equicolor.commands.evaluate("runs/digits", data="digits")``. A file with a
function that :func:`register_command` decorates is a command, found by being there; files without one serve several.
Nothing is computed here: a command asks another package, then shows and writes what that found. Heavy libraries are
imported by the command that needs them, so that ``equicolor --help`` waits for none of them. A parameter that would be
a word of Python's ends in an underscore, which its option on the command line has not.
"""

import importlib
import pkgutil

from equicolor.commands._registry import Command, list_commands, register_command

__all__ = ["Command", "list_commands", "register_command"]

for _file in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_file.name)


def __getattr__(name: str) -> Command:
    """The commands themselves, by name."""
    if name.startswith("_") or name not in (commands := list_commands()):
        raise AttributeError(f"there is no command {name!r} in {__name__}")
    return commands[name]
