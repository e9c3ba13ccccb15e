"""The columns of a comparison: the sets that networks are tested on, and the domains within them."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from equicolor.data import ImageSet


@dataclass(frozen=True)
class Column:
    """A column of a comparison: images that are tested on together.

    Attributes:
        name: the name of the column.
        split: the split of the data that the images are in.
        domain: the domain of the split, where they are one of several; None for all of the split.
        seen: whether networks were trained on images of this domain; None where that is not known.
        images: how many there are.
        size: how many a balanced error over them is worth: as many as there are where classes are balanced, fewer
            elsewhere. None where that is not known.
    """

    name: str
    split: str
    domain: str | None = None
    seen: bool | None = None
    images: int | None = None
    size: float | None = None

    @property
    def spoken(self) -> str:
        """The name of the column, and what is known of the domain."""
        note = {None: "", True: " (seen in training)", False: " (not seen in training)"}[self.seen]
        return f"{self.name}{note}"


def columns_of(train: ImageSet, tests: Mapping[str, ImageSet]) -> list[Column]:
    """The test sets, and after each that has several domains, these."""
    known = set() if train.domains is None else set(train.domains.values)
    result = []
    for split, images in tests.items():
        result.append(Column(split, split, None, _seen(images, known), len(images), _worth(images.labels)))
        for domain in domains_in(images):
            there = _rows_of(images, domain)
            seen = domain in known if known else None
            name = domain_column(split, domain)
            result.append(Column(name, split, domain, seen, len(there), _worth(images.labels[there])))
    return result


def domains_in(images: ImageSet) -> list[str]:
    """The domains of a set, if it has several."""
    if images.domains is None:
        return []
    there = set(images.domains.codes.tolist())
    return [name for code, name in enumerate(images.domains.names) if code in there] if len(there) > 1 else []


def domain_column(split: str, domain: str) -> str:
    """What the column of a domain is called."""
    return f"{split}: {domain}"


def _rows_of(images: ImageSet, domain: str) -> Tensor:
    assert images.domains is not None
    return (images.domains.codes == images.domains.names.index(domain)).nonzero().flatten()


def _seen(images: ImageSet, known: set[str]) -> bool | None:
    if images.domains is None or not known:
        return None
    there = set(images.domains.values)
    return True if there <= known else False if not there & known else None


def _worth(labels: Tensor) -> float:
    """So many images with balanced classes have a balanced error that is as certain.

    >>> import torch
    >>> _worth(torch.tensor([0, 1] * 50)), round(_worth(torch.tensor([0] * 90 + [1] * 10)))
    (100.0, 36)
    """
    counts = labels.bincount()
    counts = counts[counts > 0].double()
    return float(len(counts) ** 2 / (1 / counts).sum()) if len(counts) else 0.0
