"""The progress bar: on a terminal with the time left and images/s; elsewhere a line now and then; never on stdout."""

import io
import threading
import time

import pytest
import rich.console

from equicolor._tools import progress as module
from equicolor._tools.progress import counted, progress


def test_nothing_is_said_of_what_is_quick_where_nobody_watches(capsys):
    with progress("predicting", 10) as advance:
        advance(10)
    assert capsys.readouterr() == ("", "")


def test_a_log_is_told_now_and_then_that_it_goes_on(capsys, monkeypatch):
    monkeypatch.setattr(module, "_LINE_EVERY", 0.0)
    with progress("predicting", 40) as advance:
        advance(10)
    said = capsys.readouterr()
    assert not said.out
    assert said.err.startswith("predicting: 10 of 40, ")
    assert "images/s, about " in said.err
    assert said.err.endswith(" left\n")


def wait_for(shown, text):
    """A bar is drawn by a thread of its own, ten times a second."""
    end = time.monotonic() + 60
    while text not in shown.getvalue():
        assert time.monotonic() < end, f"{text!r} did not appear"
        time.sleep(0.01)


@pytest.fixture
def terminal(monkeypatch):
    """What a person sees on a terminal."""
    shown = io.StringIO()
    real = rich.console.Console
    monkeypatch.setattr(
        rich.console, "Console", lambda **_: real(file=shown, force_terminal=True, width=120, color_system=None)
    )
    return shown


def test_on_a_terminal_there_is_a_bar_with_the_speed_and_the_time_left(terminal, monkeypatch):
    monkeypatch.setattr(module, "_AFTER", 0.0)
    with progress("predicting", 40) as advance:
        advance(10)
        advance(10)
        wait_for(terminal, "20/40")
    text = terminal.getvalue()
    assert "predicting" in text
    assert "20/40" in text
    assert "images/s" in text
    assert "left" in text


def test_what_takes_long_before_the_first_is_done_has_a_bar_already(terminal, monkeypatch):
    monkeypatch.setattr(module, "_AFTER", 0.01)
    with progress("measuring", 40):
        wait_for(terminal, "0/40")


def test_what_is_over_at_once_has_no_bar(terminal):
    with progress("predicting", 40) as advance:
        advance(40)
    assert "predicting" not in terminal.getvalue()


def test_a_bar_that_stands_still_is_drawn_at_once_and_when_told_and_by_no_thread(terminal):
    threads = threading.active_count()
    with progress("timing", 4, unit="calls", still=True) as advance:
        assert "0/4" in terminal.getvalue()
        assert threading.active_count() == threads
        advance(3)
        assert "3/4" in terminal.getvalue()
        assert "left" in terminal.getvalue()


def test_batches_count_when_they_have_been_used():
    done = []
    for number, (names, _) in enumerate(counted([("a", [1, 2]), ("b", [3])], done.append)):
        assert sum(done) == 2 * number
        assert names == "ab"[number]
    assert done == [2, 1]
