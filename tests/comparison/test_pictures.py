"""Bars: from zero, with their numbers, a colour for each network that is the same in all panels."""

from equicolor._tools.palette import COLORS
from equicolor.comparison import Measured
from equicolor.comparison._pictures import drawn_bars, panels_of_bars

PANELS = {
    "seen": {"plain": Measured([0.1, 0.2]), "gray": Measured([0.0, 0.0]), "hue4": Measured([0.3])},
    "unseen": {"plain": Measured([0.4, 0.5]), "hue4": Measured([0.1])},
}


def test_a_network_has_one_colour_and_one_place_in_all_panels():
    seen, unseen = panels_of_bars(PANELS, "error in %").axes
    bars = [{round(bar.get_y(), 3): bar.get_facecolor() for bar in axes.patches} for axes in (seen, unseen)]
    assert len(set(bars[0].values())) == 3
    assert bars[1].items() <= bars[0].items()
    assert [label.get_text() for label in seen.get_yticklabels()] == ["plain", "gray", "hue4"]


def test_bars_begin_at_zero_and_say_their_numbers_zero_too():
    axes = panels_of_bars(PANELS, "error in %").axes[0]
    assert {bar.get_x() for bar in axes.patches} == {0}
    assert axes.get_xlim()[0] == 0
    assert [text.get_text() for text in axes.texts] == ["15.0 ± 7.1", "0.0 ± 0.0", "30.0"]


def test_nothing_but_zeros_can_be_drawn():
    axes = panels_of_bars({"test": {"plain": Measured([0.0])}}, "error in %").axes[0]
    assert axes.get_xlim() == (0, 1)


def test_a_zero_is_drawn_as_a_line_at_zero_in_the_colour_of_its_network():
    axes = panels_of_bars(PANELS, "error in %").axes[0]
    zeros = [line for line in axes.lines if list(line.get_xdata()) == [0, 0]]
    assert [line.get_color() for line in zeros] == [COLORS["grey"]]
    low, high = zeros[0].get_ydata()
    assert low < 1 < high  # its place
    assert zeros[0].get_linewidth() > 1


def test_bars_have_the_colours_of_their_networks_whatever_stands_beside_them():
    from matplotlib.colors import to_hex

    alone = panels_of_bars({"test": {"hue4": Measured([0.3])}}, "error in %").axes[0].patches[0]
    assert to_hex(alone.get_facecolor()) == COLORS["hue"]
    assert to_hex(panels_of_bars(PANELS, "error in %").axes[0].patches[2].get_facecolor()) == COLORS["hue"]


def test_numbers_have_room_beside_the_longest_bar():
    figure = panels_of_bars({"test": {"plain": Measured([0.2, 0.9])}}, "error in %")
    figure.draw_without_rendering()
    axes = figure.axes[0]
    text = axes.texts[0].get_window_extent()
    assert text.x1 <= axes.get_window_extent().x1


def test_the_alternative_of_bars_says_their_numbers():
    drawing = drawn_bars(PANELS, "error in %", "* reduced: see the table")
    assert "seen: plain 15.0 ± 7.1, gray 0.0 ± 0.0, hue4 30.0; unseen: plain 45.0 ± 7.1, hue4 10.0" in drawing.alt
    assert "one standard deviation" in drawing.caption
    assert "* reduced: see the table." in drawing.caption
