"""Takes the pictures of docs/app.md, in a Chromium of this machine: python benchmarks/app_screenshots.py."""

import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from equicolor.app import make_page

FOLDER = Path(__file__).parents[1] / "docs" / "images"


def take(tab: Tab, name: str) -> None:
    """The whole page, in few enough colours for a small file."""
    tab.wait_for_timeout(1000)
    picture = Image.open(io.BytesIO(tab.screenshot(full_page=True))).convert("RGB")
    picture.quantize(255).save(FOLDER / name, optimize=True)


def turned(tab: Tab, slider: str, degrees: int) -> None:
    """A slider moved to a number."""
    number = tab.locator(f"{slider} input[type=number]")
    number.fill(str(degrees))
    number.press("Enter")


_, address, _ = make_page().launch(prevent_thread_lock=True)
with sync_playwright() as playwright:
    chromium = playwright.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox", "--disable-gpu"]
    )
    tab = chromium.new_page(viewport={"width": 1180, "height": 900})
    tab.goto(address)
    tab.wait_for_selector("#ec-answers [data-network]")
    turned(tab, "#ec-slider-hue", 180)
    tab.wait_for_function("document.querySelector('#ec-picture').innerText.includes('180')")
    take(tab, "app.png")
    tab.get_by_role("tab", name="Look inside").click()
    tab.wait_for_selector("#ec-maps .ec-row")
    take(tab, "app-inside.png")
    chromium.close()
