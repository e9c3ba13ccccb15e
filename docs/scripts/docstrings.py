"""An extension of Griffe: docstrings, written to be read in an editor and by ``help``, as Markdown for the site.

Roles, as in :func:`group`, become links wherever what they name is on a page. Examples, ``>>>`` anywhere and blocks
after a ``::``, become blocks of code; ``Shape:`` and ``Example:`` are headings as ``Returns:`` is. What ``#:`` says
above a constant is its docstring.
"""

import re
import textwrap
from typing import Any

from griffe import Attribute, Docstring, Extension, NameResolutionError, Object

_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`(?P<quiet>~?)(?P<name>[\w.]+)`")
#: From a prompt to the next empty line.
_SESSION = re.compile(r"^(?P<indent> *)>>> .*(?:\n *\S.*)*", re.MULTILINE)
#: Sections that Griffe would put into boxes.
_PLAIN = re.compile(r"^(?P<name>Shape|Example):\n(?P<block>(?:\n| {4,}\S.*(?:\n|\Z))+)", re.MULTILINE)
#: What is said to doctest, and not to readers.
_FLAG = re.compile(r"  # doctest: .*")
#: A line that ends in two colons, and what is further in than it, with the empty lines between.
_LITERAL = re.compile(r"^(?P<indent> *)(?P<line>\S.*)::\n(?P<block>(?:\n|(?P=indent) +\S.*(?:\n|\Z))+)", re.MULTILINE)


class Docstrings(Extension):
    """Reads comments of constants, and rewrites docstrings once it is known what names mean beside them."""

    def on_attribute_instance(self, *, attr: Attribute, **kwargs: Any) -> None:
        """Called by Griffe for each constant, type and attribute, before :meth:`on_object`."""
        if attr.docstring is None and attr.lineno is not None:
            lines = attr.lines_collection[attr.filepath]
            first = last = attr.lineno - 1
            while first and lines[first - 1].lstrip().startswith("#:"):
                first -= 1
            said = "\n".join(line.strip().removeprefix("#:").removeprefix(" ") for line in lines[first:last])
            if said:
                attr.docstring = Docstring(said, lineno=first + 1, endlineno=last, parent=attr)

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Called by Griffe for each class, function, module and attribute."""
        if obj.docstring:
            text = _LITERAL.sub(_literal, obj.docstring.value)
            text = _SESSION.sub(_session, text)
            text = _PLAIN.sub(_plain, text)
            obj.docstring.value = _ROLE.sub(lambda role: _reference(role, obj), text)


def _literal(found: re.Match[str]) -> str:
    code = textwrap.dedent(found["block"]).strip("\n")
    if code.startswith(">>>"):
        return f"{found['indent']}{found['line']}:\n{found['block']}"
    block = textwrap.indent(f"```python\n{code}\n```", found["indent"] + "    ")
    return f"{found['indent']}{found['line']}:\n{block}\n\n"


def _session(found: re.Match[str]) -> str:
    session = _FLAG.sub("", found[0])
    return f"{found['indent']}```pycon\n{session}\n{found['indent']}```"


def _plain(found: re.Match[str]) -> str:
    return f"**{found['name']}:**\n\n{textwrap.dedent(found['block'])}\n"


def _reference(role: re.Match[str], obj: Object) -> str:
    """An optional reference: code that is a link if its object is on a page, and code alone if not."""
    name = role["name"]
    shown = name.rpartition(".")[2] if role["quiet"] else name
    return f'<autoref identifier="{_meant(name, obj)}" optional><code>{shown}</code></autoref>'


def _meant(name: str, obj: Object) -> str:
    """The full name of what is called ``name`` beside an object: in its class, in its module, or written out."""
    first, dot, rest = name.partition(".")
    try:
        return obj.resolve(first) + dot + rest
    except NameResolutionError:
        return name
