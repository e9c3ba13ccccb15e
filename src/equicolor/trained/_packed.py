"""A saved network as bytes, to be opened on another machine that does not see this one's files."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from equicolor.files import saved_folder
from equicolor.trained._onnx import is_onnx, open_network
from equicolor.trained._open import Opened


@dataclass(frozen=True)
class Packed:
    """The files of a saved network, and how it is to be opened, to be sent to other processes.

    Attributes:
        files: contents by name; one of them, where it is an ONNX file.
        image_size: as :func:`open_network` takes it.
        onnx: computed by onnxruntime.
    """

    files: dict[str, bytes]
    image_size: int | None = None
    onnx: bool = False

    @classmethod
    def of(cls, model: str | os.PathLike[str], image_size: int | None = None, onnx: bool = False) -> "Packed":
        """Packs a network, to be sent to other processes.

        Args:
            model: whatever :func:`open_network` takes.
            image_size: as for :func:`open_network`.
            onnx: whether onnxruntime is to compute it.

        Returns:
            The packed network.
        """
        place = Path(model).expanduser()
        found = [place] if is_onnx(place) else sorted(saved_folder(model).iterdir())
        return cls({path.name: path.read_bytes() for path in found if path.is_file()}, image_size, onnx)

    def open(self, device: str) -> Opened:
        """Opens the network, as it was saved.

        Args:
            device: as for :func:`open_model`.

        Returns:
            The network and its card.
        """
        with tempfile.TemporaryDirectory(prefix="equicolor-", ignore_cleanup_errors=True) as folder:
            for name, contents in self.files.items():
                (Path(folder) / name).write_bytes(contents)
            alone = Path(folder) / next(iter(self.files))
            return open_network(
                alone if is_onnx(alone) else folder, device, self.image_size, "onnx" if self.onnx else "torch"
            )
