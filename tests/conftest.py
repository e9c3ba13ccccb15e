"""What all tests share: quiet, reproducible, one thread for each worker; and a real browser, for those that look."""

import os
import shutil
import tempfile

import pytest
import torch
from hypothesis import HealthCheck, settings

#: What other packages add is looked at from processes of its own: imported here, it would be there in every test.
collect_ignore = ["stranger.py"]

#: Set where a browser must be there, as in continuous integration: then its absence is a failure.
REQUIRED = "EQUICOLOR_REQUIRE_BROWSER"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip

settings.register_profile("equicolor", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("equicolor")


def pytest_addoption(parser):
    parser.addoption(
        "--faults",
        choices=["short", "minutes", "full"],
        default="short",
        help="how much tests/faults damages and kills: seconds of it, minutes, or the counts of docs/reliability.md",
    )


@pytest.fixture(autouse=True)
def _reproducible():
    torch.set_num_threads(1)
    torch.manual_seed(0)


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
