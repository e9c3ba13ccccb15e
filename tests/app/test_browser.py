"""The page in a real browser: sliders move what they should, broken files are answered, nothing leaves the machine."""

import re

import pytest
from PIL import Image


@pytest.fixture
def page(browser, address):
    page = browser.new_page()
    asked, failed = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(address)
    page.wait_for_selector("#ec-answers [data-network]")
    yield page
    page.close()
    elsewhere = [url for url in asked if not url.startswith((address, "data:", "blob:"))]
    assert not elsewhere, "the page asks nobody but its own server"
    assert not failed


def bars(page):
    """network → class → probability, as they are drawn."""
    return {
        card.get_attribute("data-network"): {
            row.get_attribute("data-class"): float(row.get_attribute("data-probability"))
            for row in card.query_selector_all(".ec-bar")
        }
        for card in page.query_selector_all("#ec-answers .ec-card")
    }


def turn(page, degrees):
    slider = page.locator("#ec-slider-hue input[type=number]")
    slider.fill(str(degrees))
    slider.press("Enter")
    page.wait_for_function(f"document.querySelector('#ec-picture').innerText.includes('hue +{degrees}°')")


def open_tab(page, name):
    """By its button; on a narrow page those that do not fit are in a menu."""
    page.wait_for_selector("button[role=tab]")
    page.evaluate(
        "name => [...document.querySelectorAll('button[role=tab]')].find(b => b.innerText.trim() == name).click()", name
    )


def upload(page, path):
    with page.expect_file_chooser() as chooser:
        page.click("#ec-upload")
    chooser.value.set_files(path)


def test_turning_the_hue_moves_the_plain_bars_and_leaves_ours(page):
    before = bars(page)
    assert set(before) == {"Plain", "Hue-4"}
    turn(page, 180)
    after = bars(page)
    assert max(abs(after["Hue-4"][name] - before["Hue-4"][name]) for name in before["Hue-4"]) < 0.001
    assert before["Plain"]["cube"] > 0.8
    assert after["Plain"]["cube"] < 0.2
    assert "Probability of cube as hue is moved" in page.inner_text("#ec-curves")


def test_a_broken_file_is_answered_with_a_message_and_the_image_stays(page, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no image at all")
    before = bars(page)
    upload(page, tmp_path / "broken.png")
    said = page.wait_for_selector("#ec-recolor-message [role=alert]").inner_text()
    assert re.search("broken.png cannot be read as an image", said)
    assert "Traceback" not in page.content()
    assert bars(page) == before


def test_an_uploaded_image_is_shown_and_named(page, tmp_path):
    Image.new("RGB", (60, 40), (200, 40, 90)).save(tmp_path / "mine.jpg")
    upload(page, tmp_path / "mine.jpg")
    page.wait_for_function("document.querySelector('#ec-picture').innerText.includes('mine.jpg')")


def test_an_example_is_chosen_by_a_click(page):
    page.locator("#ec-examples button.thumbnail-item, #ec-examples .thumbnail-item").nth(7).click()
    page.wait_for_function("document.querySelector('#ec-picture').innerText.includes('sphere')")
    page.wait_for_function("document.querySelector('#ec-curves').innerText.includes('Probability of sphere')")


def test_turning_by_an_element_moves_rows_and_turning_between_moves_none_exactly(page):
    open_tab(page, "Look inside")
    page.wait_for_selector("#ec-maps .ec-row")
    rows = "[...document.querySelectorAll('#ec-maps .ec-sides > div:nth-child(2) .ec-row')]"
    assert page.evaluate(f"{rows}.map(r => r.dataset.row + r.dataset.same)") == ["21", "31", "41", "11"]
    slider = page.locator("#ec-turn input[type=number]")
    slider.fill("45")
    slider.press("Enter")
    page.wait_for_function(f"{rows}.every(r => r.dataset.same == '0')")


def test_the_examples_are_sorted_when_the_tab_is_opened(page):
    open_tab(page, "Sort")
    page.wait_for_selector("#ec-sheet figure")
    order = page.get_attribute("#ec-sheet [data-order]", "data-order").split(",")
    assert sorted(map(int, order)) == list(range(18))


def test_too_few_images_are_answered_with_a_message(page, tmp_path):
    Image.new("RGB", (60, 40), (200, 40, 90)).save(tmp_path / "one.png")
    open_tab(page, "Diagnose")
    with page.expect_file_chooser() as chooser:
        page.locator("#ec-source button").first.click()
    chooser.value.set_files(tmp_path / "one.png")
    page.wait_for_function("document.querySelector('#ec-source').innerText.includes('one')")
    page.click("#ec-compare")
    assert "are 1 images" in page.wait_for_selector("#ec-diagnose-message [role=alert]").inner_text()


@pytest.mark.parametrize("tab", ["Recolour", "Look inside", "Sort", "Diagnose", "Your model"])
def test_nothing_is_wider_than_a_phone(page, tab):
    page.set_viewport_size({"width": 390, "height": 800})
    open_tab(page, tab)
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
