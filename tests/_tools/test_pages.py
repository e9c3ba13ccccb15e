"""Reports as pages: on a phone nothing is cut, in the dark they are dark, and pictures say what they show."""

import re

import pytest
from PIL import Image

from equicolor._tools.files import png
from equicolor._tools.pages import html_command, html_conclusion, html_page, html_picture, html_table
from equicolor._tools.tables import Table

WIDE = Table(
    "A wide table with a title that is long", ["network", *map(str, range(30))], [["Hue-4", *["0.0 ± 0.1"] * 30]]
)
CARD = "getComputedStyle(document.querySelector('.picture')).backgroundColor"


def report():
    picture = html_picture(png(Image.new("RGB", (1500, 300), "white")), "Bars: Z2CNN 52.7, Hue-4 0.0.", "Errors.")
    parts = [html_conclusion(["Hue-4 errs least."]), html_table(WIDE), picture]
    return html_page("A report", [*parts, html_command("equicolor reproduce " + "x" * 200, "made by us")])


def test_pictures_have_an_alternative_a_caption_and_their_size():
    text = html_picture(png(Image.new("RGB", (40, 30))), 'Bars: "a" 1 < b 2.', "Errors & more.")
    assert 'alt="Bars: &quot;a&quot; 1 &lt; b 2."' in text
    assert 'width="40" height="30"' in text
    assert "<figcaption>Errors &amp; more.</figcaption>" in text


def test_words_in_tables_stand_at_the_left_and_lines_stay_lines():
    text = html_table(Table("t", ["a", "b", "c"], [["x", "y", "1\n2"]], left=("a", "b")))
    assert '<td class="word">y</td><td>1<br>2</td>' in text


def test_the_conclusion_comes_before_everything_but_the_title():
    text = report()
    assert text.index("Hue-4 errs least.") < text.index("<table>") < text.index("<img")


@pytest.fixture
def opened(browser, tmp_path):
    """The report on a page of this width, in this light."""
    path = tmp_path / "report.html"
    path.write_text(report(), encoding="utf-8")
    page = browser.new_page()

    def show(width, scheme="light"):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(path.as_uri())
        return page

    yield show
    page.close()


def test_a_phone_shows_all_of_it(opened):
    page = opened(390)
    assert page.evaluate("innerWidth") == 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for box in (".scroll", ".picture", "pre"):  # what is wider scrolls in a box of its own, to its end
        wide, shown = page.evaluate(f"(b => [b.scrollWidth, b.clientWidth])(document.querySelector('{box}'))")
        assert shown <= 390 < wide
        page.evaluate(f"document.querySelector('{box}').scrollLeft = 100000")
        assert page.evaluate(f"document.querySelector('{box}').scrollLeft") == wide - shown
    title = page.evaluate("document.querySelector('caption span').getBoundingClientRect().toJSON()")
    assert 0 <= title["left"] < title["right"] <= 390


def test_a_desk_shows_pictures_whole(opened):
    page = opened(1200)
    assert page.evaluate("(b => b.scrollWidth <= b.clientWidth)(document.querySelector('.picture'))")


def brightness(color):
    return sum(int(part) for part in re.findall(r"\d+", color)[:3]) / 3


def test_in_the_dark_the_page_is_dark_and_pictures_lie_on_white(opened):
    body = "(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))"
    for scheme, ink, paper in (("light", (0, 80), (200, 255)), ("dark", (200, 255), (0, 80))):
        page = opened(390, scheme)
        for color, (low, high) in zip(page.evaluate(body), (ink, paper), strict=True):
            assert low <= brightness(color) <= high
    assert brightness(opened(390, "dark").evaluate(CARD)) == 255
