"""Timing: everything in turn, medians over rounds, ratios within them; by a clock of our own, never by the wall's."""

from contextlib import contextmanager

import pytest

from equicolor._tools.timing import Timings, interleaved


class Clock:
    """Candidates that take known times, and a clock that knows it."""

    def __init__(self):
        self.now, self.calls = 0.0, []

    def __call__(self):
        return self.now

    def candidate(self, name, *durations):
        def call():
            duration = durations[self.calls.count(name) % len(durations)]
            self.calls.append(name)
            self.now += duration

        return call


def test_candidates_run_in_turn_and_every_other_round_backwards():
    clock = Clock()
    interleaved({name: clock.candidate(name, 1) for name in "abc"}, rounds=3, warm_up=1, clock=clock)
    assert "".join(clock.calls) == "abc" + "abc" + "cba" + "abc"


def test_times_are_medians_without_the_warm_up():
    clock = Clock()
    timings = interleaved({"a": clock.candidate("a", 100, 2, 9, 3)}, rounds=3, warm_up=1, clock=clock)
    assert timings.seconds == {"a": [2, 9, 3]}
    assert timings.median("a") == 3


def test_what_watches_is_told_of_every_call_and_is_not_timed():
    clock, told = Clock(), []

    @contextmanager
    def watch(title, total):
        told.append((title, total))

        def advance(count):
            clock.now += 1000
            told.append(count)

        yield advance

    calls = {name: clock.candidate(name, 1) for name in "ab"}
    timings = interleaved(calls, rounds=2, warm_up=1, clock=clock, watch=watch, title="both")
    assert told == [("both", 6), 1, 1, 1, 1, 1, 1]
    assert timings.seconds == {"a": [1, 1], "b": [1, 1]}


def test_a_ratio_does_not_see_that_the_machine_slows_down():
    drifting = Timings({"plain": [1.0, 2.0, 5.0, 8.0], "group": [1.5, 3.0, 7.5, 12.0]})
    assert drifting.ratio("group", "plain") == 1.5
    # An outlier in one round moves the ratio of that round only.
    assert Timings({"plain": [1, 1, 9], "group": [2, 2, 2]}).ratio("group", "plain") == 2


def test_no_rounds_are_refused():
    with pytest.raises(ValueError, match="at least one round"):
        interleaved({}, rounds=0)
