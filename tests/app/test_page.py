"""How the page is served: to this machine alone, within limits, and without a word to anybody."""

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from equicolor.app import make_page
from equicolor.commands import app

gradio = pytest.importorskip("gradio")


def test_it_is_served_to_this_machine_alone_within_limits_and_reports_to_nobody(monkeypatch):
    asked = {}
    monkeypatch.setattr(gradio.Blocks, "launch", lambda self, **how: asked.update(how))
    page = make_page()
    page.launch()
    assert asked["server_name"] == "127.0.0.1"
    assert asked["share"] is False
    assert asked["allowed_paths"] == []
    assert asked["max_file_size"] == 50 << 20
    assert page.blocks.analytics_enabled is False


def test_files_that_were_not_given_are_not_served(address):
    for path in (Path(__file__), Path("/etc/hostname")):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}gradio_api/file={path}")
        assert refused.value.code in (403, 404)


def test_a_path_of_the_visitors_choice_is_not_read(address):
    """What an upload would hand over is a path: one outside of the uploads is refused, not opened."""
    config = json.load(urllib.request.urlopen(f"{address}config"))
    button = next(each["id"] for each in config["components"] if each["props"].get("elem_id") == "ec-upload")
    event = next(each for each in config["dependencies"] if each["inputs"][:1] == [button])
    file = {"path": str(Path(__file__)), "meta": {"_type": "gradio.FileData"}}
    body = {"data": [file, None], "fn_index": event["id"], "session_hash": "visitor"}
    request = urllib.request.Request(
        f"{address}gradio_api/queue/join", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request)
    with urllib.request.urlopen(f"{address}gradio_api/queue/data?session_hash=visitor", timeout=60) as stream:
        for line in stream:
            told = line.decode()
            if "process_completed" in told:
                break
    assert '"success":false' in told.replace(" ", "")
    assert "cannot be read as an image" not in told  # it was not even tried


def test_the_command_opens_the_page_with_examples_of_ones_own(monkeypatch, tmp_path, capsys, cube):
    from PIL import Image

    (tmp_path / "cube").mkdir()
    Image.fromarray(cube.pixels).save(tmp_path / "cube" / "mine.png")
    served = {}

    def serve(self, **how):
        served.update(how)
        return None, "http://127.0.0.1:7860/", None

    monkeypatch.setattr(gradio.Blocks, "launch", serve)
    monkeypatch.setattr(gradio.Blocks, "block_thread", lambda self: None)
    app("equicolor/shapes-hue4", images=[str(tmp_path)], port=7999)
    assert (served["server_port"], served["share"]) == (7999, False)
    assert "The page is at http://127.0.0.1:7860/" in capsys.readouterr().err
