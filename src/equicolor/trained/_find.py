"""Which image files names stand for. What cannot be looked at is reported, and the rest go on."""

import fnmatch
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from equicolor._tools.pixels import irregular
from equicolor.data import IMAGE_SUFFIXES, is_address
from equicolor.trained._places import OnBad, Place, places_at, rows_or_itself


def find_images(names: Sequence[str], on_bad: OnBad) -> list[Place]:
    """Finds the images that names stand for: files, folders (with all below them) and globs, each file once.

    What begins like ``s3://`` is looked for there; a Parquet file stands for the images in its rows.

    The order is that of the names, and within a folder or glob that of the alphabet. In a folder, files are images by
    the end of their names, and what is hidden, by a name that starts with a dot, is left out. Links are followed, but
    not back into what is looked through already.

    Args:
        names: files, folders and globs; ``**`` in a glob stands for folders of any depth.
        on_bad: called with names that stand for nothing, folders that cannot be read, links that lead nowhere or in a
            circle, and pipes, sockets and devices, which might never end.

    Returns:
        The images.
    """
    found: dict[Place, None] = {}
    bad = 0

    def report(name: str, problem: str) -> None:
        nonlocal bad
        bad += 1
        on_bad(name, problem)

    for name in names:
        if is_address(name):
            found |= dict.fromkeys(places_at(name, report))
            continue
        path, before = Path(name).expanduser(), bad
        if os.path.isdir(path):
            entries = filter(_is_called_an_image, _walk(path, report))
            paths = [Path(entry.path) for entry in entries if _is_regular(entry, report)]
            nothing = "the folder holds no images"
        elif os.path.lexists(path) or not glob.has_magic(name):
            paths, nothing = [path] if _is_usable(path, name, report) else [], ""
        else:
            matches = _matching(path, report)
            paths = [match for match in matches if not match.is_dir() and _is_usable(match, str(match), report)]
            nothing = "no file matches"
        if not paths and bad == before:
            report(name, nothing)
        for path in paths:
            if path.suffix.lower() == ".parquet":
                found |= dict.fromkeys(rows_or_itself(str(path), report))
            else:
                found[path] = None
    return list(found)


def _is_called_an_image(entry: "os.DirEntry[str]") -> bool:
    """By the end of its name; a link without one may have led to a folder of images that is gone."""
    suffix = os.path.splitext(entry.name)[1].lower()
    return suffix in IMAGE_SUFFIXES or (not suffix and entry.is_symlink() and not os.path.exists(entry.path))


def _is_regular(entry: "os.DirEntry[str]", report: OnBad) -> bool:
    try:
        if entry.is_file():  # known from the folder, without another look
            return True
    except OSError:
        pass
    return _is_usable(Path(entry.path), entry.path, report)


def _is_usable(path: Path, name: str, report: OnBad) -> bool:
    """Whether a file is a regular one; if not, ``report`` is told why."""
    problem: str | None = None
    try:
        if kind := irregular(os.stat(path).st_mode):
            problem = f"it is {kind}, not a regular file"
    except OSError as error:
        problem = str(error.strerror)
        if os.path.islink(path):
            problem = f"a link that leads nowhere ({problem})"
        elif isinstance(error, FileNotFoundError):
            problem = "there is no such file or folder"
    except ValueError as error:  # a name with a zero byte
        problem = str(error)
    if problem is not None:
        report(name, problem)
    return problem is None


def _matching(pattern: Path, report: OnBad) -> list[Path]:
    """The files that a glob names, in the order of the alphabet."""
    parts = pattern.parts
    if "**" not in parts:
        return sorted(map(Path, glob.glob(os.fspath(pattern))))
    # Not by Python's own: links in circles would multiply without end.
    start = parts.index("**")
    return [
        Path(entry.path)
        for root in sorted(map(Path, glob.glob(os.path.join(*parts[:start], "")) if start else [Path()]))
        for entry in _walk(root, report)
        if _fits(Path(entry.path).parts[len(root.parts) :], parts[start:])
    ]


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatch.fnmatch(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _walk(folder: Path, report: OnBad) -> Iterator["os.DirEntry[str]"]:
    """What is below a folder and no folder itself, in the order of the paths, part by part, hidden things left out."""
    trees = [Path(os.path.realpath(folder))]  # what is looked through, as it is called without links
    waiting = [_entries(os.fspath(folder), report)]  # of our own: Python's stack ends after a thousand folders
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
        elif not _is_folder(entry):
            yield entry
        elif not entry.is_symlink() or _leads_elsewhere(entry, trees, report):
            waiting.append(_entries(entry.path, report))


def _entries(folder: str, report: OnBad) -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return iter(sorted((entry for entry in entries if entry.name[0] != "."), key=lambda entry: entry.name))
    except OSError as error:
        report(folder, f"the folder cannot be read ({error.strerror})")
        return iter(())


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _leads_elsewhere(link: "os.DirEntry[str]", trees: list[Path], report: OnBad) -> bool:
    """Whether a link to a folder leads out of all ``trees``; it is one of them then."""
    target = Path(os.path.realpath(link.path))
    if any(target.is_relative_to(tree) or tree.is_relative_to(target) for tree in trees):
        report(link.path, f"a link that leads back to {target}: not followed")
        return False
    trees.append(target)
    return True
