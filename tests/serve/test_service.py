"""A service: the answers of ``equicolor predict``, within limits, and a reason for everything else."""

import io
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor.models import Preparation
from equicolor.serve import Limits, Service, _batcher
from equicolor.trained import file_batches, open_model, open_network, predict
from serve_tools import CLASSES, as_form, as_json, ask, picture, running, saved_network


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_network(tmp_path_factory.mktemp("serve"))


@pytest.fixture
def opened(saved):
    return open_model(saved, "cpu")


@pytest.fixture
def held(monkeypatch):
    """The network answers only when this is set; the first image, of the start, goes through."""
    go = threading.Event()
    go.set()
    go.shown = []

    def slowly(model, batches, classes):
        def released():
            for names, images in batches:
                go.wait(30)
                go.shown += names
                yield names, images

        return predict(model, released(), classes)

    monkeypatch.setattr(_batcher, "predict", slowly)
    yield go
    go.set()


# ------------------------------------------------------------------------------------------------ answers


def test_forms_and_json_are_answered_as_files_are_predicted(opened, tmp_path):
    paths = []
    for seed, (suffix, format_) in enumerate([("png", "PNG"), ("jpg", "JPEG"), ("webp", "WEBP"), ("bmp", "BMP")]):
        paths.append(tmp_path / f"{seed}.{suffix}")
        paths[-1].write_bytes(picture(seed, format_=format_))
    batches = file_batches(paths, opened.preparation.side, 8, on_bad=pytest.fail)
    expected = list(predict(opened.model, batches, CLASSES))
    with running(opened) as port:
        for path, row in zip(paths, expected, strict=True):
            for body, kind in (as_form(path.read_bytes(), name=path.name), as_json(path.read_bytes(), name=path.name)):
                status, _, answer = ask(port, body, kind)
                assert (status, answer["path"], answer["class"]) == (200, path.name, row.label)
                assert list(answer["probabilities"]) == CLASSES
                found = torch.tensor(list(answer["probabilities"].values()))
                torch.testing.assert_close(found, row.probabilities, atol=1e-5, rtol=0)
    assert len({row.probability for row in expected}) == len(paths)  # they are not all alike


def test_an_onnx_file_is_served_too(opened, saved, tmp_path):
    pytest.importorskip("onnxscript")
    ec.export_onnx(ec.from_pretrained(saved), tmp_path / "model.onnx")
    answers = []
    for each in (opened, open_network(tmp_path / "model.onnx", "cpu")):
        with running(each) as port:
            answers.append(ask(port, *as_form(picture()))[2])
    assert answers[0]["class"] == answers[1]["class"]
    assert answers[0]["probability"] == pytest.approx(answers[1]["probability"], abs=1e-4)


def test_images_that_come_together_are_shown_together_and_each_gets_its_own_answer(opened, held):
    with running(opened, batch=4, wait=0.5) as port, ThreadPoolExecutor(9) as clients:
        alone = [ask(port, *as_json(picture(seed)))[2] for seed in range(8)]
        together = list(clients.map(lambda seed: ask(port, *as_json(picture(seed)))[2], range(8)))
        metrics = ask(port, path="/metrics")[2]
    for one, other in zip(alone, together, strict=True):
        assert one["class"] == other["class"]
        assert one["probability"] == pytest.approx(other["probability"], abs=1e-5)
    counts = {line.split()[0]: float(line.split()[1]) for line in metrics.splitlines() if line[0] != "#"}
    assert counts["equicolor_batch_images_sum"] == 1 + 8 + 8  # the first is that of the start
    assert counts["equicolor_batch_images_count"] < 1 + 8 + 8
    assert counts['equicolor_batch_images_bucket{le="4.0"}'] == counts["equicolor_batch_images_count"]


def test_a_service_tells_about_itself(opened):
    with running(opened) as port:
        ask(port, *as_json(picture()))
        assert ask(port, path="/health")[::2] == (200, {"status": "ok"})
        assert ask(port, path="/card")[2] == {**opened.card.to_dict()}
        assert "/predict" in ask(port, path="/openapi.json")[2]["paths"]
        status, headers, text = ask(port, path="/metrics")
    assert status == 200
    assert headers["Content-Type"].startswith("text/plain; version=")
    assert 'equicolor_requests_total{path="/predict",status="200"} 1.0' in text
    assert "equicolor_requests_in_progress 0.0" in text
    assert "equicolor_request_seconds_count 1.0" in text


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("body", "kind", "status", "reason"),
    [
        (b"", "", 415, "the content type '' is none that is understood: send a form"),
        (b"x", "text/plain", 415, "the content type 'text/plain'"),
        (b"{", "application/json", 400, "the body is no JSON"),
        (b"[" * 100_000, "application/json", 400, "the body is no JSON"),
        (b"[]", "application/json", 400, "there is no text under 'image'"),
        (b'{"image": 3}', "application/json", 400, "there is no text under 'image'"),
        (b'{"image": "AAAA", "name": 3}', "application/json", 400, "the 'name' in the JSON is no text"),
        (b'{"image": "\xc3\xa9"}', "application/json", 400, "is no base64"),
        (b'{"image": "A"}', "application/json", 400, "is no base64"),
        (b'{"image": ""}', "application/json", 422, "cannot be read as an image"),
        (*as_json(b"no image"), 422, "cannot be read as an image (it holds none of BMP, GIF"),
        (*as_form(b"%!PS-Adobe-3.0 EPSF-3.0\n"), 422, "cannot be read as an image"),
        (*as_form(picture()[:-40]), 422, "cannot be read as an image"),
        (*as_form(picture(), field="picture"), 400, "there is no file 'image' in the form"),
        (b"--edge", "multipart/form-data; boundary=edge", 400, "there is no file 'image' in the form"),
        (b"nothing", "multipart/form-data", 400, "the form cannot be read"),
        (as_form(picture())[0], "multipart/form-data; boundary=other", 400, "the form cannot be read"),
    ],
)
def test_bad_input_is_answered_with_a_reason(shared, body, kind, status, reason):
    found, headers, answer = ask(shared, body, kind)
    assert (found, headers["Content-Type"]) == (status, "application/json")
    assert list(answer) == ["error"]
    assert reason in answer["error"]
    assert "Traceback" not in answer["error"]
    assert "\n" not in answer["error"]


@pytest.fixture(scope="module")
def shared(saved):
    """One service for all that is refused: it goes on after each."""
    with running(open_model(saved, "cpu"), body=200_000, pixels=1_000_000) as port:
        yield port
        assert ask(port, *as_json(picture()))[0] == 200
        text = ask(port, path="/metrics")[2]
        assert "equicolor_requests_in_progress 0.0" in text
        assert 'status="500"' not in text


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/predict", 405), ("POST", "/card", 405), ("GET", "/x", 404)]
)
def test_other_paths_and_methods_are_answered_with_those_that_there_are(shared, method, path, status):
    found, _, answer = ask(shared, path=path, method=method)
    assert found == status
    assert "there are POST /predict, GET /health, /metrics and /card" in answer["error"]


def test_a_name_that_is_no_text_is_made_one(shared):
    body, kind = as_json(picture(), name="a\nb\ud800.png")
    assert ask(shared, body, kind)[2]["path"] == r"a\nb\ud800.png"


# ------------------------------------------------------------------------------------------------ limits


def test_a_body_that_is_too_large_is_refused_by_what_it_says_and_by_what_it_is(shared):
    body, kind = as_form(bytes(300_000))
    status, headers, answer = ask(shared, body, kind)
    assert (status, headers["Connection"]) == (413, "close")
    assert answer["error"] == f"the request has {len(body):,} bytes, 200,000 are allowed"
    parts = iter([bytes(50_000)] * 6)  # in chunks, without a size
    status, _, answer = ask(shared, parts, kind)
    assert (status, answer["error"]) == (413, "the request has too many bytes, 200,000 are allowed")


def test_an_image_of_too_many_pixels_is_not_decoded(shared, monkeypatch):
    monkeypatch.setattr("equicolor.serve._service.decode", lambda *_: pytest.fail("decoded"))
    file = io.BytesIO()
    Image.new("RGB", (1001, 1000)).save(file, "PNG")
    status, _, answer = ask(shared, *as_form(file.getvalue()))
    assert (status, answer["error"]) == (413, "the image has 1,001×1,000 pixels, more than 1,000,000")


def test_an_image_of_so_many_pixels_that_pil_does_not_open_it_is_too_large_as_well(shared):
    file = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(file, "PNG")
    status, _, answer = ask(shared, *as_form(file.getvalue()))
    assert (status, answer["error"]) == (413, "the image has more than 1,000,000 pixels")


def test_one_request_too_many_is_told_to_come_again(opened, held):
    with running(opened, queue=2) as port, ThreadPoolExecutor(2) as clients:
        held.clear()
        waiting = [clients.submit(ask, port, *as_json(picture(seed))) for seed in range(2)]
        until(lambda: "equicolor_requests_in_progress 2.0" in ask(port, path="/metrics")[2])
        status, headers, answer = ask(port, *as_json(picture()))
        assert (status, headers["Retry-After"]) == (503, "1")
        assert "2 requests are waiting already" in answer["error"]
        held.set()
        assert [each.result()[0] for each in waiting] == [200, 200]
        assert ask(port, *as_json(picture()))[0] == 200


def test_what_takes_too_long_is_given_up_and_not_shown_to_the_network(opened, held):
    with running(opened, seconds=1.5, batch=1, wait=0) as port, ThreadPoolExecutor(3) as clients:
        held.clear()
        found = list(clients.map(lambda seed: ask(port, *as_json(picture(seed), name="late")), range(3)))
        assert [status for status, *_ in found] == [504] * 3
        assert found[0][2]["error"] == "there was no answer within 1.5 s"
        held.set()
        until(lambda: ask(port, *as_json(picture()))[0] == 200)
    assert held.shown.count("late") <= 1  # that was under way


def test_a_request_that_does_not_arrive_is_given_up(opened):
    with running(opened, seconds=0.3) as port, socket.create_connection(("127.0.0.1", port)) as connection:
        head = "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        connection.sendall(head.encode())
        answer = connection.recv(10_000).decode()
        assert answer.startswith("HTTP/1.1 408")
        assert ask(port, *as_json(picture()))[0] != 408


def test_a_network_that_fails_fails_its_batch_and_goes_on(opened, monkeypatch):
    fails = threading.Event()

    def sometimes(model, batches, classes):
        for each in predict(model, batches, classes):
            if fails.is_set():
                raise ValueError("secret")
            yield each

    monkeypatch.setattr(_batcher, "predict", sometimes)
    with running(opened) as port:
        fails.set()
        status, _, answer = ask(port, *as_json(picture()))
        assert (status, answer["error"]) == (500, "the network failed on this image, or on another of its batch")
        fails.clear()
        assert ask(port, *as_json(picture()))[0] == 200


# ------------------------------------------------------------------------------------------------ starting


def test_what_cannot_be_served_is_said_at_the_start(tmp_path):
    def served(folder, model, *classes):
        ec.save_pretrained(model, tmp_path / folder, classes or None, preparation=Preparation(32))
        service = Service(open_model(tmp_path / folder, "cpu"))
        try:
            service.start()
        finally:
            service.stop()

    with pytest.raises(ValueError, match="serve takes a classifier: this network is for segmentation"):
        served("masks", ec.create_model("segmenter", "hue3", num_classes=1))
    with pytest.raises(ValueError, match="several classes are called 'a', and answers are by name"):
        served("twins", ec.create_model("z2cnn", "hue3", num_classes=2, width=4), "a", "a")
    broken = ec.create_model("z2cnn", "hue3", num_classes=2, width=4)
    for parameter in broken.parameters():
        parameter.data.fill_(1e30)  # finite still, its sums are not
    with pytest.raises(ValueError, match="does not compute finite logits"):
        served("broken", broken)


@pytest.mark.parametrize("name", ["body", "pixels", "seconds", "queue", "batch", "workers"])
def test_limits_are_positive(name):
    with pytest.raises(ValueError, match=f"{name} must be positive, got 0"):
        Limits(**{name: 0})


def until(is_so):
    """Waits for what happens in another thread."""
    for _ in range(500):
        if is_so():
            return
        time.sleep(0.02)
    pytest.fail("it did not happen")
