"""What sets of a user's own share: how they are cut where nobody has cut them, and how many images say their size."""

from collections.abc import Iterable

from equicolor.data._description import Split

#: Height and width of images that nobody gave a size for, at the most.
LARGEST = 256
#: So many images say how large the others are.
LOOKED_AT = 200
#: How a set that nobody has cut is cut, by the seed.
RANDOM = {
    "train": Split("all", share=(0, 8, 10)),
    "val": Split("all", share=(8, 9, 10)),
    "test": Split("all", share=(9, 10, 10)),
}
#: All splits together, which every set has.
WHOLE = {"all": Split("all")}
#: Said of a random cut where nobody said which images belong together.
UNGROUPED = (
    "splits are cut at random, image by image: images of one slide or patient may be in both parts; give a 'group' "
    "column in a table to keep them together"
)


def check_names(splits: Iterable[str], where: object) -> list[str]:
    """The names of splits that are given by the files, ``train`` first.

    Raises:
        ValueError: one of them is ``all``.
    """
    names = sorted(set(splits), key=lambda name: (name != "train", name))
    if "all" in names:
        raise ValueError(f"a split cannot be called 'all', which is all splits together: rename that of {where}")
    return names


def counted(images: int) -> str:
    """So many, in words.

    >>> counted(1), counted(2000)
    ('1 image', '2,000 images')
    """
    return f"{images:,} image{'s' * (images != 1)}"
