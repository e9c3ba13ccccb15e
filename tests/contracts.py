"""A kind of contract for import-linter, which has none of its own for this: no private name crosses a package."""

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from importlinter import Contract, ContractCheck, fields, output


class NoPrivateImports(Contract):
    """What is called ``_name``, a module or something in one, is imported only by modules of the package it is in.

    ``open_to_all``: private packages that everybody may import from.
    """

    type_name = "no_private_imports"
    package = fields.StringField()
    open_to_all = fields.SetField(subfield=fields.StringField(), required=False, default=set())

    def check(self, graph: Any, verbose: bool) -> ContractCheck:
        root = Path(next(iter(importlib.util.find_spec(self.package).submodule_search_locations)))
        broken = [
            f"{file.relative_to(root.parent)}:{line} imports {name}"
            for file in sorted(root.rglob("*.py"))
            for line, name in _imported(file, _module(file, root))
            if self._crosses(name, _module(file, root))
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def _crosses(self, name: str, importer: str) -> bool:
        parts = name.split(".")
        if parts[0] != self.package:
            return False
        for place, part in enumerate(parts):
            package = ".".join(parts[:place])
            private = part.startswith("_") and not part.endswith("__") and f"{package}.{part}" not in self.open_to_all
            if private and not f"{importer}.".startswith(f"{package}."):
                return True
        return False

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["broken"]:
            output.print_error(line)


def _module(file: Path, root: Path) -> str:
    return ".".join(file.relative_to(root.parent).with_suffix("").parts)


def _imported(file: Path, module: str) -> Iterator[tuple[int, str]]:
    """The full name of everything that a file imports, and the line of it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), module.rpartition(".")[0])
            yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)
