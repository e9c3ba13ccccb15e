"""The plain network of the same recipe, where it was trained too: what a group network is to be held against."""

import dataclasses
import os
from pathlib import Path

from equicolor.files import list_shipped
from equicolor.train import Run


def plain_beside(run_or_model: str | os.PathLike[str]) -> str | None:
    """Finds the plain network that was trained like this one but for its group.

    It is looked for among the runs in the same folder, and of networks that come with the package among those.

    Args:
        run_or_model: the folder of a run, or a name.

    Returns:
        Its folder or name; None where there is none.
    """
    name = os.fspath(run_or_model)
    if name in list_shipped():
        plain = f"{name.rpartition('-')[0]}-plain"
        return plain if plain in list_shipped() and plain != name else None
    folder = Path(name)
    if not Run.is_finished(folder):
        return None
    own = Run.read(folder).recipe
    if own.group is None:
        return None
    wanted = _material(dataclasses.replace(own, group=None))
    for other in sorted(folder.resolve().parent.iterdir()):
        if Run.is_finished(other) and (run := Run.read(other)).has_model and _material(run.recipe) == wanted:
            return str(folder.parent / other.name)
    return None


def _material(recipe: object) -> dict[str, object]:
    """What a recipe computes: neither what is logged, nor which other seeds there are."""
    fields = dataclasses.asdict(recipe)  # type: ignore[call-overload]
    return {name: value for name, value in fields.items() if name not in ("seeds", "loggers", "log_every")}
