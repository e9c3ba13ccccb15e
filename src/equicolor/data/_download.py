"""Files fetched from where they are published: checked, resumed, and safe when two processes start at once."""

import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from equicolor._tools.files import digest, put_in_place
from equicolor.data._errors import DataNotFoundError

_BLOCK = 1 << 20
_TIMEOUT = 30.0


@dataclass(frozen=True)
class Remote:
    """A file that the authors of a data set publish.

    Args:
        url: its address.
        md5: its published MD5 sum.
        unpacks_to: for an archive, the folder it unpacks to.
    """

    url: str
    md5: str
    unpacks_to: str | None = None

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.url.rpartition("/")[2]


def fetch(remote: Remote, folder: Path, progress: bool = True) -> Path:
    """The file in ``folder``, downloaded unless it is there already. What an archive unpacks to is returned instead.

    A download is written beside its target and takes the target's name once its sum is right, so a file that exists is
    complete. An interrupted download goes on where it stopped. Of several processes one downloads, the others wait.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (remote.unpacks_to or remote.name)
    if target.exists():
        return target
    from filelock import FileLock

    with FileLock(folder / f".{remote.name}.lock"):
        if target.exists():  # another process was faster
            return target
        archive = folder / remote.name
        if not archive.exists():
            _download(remote, archive, progress)
        if remote.unpacks_to:
            _unpack(archive, target)
        return target


def _download(remote: Remote, target: Path, progress: bool) -> None:
    partial = target.with_name(f"{target.name}.part")
    resumed = partial.exists() and partial.stat().st_size > 0
    _transfer(remote.url, partial, progress)
    if digest(partial, "md5") != remote.md5 and resumed:  # what was there was not the beginning of this file
        partial.unlink()
        _transfer(remote.url, partial, progress)
    if (found := digest(partial, "md5")) != remote.md5:
        partial.unlink()
        raise ValueError(f"{remote.url} has the MD5 sum {found}, expected {remote.md5}: the download was thrown away")
    put_in_place(partial, target)


def _transfer(url: str, partial: Path, progress: bool) -> None:
    from tqdm import tqdm  # type: ignore[import-untyped]

    have = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            continues = response.status == 206
            announced = response.headers.get("Content-Length")
            total = int(announced) + (have if continues else 0) if announced else None
            sizes = {"total": total, "initial": have if continues else 0, "unit": "B", "unit_scale": True}
            with (
                tqdm(desc=partial.stem, **sizes, unit_divisor=1024, disable=not progress) as bar,
                partial.open("ab" if continues else "wb") as file,
            ):
                while block := response.read(_BLOCK):
                    file.write(block)
                    bar.update(len(block))
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # nothing is left to send: whether it is complete, the sum will tell
            return
        raise DataNotFoundError(f"{url} cannot be downloaded: {error}") from error
    except (OSError, ValueError) as error:  # no connection, or one that broke; what came so far is kept
        raise DataNotFoundError(f"{url} cannot be downloaded: {error}") from error
    if total is not None and partial.stat().st_size < total:
        raise DataNotFoundError(
            f"the connection to {url} broke after {partial.stat().st_size:,} of {total:,} bytes: call again to go on"
        )


def _unpack(archive: Path, target: Path) -> None:
    """Unpacks beside the target, then renames: a folder that exists is complete."""
    scratch = target.with_name(f".{target.name}.unpacking")
    with tarfile.open(archive) as tar:
        tar.extractall(scratch, filter="data")  # an earlier, interrupted attempt is overwritten file by file
    inner = scratch / target.name
    if not inner.exists():
        raise ValueError(f"{archive} does not hold {target.name}")
    inner.replace(target)
    scratch.rmdir()
