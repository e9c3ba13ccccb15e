"""The small networks that come with the package, for examples, tutorials and the app: found without the hub."""

from pathlib import Path

#: Whose name they have, as if they were repositories on the hub.
OWNER = "equicolor"
_FOLDER = Path(__file__).parent / "shipped"


def list_shipped() -> tuple[str, ...]:
    """Lists the networks that come with the package, for :func:`from_pretrained`; nothing is downloaded.

    Returns:
        Names, ``"equicolor/NAME"``. The card of each says how it was trained, and how good it is.

    Example:
        >>> list_shipped()[:2]
        ('equicolor/cells-gains', 'equicolor/cells-plain')
    """
    return tuple(f"{OWNER}/{folder.name}" for folder in sorted(_FOLDER.iterdir()) if folder.is_dir())


def shipped_folder(name: str) -> Path | None:
    """The folder of the network of this name; None where it is none of ours."""
    return _FOLDER / name.partition("/")[2] if name in list_shipped() else None
