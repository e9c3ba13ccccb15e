"""British and American spelling: names are American, and either is understood."""

from collections.abc import Iterable
from difflib import get_close_matches

_AMERICAN = {"colour": "color", "grey": "gray", "centre": "center", "licence": "license", "isation": "ization"}
_AMERICAN |= {"canonicalise": "canonicalize", "normalise": "normalize", "haematoxylin": "hematoxylin"}


def american(name: str) -> str:
    """A name in American spelling.

    >>> american("flip+colour-jitter+grey")
    'flip+color-jitter+gray'
    """
    for british, usual in _AMERICAN.items():
        name = name.replace(british, usual)
    return name


def spelled_as(name: str, names: Iterable[str]) -> str:
    """The one of ``names`` that is ``name`` in either spelling; ``name`` itself where there is none.

    >>> spelled_as("colour_of_shapes3d", ["digits", "color_of_shapes3d"])
    'color_of_shapes3d'
    """
    names = list(names)
    if name in names:
        return name
    return next((each for each in names if american(each) == american(name)), name)


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """What may have been meant by a name that is none of ``names``, as a sentence; empty where nothing is like it.

    >>> did_you_mean("resnet1", ["resnet18", "z2cnn"])
    " Did you mean 'resnet18'?"
    """
    close = get_close_matches(str(name), map(str, names), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
