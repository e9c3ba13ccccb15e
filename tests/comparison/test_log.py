"""The time left, as it is told while an experiment runs."""

from equicolor.comparison._log import Clock


def test_the_time_left_is_told_from_runs_of_the_same_kind():
    clock = Clock(["", "", "hue4", "hue4", "hue8"])
    assert clock.left(0) == ""
    clock.took(0, 10.0)
    clock.took(2, 40.0)
    assert clock.left(3) == " (about 65 s left)"  # 40 for a hue4, the mean of 25 for a kind not seen yet
    clock.took(3, 400.0)
    assert clock.left(2) == " (about 10 min left)"


def test_a_kind_not_seen_yet_takes_as_long_as_was_expected():
    clock = Clock(["plain", "canonical"], expected={"plain": 3.0, "canonical": 60.0})
    clock.took(0, 10.0)
    assert clock.left(0) == " (about 70 s left)"


def test_finished_runs_take_no_more_time():
    clock = Clock(["hue4"] * 4, finished=[False, True, True, False])
    clock.took(0, 40.0)
    assert clock.left(3) == clock.left(1) == " (about 40 s left)"
