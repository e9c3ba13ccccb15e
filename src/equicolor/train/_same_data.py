"""That a run goes on with the images it started with: they are recorded in its folder, and compared.

Which images a step sees follows from the seed and from how many there are. With others a run would go on all the same,
to an end that nobody asked for.
"""

from collections.abc import Mapping
from pathlib import Path

from equicolor._tools.files import write_json
from equicolor.data import Fingerprint
from equicolor.train._disk import read_json, readable
from equicolor.train._errors import TrainingError

#: ``{"training": {split: …}, "testing": {split: …}}``
Fingerprints = Mapping[str, Mapping[str, Fingerprint]]
_TODO = "It should say which images the run started with: move it elsewhere if you know that they are the same"


def record_data(path: Path, data: Fingerprints) -> None:
    """Writes what a run is trained and tested on."""
    content = {use: {split: found.to_dict() for split, found in splits.items()} for use, splits in data.items()}
    write_json(path, content, durable=True)


def check_data(path: Path, data: Fingerprints) -> None:
    """Refuses images that are not those recorded in ``path``. Runs of before there were such records have none.

    Raises:
        TrainingError: naming what has changed.
    """
    if not path.exists():
        return
    with readable(path, _TODO):
        recorded = _read(path)
        changes = [
            f"{use} on {split}: {change}"
            for use, splits in data.items()
            for split, now in splits.items()
            if split in recorded.get(use, {}) and (change := recorded[use][split].changes(now))
        ]
    if changes:
        raise TrainingError(
            f"the images have changed since the run in {path.parent} started ({'. '.join(changes)}). Put them back as "
            "they were and resume again, or start a new run in another folder"
        )


def _read(path: Path) -> Fingerprints:
    return {
        use: {split: Fingerprint.from_dict(found) for split, found in splits.items()}
        for use, splits in read_json(path, _TODO).items()
    }
