"""Optional libraries, imported when they are first needed and named in the error when they are missing."""

import importlib
from typing import Any


def require(module: str, purpose: str, install: str = "equicolor[train]") -> Any:
    """The module of this name, or an error that says what needs it and what to install.

    >>> require("math", "counting").pi > 3
    True
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module + ".").startswith(error.name + "."):
            raise  # the library is there; something it needs itself is not
        raise ModuleNotFoundError(
            f"{purpose} needs {module.partition('.')[0]!r}, which is not installed: pip install '{install}'",
            name=error.name,
        ) from error
