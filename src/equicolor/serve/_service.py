"""From an encoded image to a prediction: decoded by threads, predicted in batches, each within its time."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equicolor._tools.cells import printable, six_digits
from equicolor._tools.images import said, sides
from equicolor._tools.pixels import TooManyPixelsError
from equicolor.data import CorruptImageError, Decoding, decode
from equicolor.models import Preparation
from equicolor.serve._batcher import Batcher
from equicolor.serve._bodies import Upload
from equicolor.serve._errors import RefusedError, busy, no_image, too_large
from equicolor.serve._limits import Limits
from equicolor.serve._metrics import Metrics
from equicolor.trained import Opened, Prediction, class_names

_LOG = logging.getLogger("equicolor.serve")


class Service:
    """A network that answers, within limits.

    Args:
        opened: a classifier.
        limits: of everything.

    Raises:
        ValueError: it is no classifier, or two of its classes have one name.
    """

    def __init__(self, opened: Opened, limits: Limits = Limits()) -> None:  # noqa: B008
        if opened.card.task != "classification":
            raise ValueError(f"serve takes a classifier: this network is for {opened.card.task}")
        self.opened, self.limits, self.metrics = opened, limits, Metrics()
        self.classes = class_names(opened.classes)
        if twice := sorted({name for name in self.classes if self.classes.count(name) > 1}):
            raise ValueError(f"several classes are called {twice[0]!r}, and answers are by name")
        plan = opened.preparation or Preparation(opened.model.image_size)
        self._how = Decoding(plan.side, plan.fit)
        self._decoders = ThreadPoolExecutor(limits.workers, "equicolor-decode")
        self._batcher = Batcher(opened.model, self.classes, limits.batch, limits.wait, self.metrics.batch.observe)
        self._in_progress = 0
        self.is_stopping = False

    def start(self) -> None:
        """Takes images from now on. The network is shown one first: what is wrong with it is said now, not later.

        Raises:
            ValueError: it does not compute finite logits, or not with so many names.
        """
        self._batcher.start()
        self._batcher.ask("", np.zeros((self._how.size, self._how.size, 3), np.uint8)).result()

    @property
    def is_well(self) -> bool:
        """Whether images are taken."""
        return self._batcher.is_working and not self.is_stopping

    def stop(self) -> None:
        """Takes no more images, and ends when those that were taken are answered."""
        self.is_stopping = True
        self._batcher.stop(self.limits.seconds)
        self._decoders.shutdown(wait=False, cancel_futures=True)

    def enter(self) -> None:
        """One more request.

        Raises:
            RefusedError: there are too many, or the service stops.
        """
        if not self.is_well:
            raise busy("the service is stopping")
        if self._in_progress >= self.limits.queue:
            raise busy(f"{self.limits.queue:,} requests are waiting already, no more are taken: try again later")
        self._in_progress += 1
        self.metrics.waiting.set(self._in_progress)

    def leave(self) -> None:
        """It is over."""
        self._in_progress -= 1
        self.metrics.waiting.set(self._in_progress)

    async def answer(self, upload: Upload, deadline: float) -> Prediction:
        """The prediction of an image.

        Args:
            upload: the file.
            deadline: by the clock of the running loop; what is decoded later is not shown to the network any more.

        Raises:
            RefusedError: it is none, or too large, too late, or the network failed.
        """
        loop = asyncio.get_running_loop()
        image = await loop.run_in_executor(self._decoders, self._decoded, upload)
        left = deadline - loop.time()
        if left <= 0:
            raise self.too_late()
        try:
            asked = asyncio.wrap_future(self._batcher.ask(upload.name, image, left))
            return await asyncio.wait_for(asked, left)
        except (asyncio.TimeoutError, TimeoutError):  # two classes before Python 3.11
            raise self.too_late() from None
        except (ValueError, RuntimeError) as error:  # of the network: for the log, not for the sender
            _LOG.error("the network failed: %s", error)
            reason = "the network failed on this image, or on another of its batch"
            raise RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, reason) from error

    def too_late(self) -> RefusedError:
        """504."""
        return RefusedError(HTTPStatus.GATEWAY_TIMEOUT, f"there was no answer within {self.limits.seconds:g} s")

    def _decoded(self, upload: Upload) -> NDArray[np.uint8]:
        """As ``equicolor predict`` decodes a file; in a thread."""
        found = sides(upload.data)
        if found is not None and found[0] * found[1] > self.limits.pixels:
            raise too_large(f"the image has {found[0]:,}×{found[1]:,} pixels, more than {self.limits.pixels:,}")
        try:
            return decode(upload.data, self._how, lambda: "the image")
        except CorruptImageError as error:
            if isinstance(error.__cause__, TooManyPixelsError):  # so many that nobody says how many
                raise too_large(f"the image has more than {self.limits.pixels:,} pixels") from None
            raise no_image(f"the file cannot be read as an image ({said(error.__cause__ or error)})") from None

    def reply(self, said_of: Prediction) -> dict[str, Any]:
        """A prediction as JSON, the same as a line of ``equicolor predict --format jsonl``."""
        numbers = map(six_digits, said_of.probabilities.tolist())
        return {
            "path": printable(said_of.path),
            "class": printable(said_of.label),
            "probability": six_digits(said_of.probability),
            "probabilities": dict(zip(map(printable, self.classes), numbers, strict=True)),
        }
