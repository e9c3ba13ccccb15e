"""Small sharded Parquet files, as Hugging Face datasets would write them."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

CLASSES = ["dark", "bright"]


def png(number: int) -> bytes:
    """An image whose colour says its number, and whose brightness its class."""
    file = io.BytesIO()
    level = 200 if number % 2 else 40
    Image.new("RGB", (28, 28), (level, number % 256, 255 - level)).save(file, "png")
    return file.getvalue()


def table(numbers) -> pa.Table:
    """Images of these numbers, with classes that are named in the metadata."""
    about = {"info": {"features": {"label": {"names": CLASSES, "_type": "ClassLabel"}}}}
    columns = {
        "image": [{"bytes": png(number), "path": None} for number in numbers],
        "label": [number % 2 for number in numbers],
    }
    return pa.table(columns).replace_schema_metadata({"huggingface": json.dumps(about)})


def write_shards(folder, train=96, test=16, shards=4, group=6):
    """Training images in several files of small row groups, and test images in one."""
    folder.mkdir(parents=True, exist_ok=True)
    each = -(-train // shards)
    for shard in range(shards):
        numbers = range(shard * each, min(train, (shard + 1) * each))
        path = folder / f"train-{shard:05}-of-{shards:05}.parquet"
        pq.write_table(table(numbers), path, row_group_size=group)
    pq.write_table(table(range(test)), folder / "test-00000-of-00001.parquet")
    return folder
