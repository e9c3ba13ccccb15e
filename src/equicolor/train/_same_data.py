"""That a run goes on with the images it started with: they are recorded in its folder, and compared.

Which images a step sees follows from the seed and from how many there are. With others a run would go on all the same,
to an end that nobody asked for.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from equicolor._tools.files import write_text
from equicolor.data import Fingerprint
from equicolor.train._errors import TrainingError

#: ``{"training": {split: …}, "testing": {split: …}}``
Fingerprints = Mapping[str, Mapping[str, Fingerprint]]


def record_data(path: Path, data: Fingerprints) -> None:
    """Writes what a run is trained and tested on."""
    content = {use: {split: found.to_dict() for split, found in splits.items()} for use, splits in data.items()}
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n", durable=True)


def check_data(path: Path, data: Fingerprints) -> None:
    """Refuses images that are not those recorded in ``path``. Runs of before there were such records have none.

    Raises:
        TrainingError: naming what has changed.
    """
    if not path.exists():
        return
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
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            use: {split: Fingerprint.from_dict(found) for split, found in splits.items()}
            for use, splits in content.items()
        }
    except (ValueError, AttributeError) as error:
        raise TrainingError(
            f"{path} is damaged ({error}): it should say which images the run started with. Remove it if you know "
            "that they are the same"
        ) from None
