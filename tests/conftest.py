"""What tests share beside the same chance (that is the other conftest.py): options, precisions, and a real browser."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
import torch

#: What other packages add is looked at from processes of its own: imported here, it would be there in every test.
collect_ignore = ["stranger.py"]

#: Set where a browser must be there, as in continuous integration: then its absence is a failure.
REQUIRED = "EQUICOLOR_REQUIRE_BROWSER"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip

#: Tests that wait for servers, browsers and clusters by the clock: on a machine that others use, one of them may be
#: late. Such a test is run once more, and counted as one that was. What was wrong and not late never is.
LIVE = ("app/test_browser.py", "commands/test_serve.py", "serve/", "trained/test_ray.py")
LATE = ["TimeoutError", "TimeoutExpired", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError"]


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.relative_to(here).as_posix().startswith(LIVE):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=[f"^{name}" for name in LATE]))


def pytest_addoption(parser):
    parser.addoption(
        "--faults",
        choices=["short", "minutes", "full"],
        default="short",
        help="how much tests/faults damages and kills: seconds of it, minutes, or the counts of docs/reliability.md",
    )


@pytest.fixture(params=[torch.float32, torch.float64], ids=["float32", "float64"])
def dtype(request):
    """Every claim about numbers is made in both precisions."""
    return request.param


def no_browser(why):
    if os.environ.get(REQUIRED):
        pytest.fail(f"{REQUIRED} is set, and {why}")
    pytest.skip(why)


@pytest.fixture(scope="session")
def browser():
    """A Chromium of this machine, with an empty profile."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        no_browser("playwright is not installed: pip install 'equicolor[dev]'")
    binary = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if binary is None:
        no_browser("there is no Chromium on this machine: apt-get install chromium")
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=binary, args=list(FLAGS), viewport={"width": 1280, "height": 900}
        )
        context.set_default_timeout(60_000)
        yield context
        context.close()
