"""The command line: the functions of :mod:`equicolor.commands` as subcommands, made by jsonargparse from their types.

What a user can get wrong ends in one line on stderr and an exit code: 2 for a command that cannot be understood, 1 for
one that fails, 130 for Ctrl-C. ``--debug`` shows the traceback instead.
"""

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from equicolor._tools.optional import require
from equicolor.commands import COMMANDS

_DESCRIPTION = "Colour-equivariant networks: train, evaluate and use them."
_COMPLETION = """\
examples:
  equicolor data
  equicolor train --data hue_shift_digits --model z2cnn --group hue4 --set epochs=5 --set test_splits=test_b \\
    --folder runs/digits
  equicolor evaluate runs/digits --data digits --curve hue

shell completion, for bash (zsh and tcsh likewise):
  eval "$(equicolor --print_completion shtab-bash)"
"""
#: What a user can cause, as opposed to a mistake of ours.
_EXPECTED = (ValueError, OSError, ImportError, RuntimeError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line on these arguments, by default those of the process, and returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        jsonargparse = require("jsonargparse", "the command line")
        _import_plugins()
        try:
            function, keywords = _parsed(jsonargparse, given)
        except jsonargparse.ArgumentError as error:
            command = next((c for c in COMMANDS if c.__name__ in given), None)
            see = f"equicolor {command.__name__} --help" if command else "equicolor --help"
            return _failed(f"{_misunderstood(error, command)} (see: {see})", 2)
        function(**keywords)
    except KeyboardInterrupt:
        return _failed("stopped", 130)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if debug:
            raise
        return _failed(_explained(error), 130 if type(error).__name__ == "StoppedError" else 1)
    return 0


def _import_plugins() -> None:
    """Imports the modules that EQUICOLOR_PLUGINS names: those that register groups of a user's own, say."""
    names = [name for name in os.environ.get("EQUICOLOR_PLUGINS", "").split(",") if name]
    if names:
        sys.path.insert(0, os.getcwd())
    try:
        for name in names:
            importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"EQUICOLOR_PLUGINS names {name!r}, which cannot be imported: {error}") from None


def _parsed(jsonargparse: Any, arguments: list[str]) -> tuple[Callable[..., object], dict[str, Any]]:
    """The function that the arguments ask for, and what to call it with."""
    parser = make_parser(jsonargparse)
    namespace = parser.parse_args(arguments or ["--help"])
    function = next(command for command in COMMANDS if command.__name__ == namespace.command)
    options = {name: value for name, value in namespace[namespace.command].items() if name != "debug"}
    return function, {_parameter(function, name): value for name, value in options.items()}


def make_parser(jsonargparse: Any) -> Any:
    """The parser, with a subcommand for each function."""
    from equicolor import __version__

    jsonargparse.set_parsing_settings(add_print_completion_argument=True)
    options = {"exit_on_error": False, "formatter_class": _formatter(jsonargparse)}
    parser = jsonargparse.ArgumentParser(
        prog="equicolor", description=_DESCRIPTION, epilog=_COMPLETION, version=__version__, **options
    )
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    subcommands = parser.add_subcommands(required=True, dest="command", title="commands", description="")
    for command in COMMANDS:
        text = require("docstring_parser", "the command line").parse(command.__doc__ or "")
        examples = "".join(f"\n  {line}" for e in text.examples for line in (e.description or "").splitlines())
        body = "\n\n".join(filter(None, (text.short_description, text.long_description)))
        subparser = jsonargparse.ArgumentParser(description=body, epilog=f"example:{examples}", **options)
        _add_arguments(subparser, command, {each.arg_name: each.description or "" for each in text.params})
        subparser.add_argument("--debug", action="store_true", help="show the traceback of an error")
        subcommands.add_subcommand(command.__name__, subparser, help=text.short_description)
    return parser


def _add_arguments(parser: Any, command: Callable[..., object], helps: dict[str, str]) -> None:
    """The parameters of a function; jsonargparse makes options of all but places, lists, flags and Python's words."""
    by_hand = set()
    for name, parameter in inspect.signature(command).parameters.items():
        positional = parameter.kind is not parameter.KEYWORD_ONLY
        several = parameter.annotation == Sequence[str]
        option, text = name if positional else "--" + name.rstrip("_"), helps[name].replace("\n", " ")
        required = parameter.default is parameter.empty
        if positional and several:
            parser.add_argument(option, nargs="*", type=str, help=text, metavar=name.upper())
        elif positional:
            parser.add_argument(option, nargs=None if required else "?", type=str, help=text, metavar=name.upper())
        elif several and name == "set_":
            parser.add_argument(option, action="append", type=str, default=[], help=text, metavar="KEY=VALUE")
        elif several:
            parser.add_argument(option, nargs="+", type=str, default=list(parameter.default), help=text)
        elif parameter.annotation is bool:
            parser.add_argument(option, action="store_true", help=text)
        elif name.endswith("_"):
            parser.add_argument(option, type=parameter.annotation, default=parameter.default, help=text)
        else:
            continue
        by_hand.add(name)
    parser.add_function_arguments(command, as_group=False, as_positional=False, skip=by_hand)


def _parameter(function: Callable[..., object], option: str) -> str:
    return option if option in inspect.signature(function).parameters else f"{option}_"


def _formatter(jsonargparse: Any) -> type:
    """Paragraphs and examples as they are written; of an option what it means and its default, where it has one."""
    from argparse import RawDescriptionHelpFormatter

    def help_string(_self: Any, action: Any) -> str:
        text = (action.help or "").rstrip(".")
        if action.required and action.option_strings:
            return f"{text} (required)"
        shown = action.option_strings and action.default not in (None, False, [], "==SUPPRESS==")
        return f"{text} (default: %(default)s)" if shown else text

    bases = (jsonargparse.DefaultHelpFormatter, RawDescriptionHelpFormatter)
    return type("Formatter", bases, {"_get_help_string": help_string})


def _misunderstood(error: Exception, command: Callable[..., object] | None) -> str:
    """What is wrong with the arguments, in the words of the command line instead of the parser's."""
    message = _one_line(error)
    if command is None:
        return message
    key, value = re.search(r'Parser key "([\w.]+)"', message), re.search(r"(?:Given|Got) value: (.*)$", message)
    parameters = inspect.signature(command).parameters
    if key and value and (name := _parameter(command, key[1].split(".")[-1])) in parameters:
        return f"--{name.rstrip('_')} takes {_spoken(parameters[name].annotation)}, got {value[1]!r}"
    return message.replace(f"{command.__name__}.", "")


def _spoken(annotation: Any) -> str:
    """A type in words; of an optional one, the type that it may be."""
    if get_origin(annotation) is Literal:
        return f"one of {', '.join(get_args(annotation))}"
    if get_origin(annotation) in (UnionType, Union):
        return _spoken(get_args(annotation)[0])
    return {int: "a whole number", float: "a number"}.get(annotation, "another kind of value")


def _explained(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, _EXPECTED):
        return _one_line(error)
    return f"{type(error).__name__}: {_one_line(error)} (a mistake of equicolor's: please report it, with --debug)"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _failed(message: str, code: int) -> int:
    print(f"equicolor: {message}", file=sys.stderr)
    return code
