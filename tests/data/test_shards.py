"""Sharded Parquet files as a data set: found, cut and read, on disk and at an address."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import fsspec
import pytest
import torch

import equicolor as ec
from equicolor.data import DataNotFoundError, Shards, resolve, splits_of
from shards import CLASSES, table, write_shards


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_shards(tmp_path_factory.mktemp("shards") / "cells")


def test_a_folder_of_shards_is_a_data_set_with_the_splits_of_their_names(folder):
    assert resolve(folder)[0] == "shards"
    assert splits_of(folder) == ("train", "test", "all")
    images = ec.data.load(folder, split="train", in_memory=False)
    assert isinstance(images.source, Shards)
    assert (len(images), images.image_size, list(images.classes)) == (96, 28, CLASSES)
    assert torch.equal(images.labels, torch.arange(96) % 2)
    greens = (images.fetch([0, 50, 95]).images[:, 1, 0, 0] * 255).round().int()
    assert greens.tolist() == [0, 50, 95]


def test_streamed_and_held_images_are_the_same(folder):
    held, streamed = (ec.data.load(folder, split="train", in_memory=memory) for memory in (True, False))
    assert torch.equal(held.fetch(range(96)).images, streamed.fetch(range(96)).images)
    assert held.fingerprint() == streamed.fingerprint()


def test_each_row_group_is_read_once_in_an_epoch(folder, monkeypatch):
    from equicolor.data import _parquet

    asked = []
    read = _parquet.read_cells
    monkeypatch.setattr(_parquet, "read_cells", lambda *given: asked.append(given[:2]) or read(*given))
    images = ec.data.load(folder, split="train", in_memory=False)
    seen = [batch.targets for batch in images.batches(8, shuffle=True, seed=1)]
    assert sum(map(len, seen)) == 96
    assert len(asked) == len(set(asked)) == 16


def test_shards_at_an_address_are_those_of_the_folder(folder):
    memory = fsspec.filesystem("memory")
    for path in folder.iterdir():
        memory.pipe_file(f"/bucket/cells/{path.name}", path.read_bytes())
    there = ec.data.load("memory://bucket/cells", split="test")
    assert torch.equal(there.images, ec.data.load(folder, split="test").images)
    with pytest.raises(DataNotFoundError, match="memory://bucket/elsewhere"):
        ec.data.load("memory://bucket/elsewhere")


def test_a_web_server_is_a_storage_too(folder):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        images = ec.data.load(f"http://127.0.0.1:{server.server_port}/", split="test", in_memory=False)
        assert len(images.fetch(range(16)).images) == 16
    finally:
        server.shutdown()


def test_shards_that_changed_have_another_fingerprint(folder, tmp_path):
    import pyarrow.parquet as pq

    other = write_shards(tmp_path / "cells")
    before = ec.data.load(other, split="test").fingerprint()
    pq.write_table(table(range(16, 32)), other / "test-00000-of-00001.parquet", row_group_size=4)
    assert ec.data.load(other, split="test").fingerprint() != before


def test_columns_that_are_missing_are_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"image": [b""], "kind": [1]}), tmp_path / "train-0.parquet")
    with pytest.raises(ValueError, match=r"no column of classes: expected label, .* got image, kind"):
        ec.data.load(tmp_path, split="train")
