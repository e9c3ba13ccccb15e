"""``equicolor serve`` as a user starts it: a process, a port, requests, and a signal."""

import inspect
import os
import signal
import socket
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import equicolor as ec
from equicolor import cli, commands
from equicolor.serve import Limits, serve_forever
from serve_tools import as_form, ask, picture, saved_network

pytest.importorskip("fastapi")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    """The load test of ``benchmarks/serve.py``."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setenv("PYTHONPATH", str(Path(ec.__file__).parents[1]))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    import serve

    yield serve
    del sys.modules["serve"], sys.modules["predict"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_network(tmp_path_factory.mktemp("serve"))


def test_many_clients_at_once_get_the_answers_of_predict_and_memory_stays_flat(load, saved, tmp_path):
    (tmp_path / "images").mkdir()
    for seed in range(30):
        (tmp_path / "images" / f"{seed:02}.png").write_bytes(picture(seed, size=(30 + seed, 64 - seed)))
    expected = load.offline(saved, tmp_path / "images")
    assert len({row["probability"] for row in expected.values()}) > 25  # they are not all alike
    with load.service(saved) as port:
        with pytest.raises(OSError, match=r"refused|timed out"):  # another address of this very machine
            socket.create_connection(("127.0.0.2", port), timeout=2).close()
        found = load.measure(port, tmp_path / "images", expected, requests=300, clients=8)
    assert found.wrong == []
    assert len(found.times) == 300
    assert found.batch > 1
    if np.isfinite(list(found.memory.values())).all():  # where the platform tells
        assert found.memory[300] < found.memory[30] + 32e6


def test_a_wrong_answer_is_noticed(load):
    row = {"path": "a/x.png", "class": "ape", "probabilities": {"ape": 0.6, "bee": 0.4}}
    assert load.is_same({**row, "path": "x.png"}, row)
    assert not load.is_same({**row, "path": "y.png"}, row)
    assert not load.is_same({**row, "path": "x.png", "probabilities": {"ape": 0.61, "bee": 0.39}}, row)
    assert not load.is_same({"error": "…"}, row)


@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_when_what_was_asked_is_answered(load, saved, number):
    with load.process(saved, "--wait", "1.5", "--batch_size", "8") as (process, port):
        found = []
        client = threading.Thread(target=lambda: found.append(ask(port, *as_form(picture()))))
        client.start()
        while "equicolor_requests_in_progress 1.0" not in ask(port, path="/metrics")[2]:
            pass
        process.send_signal(number)
        client.join()
        assert found[0][0] == 200
        assert process.wait(60) == 0
        assert "Stopped; 1 images were answered." in process.stderr.read()
        with pytest.raises(ConnectionError):
            ask(port, path="/health")


def test_it_listens_to_this_machine_alone_unless_told_otherwise():
    for function in (commands.serve, serve_forever):
        assert inspect.signature(function).parameters["host"].default == "127.0.0.1"


def test_every_option_arrives(saved, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr("equicolor.serve.serve_forever", lambda *given: calls.append(given))
    options = "--port 8001 --host ::1 --device cpu --batch_size 4 --wait 0 --workers 1"
    limits = "--max-body 5 --max-pixels 6 --max-queue 7 --timeout 8"
    assert cli.main(["serve", str(saved), *options.split(), *limits.split()]) == 0
    ((service, host, port, ready),) = calls
    assert (host, port) == ("::1", 8001)
    assert service.limits == Limits(body=5, pixels=6, seconds=8, queue=7, batch=4, wait=0, workers=1)
    ready("http://there")
    assert "Serving z2cnn-hue3 at http://there: POST /predict" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-queue", "0"], "queue must be positive, got 0"),
        (["--port", "70000"], "a port is a number from 0 to 65535, got 70000"),
        (["--device", "nowhere"], "device 'nowhere' cannot be used here"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(saved, arguments, message, capsys):
    assert cli.main(["serve", str(saved), *arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_port_that_is_taken_is_an_error_and_not_a_traceback(saved, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert cli.main(["serve", str(saved), "--port", str(other.getsockname()[1])]) == 1
    told = capsys.readouterr().err.splitlines()
    assert told[-1].startswith("equicolor: ")
    assert "already in use" in told[-1]
    assert "Traceback" not in "".join(told)
