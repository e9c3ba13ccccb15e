"""How much a request may take, and how many there may be."""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """What is refused is refused early: sizes before they are read, pixels before they are decoded.

    Memory is bounded by them: at most ``queue`` bodies of ``body`` bytes, and ``workers`` images of ``pixels`` pixels.

    Args:
        body: bytes of a request.
        pixels: of an image, width times height, whatever the size of its file.
        seconds: from the first byte of a request to its answer.
        queue: requests that are read, decoded or waiting at the same time; one more is answered with 503.
        batch: images that the network is shown at once.
        wait: seconds that the first image of a batch waits for others.
        workers: threads that decode images.

    Raises:
        ValueError: one of them is not positive; ``wait`` may be 0.

    >>> Limits(queue=0)
    Traceback (most recent call last):
    ValueError: queue must be positive, got 0
    """

    body: int = 16 << 20
    pixels: int = 50_000_000
    seconds: float = 30.0
    queue: int = 256
    batch: int = 32
    wait: float = 0.002
    workers: int = 2

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not value > 0 and not (limit.name == "wait" and value == 0):
                raise ValueError(f"{limit.name} must be positive, got {value}")
