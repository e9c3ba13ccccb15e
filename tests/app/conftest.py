"""What the tests of the app share: the networks, an image, and a page that is served."""

import pytest

from equicolor.app import example_pictures, make_page
from equicolor.app._networks import set_stage


@pytest.fixture(scope="session")
def stage():
    return set_stage()


@pytest.fixture(scope="session")
def cube():
    return next(picture for picture in example_pictures() if picture.name == "cube 1")


@pytest.fixture(scope="session")
def address():
    """Of the page, served to this machine alone."""
    pytest.importorskip("gradio")
    page = make_page()
    _, address, _ = page.launch(prevent_thread_lock=True)
    yield address
    page.blocks.close()
