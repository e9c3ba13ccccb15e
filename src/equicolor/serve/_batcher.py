"""Dynamic batching: images that come one by one, shown to a network together, each answer back to whoever asked."""

import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from equicolor.trained import Prediction, predict


@dataclass
class _Waiting:
    """An image on its way, and where its answer is expected."""

    name: str
    image: NDArray[np.uint8]
    deadline: float  # by time.monotonic()
    answer: "Future[Prediction]" = field(default_factory=Future)

    def is_awaited(self) -> bool:
        """Whether somebody wants to know still; asked once, when the network is free for it."""
        if not self.answer.set_running_or_notify_cancel():
            return False
        if is_late := time.monotonic() >= self.deadline:
            self.answer.set_exception(TimeoutError())
        return not is_late


class Batcher:
    """One thread that holds the network. It takes what waits, up to a batch, and waits a moment for more.

    While the network is busy others gather, so that batches grow with the load, and a lone image does not wait long.

    Args:
        model: a classifier; images are prepared as ``model.preparation`` says, by :func:`equicolor.trained.predict`.
        classes: the names of its logits.
        batch: the most images at once.
        wait: seconds that the first of them waits for others.
        on_batch: is told of the size of each batch.
    """

    def __init__(
        self, model: nn.Module, classes: Sequence[str], batch: int, wait: float, on_batch: Callable[[int], None]
    ) -> None:
        self._model, self._classes = model, classes
        self._batch, self._wait, self._on_batch = batch, wait, on_batch
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._shown: list[_Waiting] = []  # to the network, at this moment, and not answered yet
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="equicolor-network", daemon=True)

    def start(self) -> None:
        """Begins to work."""
        self._thread.start()

    @property
    def is_working(self) -> bool:
        """Whether it takes images."""
        return self._thread.is_alive() and not self._ended

    def ask(self, name: str, image: NDArray[np.uint8], seconds: float = math.inf) -> "Future[Prediction]":
        """The answer to come for a decoded image ``(S, S, 3)``.

        Cancelled, or after so many seconds, it is not shown to the network any more: nobody waits for it.
        """
        waiting = _Waiting(name, image, time.monotonic() + seconds)
        self._queue.put(waiting)
        return waiting.answer

    def stop(self, seconds: float) -> None:
        """Answers what was asked before, and ends."""
        self._queue.put(None)
        self._thread.join(seconds)

    def _work(self) -> None:
        while not self._ended:
            self._answer()

    def _answer(self) -> None:
        """What comes, until the end, or until the network fails; that is told to those who asked for this batch."""
        try:
            for each in predict(self._model, self._batches(), self._classes):
                self._shown.pop(0).answer.set_result(each)
        except Exception as error:
            while self._shown:
                self._shown.pop(0).answer.set_exception(error)

    def _batches(self) -> Iterator[tuple[list[str], Tensor]]:
        """What :func:`predict` asks for, batch by batch, as they come."""
        while not self._ended:
            self._shown = [each for each in self._gathered() if each.is_awaited()]
            if self._shown:
                self._on_batch(len(self._shown))
                images = torch.from_numpy(np.stack([each.image for each in self._shown])).permute(0, 3, 1, 2)
                yield [each.name for each in self._shown], images

    def _gathered(self) -> list[_Waiting]:
        """The next one, and what else is there or comes soon."""
        gathered: list[_Waiting] = []
        end: float | None = None
        while len(gathered) < self._batch and not self._ended:
            try:
                left = None if end is None else max(0.0, end - time.monotonic())
                waiting = self._queue.get(timeout=left) if left != 0 else self._queue.get_nowait()
            except queue.Empty:
                break
            if waiting is None:
                self._ended = True
            else:
                gathered.append(waiting)
                end = end or time.monotonic() + self._wait
        return gathered
