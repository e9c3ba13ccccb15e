"""Networks on the Hugging Face hub."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn

from equicolor._tools.renamed import renamed
from equicolor.files._pretrained import read_card, save_pretrained
from equicolor.files._readme import README, is_ours, readme
from equicolor.files._state import needed


@renamed(licence="license")
def push_to_hub(model: nn.Module, hub_id: str, classes: Sequence[str] | None = None, **options: Any) -> str:
    """Publishes a network on the Hugging Face hub.

    A ``README.md`` that is there already, and that somebody wrote or changed, stays.

    Args:
        model: the network.
        hub_id: the repository, ``"owner/name"``.
        classes: the names of the logits.
        **options: those of :func:`save_pretrained`, such as ``license``; and those of
            ``huggingface_hub.HfApi.upload_folder``, such as ``commit_message``, ``revision`` and ``token``.

    Returns:
        The address of the repository.

    Example:
        >>> push_to_hub(model, "owner/cells", ["healthy", "sick"], license="mit")  # doctest: +SKIP
        'https://huggingface.co/owner/cells'
    """
    hub = needed("huggingface_hub")
    api = hub.HfApi(token=options.pop("token", None))
    api.create_repo(hub_id, exist_ok=True, private=options.pop("private", None))
    overwrite = options.pop("overwrite_readme", False)
    about = {
        name: options.pop(name) for name in ("preparation", "data", "recipe", "metrics", "license") if name in options
    }
    with tempfile.TemporaryDirectory() as folder:
        save_pretrained(model, folder, classes, **about)
        page = Path(folder) / README
        if not overwrite and _is_users(api, hub_id, options.get("revision")):
            page.unlink()
        else:
            page.write_text(readme(read_card(folder), hub_id), encoding="utf-8", newline="\n")
        return str(api.upload_folder(repo_id=hub_id, folder_path=folder, **options))


def _is_users(api: Any, hub_id: str, revision: str | None) -> bool:
    """Whether the repository has a page that is not as we wrote it."""
    if not api.file_exists(hub_id, README, revision=revision):
        return False
    there = Path(api.hf_hub_download(hub_id, README, revision=revision))
    return not is_ours(there.read_text(encoding="utf-8", errors="replace"))
