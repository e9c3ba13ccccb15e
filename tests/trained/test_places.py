"""Images at addresses and in Parquet files, predicted as those in folders are."""

import json

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import equicolor as ec
from equicolor import commands
from equicolor.models import Preparation
from equicolor.trained import file_batches, find_images
from shards import png, table


@pytest.fixture
def bucket():
    """Some images in a storage, one hidden and one that is none."""
    memory = fsspec.filesystem("memory")
    for number in range(3):
        memory.pipe_file(f"/photos/{number}.png", png(number))
    memory.pipe_file("/photos/.hidden.png", png(9))
    memory.pipe_file("/photos/notes.txt", b"no image")
    yield "memory:///photos"  # as fsspec spells it
    memory.rm("/photos", recursive=True)


def found(names):
    bad = []
    return [str(place) for place in find_images(names, lambda *each: bad.append(each))], bad


def test_an_address_is_a_file_a_folder_or_a_glob(bucket):
    every = [f"{bucket}/{number}.png" for number in range(3)]
    assert found([bucket]) == (every, [])
    assert found([f"{bucket}/*.png"])[0][-3:] == every
    assert found([every[1], bucket]) == ([every[1], every[0], every[2]], [])
    assert found([f"{bucket}/none"]) == ([], [(f"{bucket}/none", f"there is nothing at {bucket}/none")])
    names, bad = found(["gone://bucket/x.png"])
    assert (names, bad[0][0]) == ([], "gone://bucket/x.png")
    assert "Protocol not known: gone" in bad[0][1]


def test_a_parquet_file_stands_for_its_rows(tmp_path):
    path = tmp_path / "cells.parquet"
    pq.write_table(table(range(5)), path, row_group_size=2)
    assert found([str(path)]) == ([f"{path}#{row}" for row in range(5)], [])
    batches = file_batches(find_images([str(path)], print), 28, 4, print, workers=2)
    images = torch.cat([batch for _, batch in batches])
    assert images[:, 1, 0, 0].tolist() == list(range(5))


def test_tables_without_images_and_damaged_ones_are_reported(tmp_path):
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 no")
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "text.parquet")
    names, bad = found([str(tmp_path / "*.parquet")])
    assert names == []
    assert "cannot be read" in bad[0][1]
    assert "no column of images: expected image, img" in bad[1][1]


def test_predict_takes_all_of_them_in_one_command(tmp_path, bucket, capsys):
    torch.manual_seed(0)
    network = ec.create_model("z2cnn", "hue3", num_classes=3, width=4).eval()
    ec.save_pretrained(network, tmp_path / "model", preparation=Preparation(28))
    cells = pa.table({"image": [png(0), b"no image", png(2)]})
    pq.write_table(cells, tmp_path / "cells.parquet")
    out = tmp_path / "said.jsonl"
    given = [str(tmp_path / "cells.parquet"), bucket]
    done = commands.predict(str(tmp_path / "model"), given, out=out, device="cpu")
    assert (done.count, done.bad) == (5, 1)
    assert "cells.parquet#1: cannot be read as an image" in capsys.readouterr().err
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["path"].rpartition("/")[2] for row in rows] == [
        "cells.parquet#0",
        "cells.parquet#2",
        "0.png",
        "1.png",
        "2.png",
    ]
    assert rows[0]["probabilities"] == pytest.approx(rows[2]["probabilities"])  # the same image
