"""torchmetrics' functions for classification, imported when they are first needed."""

from typing import Any

from equicolor._tools.optional import require
from equicolor._tools.vision import before_others_import_it


def torchmetrics() -> Any:
    """``torchmetrics.functional.classification``; torchvision, which it imports, is made importable first.

    Raises:
        ModuleNotFoundError: it is not installed; the message says how to.
    """
    before_others_import_it()
    return require("torchmetrics.functional.classification", "evaluating")
