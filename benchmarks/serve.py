"""How many requests ``equicolor serve`` answers, how soon, in how much memory, and whether each answer is right.

python benchmarks/serve.py                          # 10,000 requests of 16 clients, on this machine alone
python benchmarks/serve.py --requests 2000 --clients 4 --backend onnx

The service is a process of its own, as a user starts it; the clients are threads of this one, each of which sends an
image, waits for the answer, and sends the next: forms and JSON in turn. Every answer is compared with the row that
``equicolor predict`` writes about the same file.
"""

import argparse
import base64
import http.client
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from predict import make_files, make_network

from equicolor import commands

#: What batches of another size may change about a probability: float32 sums in another order.
ROUNDING = 1e-5


@dataclass
class Load:
    """What came of it.

    Attributes:
        seconds: of all requests together.
        times: of each request.
        wrong: answers that were not the offline ones, or no answers.
        memory: bytes that the service had resident, after so many requests.
        batch: images in a batch, in the mean.
    """

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    memory: dict[int, float] = field(default_factory=dict)
    batch: float = 0.0

    def time(self, percent: int) -> float:
        """Within which so many of a hundred requests were answered."""
        return statistics.quantiles(self.times, n=100)[percent - 1]


@contextmanager
def service(model: Path, *options: str) -> Iterator[int]:
    """``equicolor serve`` in a process of its own, while the block runs; gives the port."""
    with process(model, *options) as (_, port):
        yield port


@contextmanager
def process(model: Path, *options: str) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """The same with the process itself."""
    command = [sys.executable, "-m", "equicolor", "serve", str(model), "--port", "0", "--device", "cpu", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        said = ""
        while not (address := re.search(r"http://127\.0\.0\.1:(\d+)", said)):
            line = started.stderr.readline()
            if not line:
                raise RuntimeError(said)
            said += line
        try:
            yield started, int(address[1])
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait(60)
    assert started.returncode == 0, started.returncode


def offline(model: Path, images: Path) -> dict[str, dict[str, Any]]:
    """What ``equicolor predict`` says about each file, by its name."""
    out = model.parent / "said.jsonl"
    commands.predict(str(model), [str(images)], out=out, device="cpu")
    rows = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    return {Path(row["path"]).name: row for row in rows}


def measure(port: int, images: Path, expected: dict[str, dict[str, Any]], requests: int, clients: int) -> Load:
    """Sends so many requests, by so many clients at once."""
    paths = sorted(images.iterdir())
    ready = [(path.name, *body(path, number % 2 == 0)) for number, path in enumerate(paths)]
    load, numbers = Load(), count()

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while (number := next(numbers)) < requests:
            name, content, kind = ready[number % len(ready)]
            start = time.perf_counter()
            connection.request("POST", "/predict", content, {"Content-Type": kind})
            response = connection.getresponse()
            answer = json.loads(response.read())
            load.times.append(time.perf_counter() - start)
            if response.status != 200 or not is_same(answer, expected[name]):
                load.wrong.append(f"{name}: {response.status} {answer}")
            if (number + 1) % max(1, requests // 10) == 0:
                load.memory[number + 1] = metric(port, "process_resident_memory_bytes")
        connection.close()

    start = time.perf_counter()
    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    load.seconds = time.perf_counter() - start
    load.batch = metric(port, "equicolor_batch_images_sum") / metric(port, "equicolor_batch_images_count")
    return load


def body(path: Path, as_form: bool) -> tuple[bytes, str]:
    """A request with a file, and its type."""
    data = path.read_bytes()
    if not as_form:
        content = {"image": base64.b64encode(data).decode(), "name": path.name}
        return json.dumps(content).encode(), "application/json"
    head = f'--edge\r\nContent-Disposition: form-data; name="image"; filename="{path.name}"\r\n\r\n'
    return head.encode() + data + b"\r\n--edge--\r\n", "multipart/form-data; boundary=edge"


def is_same(answer: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether an answer is the row: the same class, and the same probabilities up to rounding."""
    if answer.get("class") != row["class"] or answer.get("path") != Path(row["path"]).name:
        return False
    pairs = zip(answer["probabilities"].items(), row["probabilities"].items(), strict=True)
    return all(name == other and abs(p - q) < ROUNDING for (name, p), (other, q) in pairs)


def metric(port: int, name: str) -> float:
    """A number of ``/metrics``; NaN where the platform has none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    found = re.search(rf"^{name} (\S+)$", connection.getresponse().read().decode(), flags=re.MULTILINE)
    connection.close()
    return float(found[1]) if found else float("nan")


def main() -> None:
    """Prints what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--images", type=int, default=500, help="files, made up, which the clients send in turn")
    parser.add_argument("--side", type=int, default=128, help="of the files")
    parser.add_argument("--model", default="z2cnn")
    parser.add_argument("--group", default="hue4")
    parser.add_argument("--size", type=int, default=28, help="that the network is shown")
    parser.add_argument("--backend", default="torch")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        make_files(home / "images", given.images, given.side)
        make_network(home / "model", given.model, given.group, given.size)
        expected = offline(home / "model", home / "images")
        with service(home / "model", "--backend", given.backend) as port:
            load = measure(port, home / "images", expected, given.requests, given.clients)
    print(
        f"{given.model} {given.group} at {given.size} pixels, {given.backend}, {os.cpu_count()} cores for both sides\n"
    )
    print("| | |\n| --- | --- |")
    print(f"| requests, by {given.clients} clients at once | {len(load.times):,} |")
    print(f"| requests/s | {len(load.times) / load.seconds:,.0f} |")
    print(f"| p50, p99 | {1e3 * load.time(50):.0f} ms, {1e3 * load.time(99):.0f} ms |")
    print(f"| images in a batch, in the mean | {load.batch:.1f} |")
    memory = ", ".join(f"{load.memory[number] / 1e6:.0f} ({number:,})" for number in sorted(load.memory))
    print(f"| resident memory in MB (after so many requests) | {memory} |")
    print(f"| answers other than the offline ones | {len(load.wrong)} |")
    for line in load.wrong[:5]:
        print(line)


if __name__ == "__main__":
    main()
