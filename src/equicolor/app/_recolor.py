"""What networks say about an image whose colours are moved: now, and over the whole range of a move."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from equicolor.app._moves import Move, moved
from equicolor.app._networks import Network
from equicolor.app._picture import Picture

#: Curves that are kept: sliding along one computes it once.
_KEPT = 64


@dataclass(frozen=True, eq=False)
class Answer:
    """What one network says about the moved image.

    Attributes:
        network: which.
        probabilities: of its classes, ``(K,)``.
        truth: the class that is followed, by its number.
        curve: the probability of that class at each of the move's places.
    """

    network: Network
    probabilities: Tensor
    truth: int
    curve: Tensor

    @property
    def says(self) -> str:
        """The likeliest class."""
        return self.network.classes[int(self.probabilities.argmax())]


class Recolored:
    """Answers to moved images. Curves are remembered, as a slider that moves along one does not change it."""

    def __init__(self) -> None:
        self._curves: OrderedDict[tuple[object, ...], Tensor] = OrderedDict()
        self._lock = threading.Lock()  # requests come in threads

    def answer(
        self, network: Network, image: Picture, amounts: Mapping[str, float], along: Move, label: str | None = None
    ) -> Answer:
        """What ``network`` says about ``image`` moved by ``amounts``, and along all of one move.

        Args:
            network: a classifier.
            image: as it was given.
            amounts: prefix → how far it is moved.
            along: the move of the curve; the other moves stay as they are.
            label: the class that is followed; by default that of the image, and if nobody knows it, what the network
                says of the image as it was given.
        """
        small = image.tensor(network.side, network.fit)
        now = network.probabilities(moved(small, amounts))[0]
        label = label or image.label
        if label in network.classes:
            truth = network.classes.index(label)
        else:
            truth = int(network.probabilities(small)[0].argmax())
        return Answer(network, now, truth, self._curve(network, image, small, amounts, along)[:, truth])

    def _curve(
        self, network: Network, image: Picture, small: Tensor, amounts: Mapping[str, float], along: Move
    ) -> Tensor:
        others = {prefix: amount for prefix, amount in amounts.items() if amount and prefix != along.prefix}
        key = (id(network), image.digest, along.prefix, *sorted(others.items()))
        with self._lock:
            known = self._curves.pop(key, None)
        if known is None:
            places = along.places()
            batch = moved(small.expand(len(places), -1, -1, -1), {**others, along.prefix: places})
            known = network.probabilities(batch)
        with self._lock:
            self._curves[key] = known  # the last, so that the first is the one asked for longest ago
            while len(self._curves) > _KEPT:
                self._curves.popitem(last=False)
        return known
