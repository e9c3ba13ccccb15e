"""Downloads, from a server on this machine that can break off, lie, or have nothing."""

import hashlib
import io
import multiprocessing
import re
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch

import original_formats as formats
from equicolor.data import DataNotFoundError, load
from equicolor.data._download import Remote, fetch
from equicolor.data._registry import DATASETS


@dataclass
class Server:
    """What is served, and what was asked for."""

    files: dict[str, bytes] = field(default_factory=dict)
    breaks_after: int | None = None
    honours_ranges: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""

    def remote(self, name: str, unpacks_to: str | None = None) -> Remote:
        return Remote(f"{self.url}/{name}", hashlib.md5(self.files[name]).hexdigest(), unpacks_to)


@pytest.fixture
def server() -> Iterator[Server]:
    serving = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, wanted = self.path.strip("/"), self.headers.get("Range")
            serving.asked.append((name, wanted))
            if name not in serving.files:
                return self.send_error(404)
            content, start = serving.files[name], 0
            if wanted and serving.honours_ranges:
                start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])  # type: ignore[index]
                if start >= len(content):
                    return self.send_error(416)
            self.send_response(206 if wanted and serving.honours_ranges else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            stop = len(content) if serving.breaks_after is None else start + serving.breaks_after
            self.wfile.write(content[start:stop])
            return None

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        serving.url = f"http://127.0.0.1:{http.server_port}"
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield serving
        http.shutdown()


CONTENT = bytes(range(256)) * 1000


def test_a_file_is_downloaded_once(server: Server, tmp_path: Path) -> None:
    server.files["a.bin"] = CONTENT
    for _ in range(2):
        assert fetch(server.remote("a.bin"), tmp_path, progress=False).read_bytes() == CONTENT
    assert server.asked == [("a.bin", None)]


def test_progress_is_shown(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.files["a.bin"] = CONTENT
    fetch(server.remote("a.bin"), tmp_path)
    assert "a.bin" in capsys.readouterr().err


def test_a_broken_download_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.files["a.bin"] = CONTENT
    server.breaks_after = 100_000
    with pytest.raises(DataNotFoundError, match=r"call again to go on|cannot be downloaded"):
        fetch(server.remote("a.bin"), tmp_path, progress=False)
    assert not (tmp_path / "a.bin").exists()
    assert (tmp_path / "a.bin.part").stat().st_size == 100_000
    server.breaks_after = None
    assert fetch(server.remote("a.bin"), tmp_path, progress=False).read_bytes() == CONTENT
    assert server.asked[-1] == ("a.bin", "bytes=100000-")
    assert not (tmp_path / "a.bin.part").exists()


def test_a_server_that_cannot_resume_is_asked_for_everything(server: Server, tmp_path: Path) -> None:
    server.files["a.bin"], server.honours_ranges = CONTENT, False
    (tmp_path / "a.bin.part").write_bytes(CONTENT[:50])
    assert fetch(server.remote("a.bin"), tmp_path, progress=False).read_bytes() == CONTENT


@pytest.mark.parametrize("beginning", [b"something else", CONTENT + b"and more"])
def test_what_is_not_the_beginning_of_the_file_is_thrown_away(server: Server, tmp_path: Path, beginning: bytes) -> None:
    server.files["a.bin"] = CONTENT
    (tmp_path / "a.bin.part").write_bytes(beginning)
    assert fetch(server.remote("a.bin"), tmp_path, progress=False).read_bytes() == CONTENT


def test_a_complete_part_is_taken_without_downloading_it_again(server: Server, tmp_path: Path) -> None:
    server.files["a.bin"] = CONTENT
    (tmp_path / "a.bin.part").write_bytes(CONTENT)
    assert fetch(server.remote("a.bin"), tmp_path, progress=False).read_bytes() == CONTENT
    assert len(server.asked) == 1


def test_a_wrong_sum_is_an_error_and_leaves_nothing_behind(server: Server, tmp_path: Path) -> None:
    server.files["a.bin"] = CONTENT
    with pytest.raises(ValueError, match="expected 0123"):
        fetch(replace(server.remote("a.bin"), md5="0123"), tmp_path, progress=False)
    assert not list(tmp_path.glob("a.bin*"))


def test_nothing_there_is_an_error_that_names_the_address(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match=r"/missing\.bin cannot be downloaded: .*404"):
        fetch(Remote(f"{server.url}/missing.bin", "0"), tmp_path, progress=False)


def test_two_processes_at_once_download_once(server: Server, tmp_path: Path) -> None:
    server.files["a.bin"] = CONTENT * 20
    remote = server.remote("a.bin")
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=fetch, args=(remote, tmp_path, False)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert (tmp_path / "a.bin").read_bytes() == CONTENT * 20
    assert len(server.asked) == 1


def archive(folder: Path, name: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.add(folder / name, name)
    return buffer.getvalue()


def test_an_archive_is_unpacked_as_a_whole(server: Server, tmp_path: Path) -> None:
    formats.write_cifar_binary(tmp_path / "made" / "cifar-10-batches-bin")
    server.files["c.tar.gz"] = archive(tmp_path / "made", "cifar-10-batches-bin")
    folder = fetch(server.remote("c.tar.gz", "cifar-10-batches-bin"), tmp_path / "got", progress=False)
    assert folder == tmp_path / "got" / "cifar-10-batches-bin"
    assert len(list(folder.iterdir())) == 6
    assert not list((tmp_path / "got").glob(".*unpacking"))


def test_load_downloads_when_asked_and_only_then(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, _ = formats.write_mnist(tmp_path / "made", end=".gz")
    for path in (tmp_path / "made").iterdir():
        server.files[path.name] = path.read_bytes()
    published = tuple(server.remote(remote.name) for remote in DATASETS["mnist"].remotes)
    monkeypatch.setitem(DATASETS, "mnist", replace(DATASETS["mnist"], remotes=published))
    with pytest.raises(DataNotFoundError, match="download=True"):
        load("mnist", tmp_path / "root")
    assert not server.asked
    mnist = load("mnist", tmp_path / "root", download=True, check_size=False)
    assert (mnist.images[:, 0].numpy() == images).all()
    assert (tmp_path / "root" / "mnist" / "train-images-idx3-ubyte.gz").exists()

    # A download that was cut off leaves some of the files, and part of one: the rest is fetched.
    home = tmp_path / "root" / "mnist"
    complete = (home / "train-labels-idx1-ubyte.gz").read_bytes()
    (home / "train-labels-idx1-ubyte.gz").unlink()
    (home / "train-labels-idx1-ubyte.gz.part").write_bytes(complete[:10])
    with pytest.raises(DataNotFoundError, match="Put into"):
        load("mnist", tmp_path / "root", check_size=False)
    again = load("mnist", tmp_path / "root", download=True, check_size=False)
    assert torch.equal(again.labels, mnist.labels)
    assert server.asked[-1] == ("train-labels-idx1-ubyte.gz", "bytes=10-")


def test_offline_the_message_says_what_was_tried_and_what_to_put_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = Remote("http://127.0.0.1:9/a.tar.gz", "0", "a")  # the port of the discard protocol: nobody listens
    monkeypatch.setitem(DATASETS, "cifar10", replace(DATASETS["cifar10"], remotes=(nobody,), hub=None))
    with pytest.raises(DataNotFoundError, match="cifar-10-batches-bin") as error:
        load("cifar10", tmp_path, download=True)
    assert "cannot be downloaded" in str(error.value)
