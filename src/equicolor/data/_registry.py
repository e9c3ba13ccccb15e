"""Which data sets there are: descriptions by name."""

from equicolor.data._description import Description

#: Every data set by name.
DATASETS: dict[str, Description] = {}


def register_data_set(description: Description) -> Description:
    """Makes a data set known to :func:`load`, and so to recipes and commands.

    Args:
        description: the set.

    Returns:
        The description, from which similar ones can be made by :func:`dataclasses.replace`.

    Raises:
        TypeError: this is no :class:`Description`.
        ValueError: the name is taken.

    Example:
        >>> def read(request):
        ...     images, labels = my_files(request.folder, request.part)  # uint8 (N, 3, H, W), int64 (N,)
        ...     return Raw(Held(images), labels, ("cat", "dog"))
        >>> splits = {"train": Split("train"), "test": Split("test")}  # doctest: +SKIP
        >>> pets = Description("pets", "ours", read, splits, 32, folder="pets", signs=("*.npy",))  # doctest: +SKIP
        >>> register_data_set(pets)  # doctest: +SKIP
        >>> ec.data.load("pets", root="data", split="test")  # doctest: +SKIP
    """
    if not isinstance(description, Description):
        raise TypeError(f"register_data_set takes a Description, got {type(description).__name__}")
    if description.name in DATASETS:
        raise ValueError(f"there is a data set {description.name!r} already: {DATASETS[description.name].title}")
    DATASETS[description.name] = description
    return description
