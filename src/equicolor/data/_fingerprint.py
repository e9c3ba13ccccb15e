"""Which images a set consists of, in a few lines that can be kept and compared, found without reading their pixels."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from equicolor._tools.words import named


@dataclass(frozen=True)
class Fingerprint:
    """What tells a set of images from another; made by :meth:`equicolor.data.ImageSet.fingerprint`.

    It depends neither on where the files are nor on whether images are held in memory.

    Attributes:
        count: the number of images.
        classes: their names, in the order of the labels.
        image_size: height and width.
        labels: a digest (SHA-256) of the class of each image, in their order.
        names: a digest of what they are called: files by their names below the folder of the set, others by their
            number in the original release.
        contents: a digest of the sizes of the files; where there are none, of a few images.
    """

    count: int
    classes: tuple[str, ...]
    image_size: int
    labels: str
    names: str
    contents: str

    @property
    def digest(self) -> str:
        """One digest of all fields."""
        return sha256(str(value).encode() for value in asdict(self).values())

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON takes them."""
        return asdict(self) | {"classes": list(self.classes)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Fingerprint":
        """Makes a fingerprint from what :meth:`to_dict` gave.

        Args:
            values: the fields by name.

        Returns:
            The fingerprint.

        Raises:
            ValueError: there is something else in it.
        """
        try:
            return cls(**values | {"classes": tuple(values["classes"])})
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected the fingerprint of a set of images: {error}") from None

    def changes(self, now: "Fingerprint") -> str:
        """Says what has changed between this fingerprint and another, for a person to act on.

        Args:
            now: the other one.

        Returns:
            A few words; empty where nothing has.

        Example:
            >>> before = Fingerprint(20, ("cat", "dog"), 32, labels="a", names="b", contents="c")
            >>> before.changes(Fingerprint(18, ("ape", "cat"), 32, labels="d", names="e", contents="f"))
            "20 images before, 18 now; 2 classes before, 2 now, without 'dog' and with 'ape'"
        """
        found = []
        if self.count != now.count:
            found.append(f"{self.count:,} images before, {now.count:,} now")
        if self.classes != now.classes:
            found.append(f"{len(self.classes):,} classes before, {len(now.classes):,} now, {self._renamed(now)}")
        if self.image_size != now.image_size:
            found.append(f"images of {self.image_size}×{self.image_size} before, {now.image_size}×{now.image_size} now")
        if not found and self != now:  # only then do the digests say more
            kinds = {"names": self.names == now.names, "labels": self.labels == now.labels}
            kinds["sizes or contents"] = self.contents == now.contents
            same = [kind for kind, equal in kinds.items() if equal]
            other = [kind for kind, equal in kinds.items() if not equal]
            found.append(f"as many images and the same {named(['classes', *same])}, but other {named(other)}")
        return "; ".join(found)

    def _renamed(self, now: "Fingerprint") -> str:
        both = set(self.classes) & set(now.classes)
        gone, new = ([repr(name) for name in one.classes if name not in both] for one in (self, now))
        parts = [f"{word} {named(names)}" for word, names in (("without", gone), ("with", new)) if names]
        return " and ".join(parts) or "in another order"


def sha256(parts: Iterable[bytes]) -> str:
    """The digest of some parts, which does not run them together."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
