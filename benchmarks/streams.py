"""What is equal when a shuffled stream of shards goes on: in Hugging Face ``datasets``, and in the order of equicolor.

python benchmarks/streams.py

A stream of 960 numbered rows in 8 Parquet files is stopped after 400, and goes on from its state in a new object; then
it is read by two processes instead of one, each with its half of every batch of 16.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from datasets.distributed import split_dataset_by_node

from equicolor.data import stream_order
from equicolor.train import StepSampler

ROWS, FILES, GROUP, BATCH, STOP = 960, 8, 30, 16, 400


def main() -> None:
    """Prints a row for each."""
    print(f"datasets {datasets.__version__}\n")
    print("| | goes on in the same order | rows lost | rows twice | same batches with two processes |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        each = ROWS // FILES
        files = [str(Path(folder) / f"train-{number:05}-of-{FILES:05}.parquet") for number in range(FILES)]
        for number, file in enumerate(files):
            rows = pa.table({"row": range(number * each, (number + 1) * each)})
            pq.write_table(rows, file, row_group_size=GROUP)
        report("datasets, shuffle(buffer_size=100)", *of_datasets(files))
    report("equicolor", *of_equicolor())


def of_datasets(files: list[str]) -> tuple[list[int], list[int], list[int], list[list[int]]]:
    """The whole stream, its beginning, how it goes on, and what two processes see."""

    def stream() -> datasets.IterableDataset:
        rows = datasets.load_dataset("parquet", data_files={"train": files}, split="train", streaming=True)
        return rows.shuffle(seed=0, buffer_size=100)

    first, rest = stream(), stream()
    rows = iter(first)
    begun = [next(rows)["row"] for _ in range(STOP)]
    rest.load_state_dict(first.state_dict())
    two = [[each["row"] for each in split_dataset_by_node(stream(), rank, 2)] for rank in range(2)]
    return [each["row"] for each in stream()], begun, [each["row"] for each in rest], two


def of_equicolor() -> tuple[list[int], list[int], list[int], list[list[int]]]:
    """The same of ours."""
    groups = torch.arange(ROWS) // GROUP

    def stream(start: int = 0, rank: int = 0, world: int = 1) -> list[int]:
        def order(epoch: int) -> torch.Tensor:
            return stream_order(groups, BATCH, 0, epoch)

        sampler = StepSampler(ROWS, BATCH, ROWS // BATCH, 0, start, rank=rank, world=world, order=order)
        return [row for batch in sampler for row in batch]

    return stream(), stream()[:STOP], stream(STOP // BATCH), [stream(rank=rank, world=2) for rank in range(2)]


def report(title: str, whole: list[int], begun: list[int], rest: list[int], two: list[list[int]]) -> None:
    """One line of the table."""
    lost, twice = len(set(whole) - set(begun) - set(rest)), len(set(begun) & set(rest))
    halves = zip(*(cut(each, BATCH // 2) for each in two), strict=True)
    same = [sorted(one + other) for one, other in halves] == [sorted(batch) for batch in cut(whole, BATCH)]
    print(f"| {title} | {yes(begun + rest == whole)} | {lost} | {twice} | {yes(same)} |")


def cut(rows: Sequence[int], size: int) -> list[list[int]]:
    """In batches."""
    return [list(rows[start : start + size]) for start in range(0, len(rows), size)]


def yes(answer: bool) -> str:
    """In a word."""
    return "yes" if answer else "no"


if __name__ == "__main__":
    main()
