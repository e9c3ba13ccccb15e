"""Images in batches, each with its name: decoded from files by several threads, or those of a data set."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equicolor._tools.images import Fit, said
from equicolor._tools.machine import cores
from equicolor.data import CorruptImageError, Decoding, ImageSet, decode
from equicolor.trained._places import OnBad, Place

#: Batches whose files are being decoded while the network is busy with one before them.
_AHEAD = 2


def default_workers() -> int:
    """The number of threads that decode images where nothing is said.

    Returns:
        One for each core that this process may use, at most 8.
    """
    return cores(most=8)


def file_batches(
    paths: Iterable[Place], image_size: int, batch_size: int, on_bad: OnBad, fit: Fit = "crop", workers: int = 0
) -> Iterator[tuple[list[str], Tensor]]:
    """Reads image files in batches, in their order; those that cannot be read are left out.

    Args:
        paths: files, addresses, rows of Parquet files, as :func:`find_images` finds them.
        image_size: height and width that they are fitted into.
        batch_size: how many at once.
        on_bad: called with each file that cannot be read, in the order of the files.
        fit: how they are fitted: ``"crop"`` scales the short side and cuts out the centre, ``"stretch"`` scales both
            sides.
        workers: threads that decode ahead; 0 for none, each batch when it is asked for. Images of a few batches are in
            memory at a time, however many files there are.

    Returns:
        Names, and images uint8 ``(B, 3, image_size, image_size)``, batch by batch.

    Raises:
        ValueError: ``batch_size`` is not positive, or ``workers`` is negative.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be positive, got {batch_size}")
    if workers < 0:
        raise ValueError(f"workers must be 0 or more, got {workers}")
    decoded = _decoded(paths, Decoding(image_size, fit), workers, _AHEAD * batch_size)
    return _stacked(_good(decoded, on_bad), batch_size)


def _stacked(
    images: "Iterator[tuple[Place, NDArray[np.uint8]]]", batch_size: int
) -> Iterator[tuple[list[str], Tensor]]:
    while batch := list(islice(images, batch_size)):
        stacked = torch.from_numpy(np.stack([image for _, image in batch]))
        yield [str(path) for path, _ in batch], stacked.permute(0, 3, 1, 2)


#: A file, and its image, or what is wrong with it.
_Read = tuple[Place, NDArray[np.uint8] | str]


def _read(path: Place, how: Decoding) -> _Read:
    try:
        data = path if isinstance(path, Path) else path.data()
    except (OSError, ValueError) as error:
        return path, f"cannot be read ({said(error)})"
    try:
        return path, decode(data, how, lambda: str(path))
    except CorruptImageError as error:
        return path, f"cannot be read as an image ({said(error.__cause__ or error)})"


def _decoded(paths: Iterable[Place], how: Decoding, workers: int, ahead: int) -> Iterator[_Read]:
    """All files in their order; so many of them are decoded before they are asked for."""
    read = partial(_read, how=how)
    if not workers:
        yield from map(read, paths)
        return
    waiting: deque[Future[_Read]] = deque()
    remaining = iter(paths)
    pool = ThreadPoolExecutor(workers, "decode")
    try:
        while True:
            waiting.extend(pool.submit(read, path) for path in islice(remaining, ahead - len(waiting)))
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:  # whoever asked has seen enough
        pool.shutdown(cancel_futures=True)


def _good(images: Iterable[_Read], on_bad: OnBad) -> Iterator[tuple[Place, NDArray[np.uint8]]]:
    for path, image in images:
        if isinstance(image, str):
            on_bad(str(path), image)
        else:
            yield path, image


def image_names(images: ImageSet) -> tuple[str, ...]:
    """What to call each image of a set: its file, or its place in the release of its data set.

    Args:
        images: the set.

    Returns:
        The names.
    """
    rows = images.original_rows.tolist()
    if images.origin:
        return tuple(images.origin[0].name(row) for row in rows)
    return tuple(f"{images.name}/{images.split}/{row}" for row in rows)


def set_batches(images: ImageSet, batch_size: int) -> Iterator[tuple[list[str], Tensor]]:
    """Gives the images of a data set in batches, with their names.

    Args:
        images: the set.
        batch_size: how many at once.

    Returns:
        Names and images, batch by batch.
    """
    names = image_names(images)
    for number, batch in enumerate(images.batches(batch_size)):
        yield list(names[number * batch_size : (number + 1) * batch_size]), batch.images
