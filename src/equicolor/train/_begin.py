"""What a run of another library's network begins with: weights in a file, or those of a run or a saved model."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors.torch import save_file

from equicolor.files import from_pretrained, saved_folder
from equicolor.sources import SourceModel


@contextmanager
def weights_file(weights: str | None) -> Iterator[str | None]:
    """A file with the weights of the plain network; those of a folder are written into one for the time being.

    Args:
        weights: a file, which is given back; or the folder of a run or of a saved model.

    Raises:
        ValueError: the folder holds another kind of network.
    """
    if weights is None or not Path(weights).expanduser().is_dir():
        yield weights
        return
    saved = from_pretrained(saved_folder(weights))
    if not isinstance(saved, SourceModel) or saved.group is not None:
        raise ValueError(
            f"the network in {weights} is {_named(saved)}: weights are those of a network of timm or torchvision "
            "without a group"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "weights.safetensors")
        save_file({name: value.contiguous() for name, value in saved.body.state_dict().items()}, file)
        yield file


def _named(model: object) -> str:
    config = getattr(model, "config", {})
    return f"{config.get('name', type(model).__name__)} with {config.get('group') or 'no group'}"
