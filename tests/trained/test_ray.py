"""Predictions by actors on a local Ray cluster: the rows of one process, each once, also when an actor dies."""

import json
import logging
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

import equicolor as ec
from equicolor import commands
from equicolor.models import Preparation
from equicolor.trained import Actors, Packed, file_batches, find_images, open_model, predict, predict_on_ray

ray = pytest.importorskip("ray", reason="the engine ray is not installed: pip install 'equicolor[ray]'")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Two workers, each a process of its own; not behind everybody else, or a busy machine lets them wait for ever."""
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    ray.init(num_cpus=2, _system_config={"worker_niceness": 0}, **quiet)
    yield
    ray.shutdown()


@pytest.fixture
def model(tmp_path):
    torch.manual_seed(0)
    network = ec.create_model("z2cnn", "hue3", num_classes=10).eval()
    return str(ec.save_pretrained(network, tmp_path / "model", preparation=Preparation(28)))


@pytest.fixture
def files(tmp_path):
    """So many small images, in a folder."""
    from PIL import Image

    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(24):
        Image.new("RGB", (30, 30), (10 * number, 80, 255 - 10 * number)).save(folder / f"{number:02}.png")
    return folder


def test_every_row_comes_once_though_an_actor_is_killed_in_the_middle(model, files, tmp_path):
    flag = tmp_path / "killed"

    @dataclass(frozen=True)
    class Deadly:
        """An image whose first reader is killed, by a signal that nothing can catch."""

        path: Path

        def __str__(self):
            return str(self.path)

        def data(self):
            if not flag.exists():
                flag.write_text(str(os.getpid()))
                os.kill(os.getpid(), signal.SIGKILL)
            return self.path.read_bytes()

    places = find_images([str(files)], print)
    places[13] = Deadly(places[13])
    opened = open_model(model, "cpu")
    found = list(predict_on_ray(Packed.of(model), places, opened.preparation, opened.classes, Actors(2, 2), 2, print))
    assert int(flag.read_text()) != os.getpid()
    expected = list(predict(opened.model, file_batches(places, 28, 2, print), opened.classes))
    assert [each.path for each in found] == [str(place) for place in places]
    assert [each.label for each in found] == [each.label for each in expected]
    torch.testing.assert_close(
        torch.stack([each.probabilities for each in found]), torch.stack([each.probabilities for each in expected])
    )


def test_commands_give_the_same_with_either_engine(model, files, tmp_path, capsys):
    (files / "10-broken.png").write_bytes(b"no image")
    said = {}
    for engine, actors in (("local", None), ("ray", "1")):
        out = tmp_path / f"{engine}.jsonl"
        done = commands.predict(model, [str(files)], out=out, engine=engine, batch_size=4, device="cpu", actors=actors)
        assert (done.count, done.bad) == (24, 1)
        assert "10-broken.png: cannot be read" in capsys.readouterr().err
        said[engine] = [json.loads(line) for line in out.read_text().splitlines()]
    for one, other in zip(*said.values(), strict=True):
        assert (one["path"], one["class"]) == (other["path"], other["class"])
        assert one["probability"] == pytest.approx(other["probability"], rel=1e-4)
    results = {
        engine: commands.evaluate(
            model,
            data=["digits"],
            limit=50,
            folder=tmp_path / engine,
            engine=engine,
            actors=actors,
            batch_size=20,
            device="cpu",
        )
        for engine, actors in (("local", None), ("ray", "1"))
    }
    assert torch.equal(results["local"].predictions.labels, results["ray"].predictions.labels)
    torch.testing.assert_close(results["local"].predictions.probabilities, results["ray"].predictions.probabilities)
