"""The page as a Hugging Face Space: its files fit together, and it is served as a Space asks for."""

import re
import runpy
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from equicolor.app import Page

SPACE = Path(__file__).parents[2] / "spaces"


def test_the_space_serves_the_page_to_its_container(monkeypatch):
    pytest.importorskip("gradio")
    served = []
    monkeypatch.setattr(Page, "launch", lambda self, **how: served.append(how))
    runpy.run_path(str(SPACE / "app.py"), run_name="__main__")
    assert served == [{"host": "0.0.0.0", "port": 7860}]


def test_the_header_names_the_file_and_the_gradio_that_is_tested():
    gradio = pytest.importorskip("gradio")
    header = yaml.safe_load(re.match(r"---\n(.*?)\n---\n", (SPACE / "README.md").read_text(), re.DOTALL)[1])
    assert (SPACE / header["app_file"]).is_file()
    assert header["sdk_version"] == gradio.__version__ == version("gradio")
    assert len(header["short_description"]) <= 60  # the hub takes no more
