"""The command line: the functions of :mod:`equicolor.commands` as subcommands, made by jsonargparse from their types.

What a user can get wrong ends in one line on stderr and an exit code: 2 for a command that cannot be understood, 1 for
one that fails, 130 for Ctrl-C. ``--debug`` shows the traceback instead.
"""

import inspect
import os
import sys
import warnings
from argparse import ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from types import UnionType
from typing import Any, Literal, TextIO, Union, get_args, get_origin

from equicolor._tools.optional import require
from equicolor._tools.plugins import load_plugins
from equicolor._tools.spelling import american
from equicolor.commands import Command, list_commands

_DESCRIPTION = "Colour-equivariant networks: train, evaluate and use them."
_COMPLETION = """\
examples:
  equicolor data
  equicolor train --data hue_shift_digits --model z2cnn --group hue4 --epochs 5 --test test_b \\
    --folder runs/digits
  equicolor evaluate runs/digits --data digits --curve hue

shell completion, for bash (zsh and tcsh likewise):
  eval "$(equicolor --print_completion shtab-bash)"
"""
#: What a user can cause, as opposed to a mistake of ours.
_EXPECTED = (ValueError, OSError, ImportError, RuntimeError)
#: How much alike, from 0 to 1, what was typed and what may have been meant are at least.
_LIKENESS = 0.75


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line on these arguments, by default those of the process, and returns the exit code."""
    given = _as_written(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    with warnings.catch_warnings():
        if not debug:
            warnings.showwarning = _Notes()
        return _run(given, debug)


def _run(given: list[str], debug: bool) -> int:
    """The command, and the exit code."""
    try:
        jsonargparse = require("jsonargparse", "the command line")
        load_plugins()
        try:
            function, keywords = _parsed(jsonargparse, given)
        except jsonargparse.ArgumentError as error:
            command = next((name for name in given if name in list_commands()), None)
            see = f"equicolor {command} --help" if command else "equicolor --help"
            return _failed(f"{_one_line(error)}{_hint(command, given)} (see: {see})", 2)
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


class _Notes:
    """Warnings as a user reads them: each once, without the line of code that gives it, and none for programmers."""

    def __init__(self) -> None:
        self.said: set[str] = set()

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = " ".join(str(message).split())
        if issubclass(category, UserWarning) and text not in self.said:
            self.said.add(text)
            print(f"note: {text}", file=sys.stderr)


def _as_written(arguments: Sequence[str]) -> list[str]:
    """The arguments with the names of options as they are known: dashes for underscores, American spelling."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    known = []
    for argument in arguments[:end]:
        name, equals, value = argument.partition("=")
        if name.startswith("--") and not name.startswith("--print_"):  # of jsonargparse's own
            name = american(name.replace("_", "-"))
        known.append(name + equals + value)
    return known + list(arguments[end:])


def _hint(command: str | None, given: Sequence[str]) -> str:
    """What may have been meant by an option or a command that is none."""
    if command is None:
        wrong = next((word for word in given if not word.startswith("-")), "")
        close = get_close_matches(wrong, list_commands(), n=1)
        return f". Did you mean {close[0]}?" if close else ""
    parameters = inspect.signature(list_commands()[command]).parameters.values()
    options = [_option(each.name) for each in parameters if each.kind is each.KEYWORD_ONLY]
    typed = [word.partition("=")[0] for word in given if word.startswith("--")]
    wrong = next((option for option in typed if option not in (*options, "--debug")), "")
    close = get_close_matches(wrong, options, n=1, cutoff=_LIKENESS)
    if close:
        return f". Did you mean {close[0]}?"
    if wrong and "--set" in options:
        from equicolor.train import meant

        field = meant(wrong.strip("-").replace("-", "_"), likeness=_LIKENESS)
        return f". Did you mean --set {field}=VALUE?" if field else ""
    return ""


def _option(parameter: str) -> str:
    """The option of a parameter: ``set_`` is a word of Python's without its underscore."""
    return "--" + parameter.rstrip("_").replace("_", "-")


def _parsed(jsonargparse: Any, arguments: list[str]) -> tuple[Command, dict[str, Any]]:
    """The function that the arguments ask for, and what to call it with."""
    parser = make_parser(jsonargparse)
    namespace = parser.parse_args(arguments or ["--help"])
    function = list_commands()[namespace.command]
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
    for name, command in list_commands().items():
        text = require("docstring_parser", "the command line").parse(command.__doc__ or "")
        examples = "".join(f"\n  {line}" for e in text.examples for line in (e.description or "").splitlines())
        body = "\n\n".join(filter(None, (text.short_description, text.long_description)))
        subparser = jsonargparse.ArgumentParser(description=body, epilog=examples and f"example:{examples}", **options)
        _add_arguments(subparser, command, {each.arg_name: each.description or "" for each in text.params})
        subparser.add_argument("--debug", action="store_true", help="show the traceback of an error")
        subcommands.add_subcommand(name, subparser, help=text.short_description)
    return parser


def _add_arguments(parser: Any, command: Command, helps: dict[str, str]) -> None:
    """The parameters of a function, in their order."""
    for name, parameter in inspect.signature(command).parameters.items():
        several, kind, default = parameter.annotation == Sequence[str], _kind(parameter.annotation), parameter.default
        required = default is parameter.empty
        options: dict[str, Any] = {"help": helps.get(name, "").replace("\n", " "), "type": _READ.get(kind, kind)}
        if several:
            options |= {"type": str, "nargs": "+"}
        if not required:
            options["default"] = list(default) if several else default
        if parameter.kind is not parameter.KEYWORD_ONLY:
            options |= {"nargs": "*" if several else None if required else "?", "metavar": name.upper()}
            parser.add_argument(name, **options)
            continue
        if name == "set_":
            options |= {"action": "append", "nargs": None, "metavar": "KEY=VALUE"}
        elif kind is bool:
            options = {"help": options["help"], "action": "store_true"}
        elif get_origin(kind) is Literal:
            options |= {"type": str, "choices": get_args(kind)}
        parser.add_argument(_option(name), required=required, **options)


def _kind(annotation: Any) -> Any:
    """A type; of an optional one, the type that it may be."""
    return get_args(annotation)[0] if get_origin(annotation) in (UnionType, Union) else annotation


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a number, got {text!r}") from None


#: How numbers are read: jsonargparse's own errors are about its types, these about what was typed.
_READ: dict[Any, Callable[[str], float]] = {int: _whole_number, float: _number}


def _parameter(function: Command, option: str) -> str:
    return option if option in inspect.signature(function).parameters else f"{option}_"


def _formatter(jsonargparse: Any) -> type:
    """Paragraphs and examples as they are written; of an option what it means and its default, where it has one."""

    def help_string(_self: Any, action: Any) -> str:
        text = (action.help or "").rstrip(".")
        if action.required and action.option_strings:
            return f"{text} (required)"
        shown = action.option_strings and action.default not in (None, False, [], "==SUPPRESS==")
        return f"{text} (default: %(default)s)" if shown else text

    bases = (jsonargparse.DefaultHelpFormatter, RawDescriptionHelpFormatter)
    return type("Formatter", bases, {"_get_help_string": help_string})


def _explained(error: Exception) -> str:
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return (
            f"there is not enough memory ({_one_line(error)}): take a smaller network, smaller images, or fewer at once"
        )
    if isinstance(error, FileExistsError) and error.filename:
        return f"{error.filename} is a file: expected a folder"
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
