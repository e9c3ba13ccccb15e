"""Commands: those of the package are found by being there, and another is added from outside."""

import sys

import pytest

import equicolor.commands
from equicolor.cli import main
from equicolor.commands import _registry, list_commands, register_command

PLUGIN = '''
from equicolor.commands import register_command

@register_command()
def greet(name: str, *, times: int = 1) -> None:
    """Greets somebody.

    Args:
        name: who is greeted.
        times: how often.

    Example:
        equicolor greet you --times 2
    """
    print("hello " * times + name)
'''


@pytest.fixture
def outside(monkeypatch):
    """What a test registers is forgotten after it."""
    for name in ("_COMMANDS", "_PLACES"):
        monkeypatch.setattr(_registry, name, dict(getattr(_registry, name)))


def plug_in(folder, monkeypatch, code):
    """An installed package, as pip leaves it behind, that names a module of its own as a plugin."""
    (folder / "greetings.py").write_text(code)
    about = folder / "greetings-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[equicolor.plugins]\ngreetings = greetings\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "greetings", raising=False)


def test_commands_are_listed_in_their_order():
    assert list(list_commands())[:4] == ["train", "compare", "evaluate", "predict"]


def test_a_command_is_an_attribute_of_the_package():
    assert equicolor.commands.evaluate is list_commands()["evaluate"]
    with pytest.raises(AttributeError, match="no command 'evaluated'"):
        equicolor.commands.evaluated  # noqa: B018


def test_a_command_of_another_package_is_run_like_ours(outside, tmp_path, monkeypatch, capsys):
    plug_in(tmp_path, monkeypatch, PLUGIN)
    assert main(["greet", "you", "--times", "2"]) == 0
    assert capsys.readouterr().out == "hello hello you\n"
    assert list(list_commands())[-1] == "greet"
    assert main(["greet", "you", "--times", "often"]) == 2
    assert "argument --times: expected a whole number, got 'often'" in capsys.readouterr().err


def test_a_broken_plugin_is_named(outside, tmp_path, monkeypatch, capsys):
    plug_in(tmp_path, monkeypatch, "1 / 0")
    assert main(["models"]) == 1
    assert "the plugin greetings cannot be imported: division by zero" in capsys.readouterr().err


def test_a_parameter_without_a_type_is_refused(outside):
    def greet(name): ...

    def greet_later(name: "str"): ...

    for function in (greet, greet_later):
        with pytest.raises(TypeError, match=f"name of the command '{function.__name__}' has no type that can be read"):
            register_command()(function)


def test_two_commands_cannot_have_one_name(outside):
    def evaluate():
        """Another."""

    with pytest.raises(ValueError, match=r"a command 'evaluate' already, of equicolor\.commands\._evaluate"):
        register_command()(evaluate)
