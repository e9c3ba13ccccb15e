"""What other packages add: groups, networks, data sets, experiments and commands, registered when they are imported."""

import importlib
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import entry_points


def load_plugins() -> None:
    """Imports what registers things of others; what is imported already stays as it is.

    These are the entry points of installed packages under ``equicolor.plugins``, and the modules, also of the working
    directory, that the environment variable EQUICOLOR_PLUGINS names, joined by commas.

    Raises:
        ImportError: one of them cannot be imported; the message names it.
    """
    for plugin in entry_points(group="equicolor.plugins"):
        _load(f"the plugin {plugin.value}", plugin.load)
    names = [name for name in os.environ.get("EQUICOLOR_PLUGINS", "").split(",") if name]
    if names and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for name in names:
        _load(f"the plugin {name}, which EQUICOLOR_PLUGINS names,", partial(importlib.import_module, name))


def _load(name: str, load: Callable[[], object]) -> None:
    try:
        load()
    except Exception as error:
        raise ImportError(f"{name} cannot be imported: {error}") from error
