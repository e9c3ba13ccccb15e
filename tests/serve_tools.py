"""For tests of ``equicolor serve``: a small network, a service in this process, and requests."""

import base64
import http.client
import io
import json
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor.models import Preparation
from equicolor.serve import Limits, Service, make_app

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")

CLASSES = ["ape", "bee", "cat"]


def saved_network(folder):
    """The folder of a network that has seen images, and is shown the middle of them."""
    torch.manual_seed(0)
    model = ec.create_model("z2cnn", "hue3", num_classes=3, width=4)
    plan = Preparation(28, resize=32, crop=30)
    pictures = [np.asarray(Image.open(io.BytesIO(picture(seed)))) for seed in range(8)]
    for _ in range(20):  # norms that have seen such images
        model(plan(pictures))
    return ec.save_pretrained(model.eval(), folder / "model", CLASSES, preparation=plan)


@contextmanager
def running(opened, **limits):
    """A service with these limits; gives its port."""
    service = Service(opened, Limits(**limits))
    service.start()
    config = uvicorn.Config(make_app(service), port=0, http="h11", ws="none", lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        service.stop()


def picture(seed=0, size=(40, 33), format_="PNG"):
    """The contents of an image file."""
    pixels = np.random.default_rng(seed).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).resize(size).save(file, format_)
    return file.getvalue()


def as_json(data, **more):
    return json.dumps({"image": base64.b64encode(data).decode(), **more}).encode(), "application/json"


def as_form(data, field="image", name="x.png"):
    head = f'--edge\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
    return head.encode() + data + b"\r\n--edge--\r\n", "multipart/form-data; boundary=edge"


def ask(port, body=None, kind="", path="/predict", method=None):
    """The status, the headers, and what was answered: JSON where it is."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": kind} if kind else {}
    connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
    response = connection.getresponse()
    content = response.read().decode()
    connection.close()
    is_json = response.getheader("Content-Type") == "application/json"
    return response.status, response.headers, json.loads(content) if is_json else content
