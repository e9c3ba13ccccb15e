"""MATLAB files (level 5): numbers, texts, cells and structures. A damaged one is an error, where scipy's can crash.

A file is a header of 128 bytes and then elements: a type, a number of bytes, and the bytes. A matrix is an element of
elements: what it is, its sizes, its name, its contents. Elements may be packed by zlib.
"""

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_HEADER = 128
_MATRIX, _PACKED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {1: "latin1", 2: "utf-8", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _STRUCTURE, _TEXT, _NUMERIC = 1, 2, 4, range(6, 16)
#: Of what is packed, at the most; a published file has two.
_MOST_BYTES = 256 << 20
_DEEPEST = 16


class _Element(NamedTuple):
    kind: int
    data: bytes


def read_matlab(path: Path) -> dict[str, Any]:
    """The variables of a file by name.

    Numbers are arrays, a text is a ``str``; a cell array is a list of its contents and a structure array one of dicts,
    both column by column.

    Raises:
        ValueError: it is no such file, or damaged.
    """
    content = path.read_bytes()
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise ValueError("it does not begin as a MATLAB file of level 5 does")
    variables = {}
    for element in _elements(content[_HEADER:], order):
        if element.kind == _PACKED:
            unpacking = zlib.decompressobj()
            data = unpacking.decompress(element.data, _MOST_BYTES)
            if unpacking.unconsumed_tail or not unpacking.eof:
                raise ValueError("what is packed in it is incomplete, or larger than any published file")
            element = next(_elements(data, order))
        if element.kind != _MATRIX:
            raise ValueError(f"it has an element of type {element.kind} where a variable was expected")
        name, value = _matrix(element.data, order)
        variables[name] = value
    return variables


def _elements(data: bytes, order: str) -> Iterator[_Element]:
    """The elements in ``data``. Each begins at a multiple of eight bytes, except after packed ones."""
    place = 0
    while place + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, place)
        start = place + 8
        if kind >> 16:  # a small one: the size is in the type, the bytes are in the place of the size
            kind, size, start = kind & 0xFFFF, kind >> 16, place + 4
        if (start == place + 4 and size > 4) or start + size > len(data):
            raise ValueError(f"an element announces {size:,} bytes, and {len(data) - start:,} follow")
        yield _Element(kind, data[start : start + size])
        place = place + 8 if start == place + 4 else start + (size if kind == _PACKED else -(-size // 8) * 8)


def _matrix(data: bytes, order: str, depth: int = 0) -> tuple[str, Any]:
    """The name of a variable, and its value."""
    if not data:
        return "", np.empty(0)  # as MATLAB writes what was never assigned
    parts = list(_elements(data, order))
    if depth > _DEEPEST or len(parts) < 3:
        raise ValueError("a variable is incomplete, or nested too deeply")
    flags, sizes, name = _numbers(parts[0], order), _numbers(parts[1], order), _text(parts[2], order)
    kind, shape, contents = int(flags[0]) & 0xFF, tuple(map(int, sizes)), parts[3:]
    if min(shape, default=-1) < 0:
        raise ValueError(f"{name[:50]!r} has the sizes {shape}")
    if kind == _TEXT:
        return name, "".join(_text(part, order) for part in contents)
    if kind in _NUMERIC and contents:
        return name, _numbers(contents[0], order).reshape(shape, order="F")
    if kind == _CELL:
        return name, _values(contents, math.prod(shape), order, depth)
    if kind == _STRUCTURE and len(contents) >= 2:
        length = max(int(_numbers(contents[0], order)[0]), 1)
        names = contents[1].data
        fields = [names[at : at + length].split(b"\0")[0].decode() for at in range(0, len(names), length)]
        values = _values(contents[2:], math.prod(shape) * len(fields), order, depth)
        return name, [
            dict(zip(fields, values[at : at + len(fields)], strict=True))
            for at in range(0, len(values), len(fields) or 1)
        ]
    raise ValueError(f"{name[:50]!r} is neither numbers, text, cells nor a structure")


def _values(parts: list[_Element], count: int, order: str, depth: int) -> list[Any]:
    if len(parts) != count or any(part.kind != _MATRIX for part in parts):
        raise ValueError(f"{count} values were announced, and {len(parts)} elements follow")
    return [_matrix(part.data, order, depth + 1)[1] for part in parts]


def _numbers(part: _Element, order: str) -> np.ndarray:
    if part.kind not in _NUMBERS:
        raise ValueError(f"it has an element of type {part.kind} where numbers were expected")
    return np.frombuffer(part.data, np.dtype(order + _NUMBERS[part.kind]))


def _text(part: _Element, order: str) -> str:
    if part.kind not in _TEXTS:
        raise ValueError(f"it has an element of type {part.kind} where text was expected")
    coding = _TEXTS[part.kind]
    wide = coding in ("utf-16", "utf-32")
    return part.data.decode(f"{coding}-{'le' if order == '<' else 'be'}" if wide else coding)
