"""What happens to files: bits flip, ends get lost, blocks come twice or as zeros, and strangers write them."""

import json
import random

#: What somebody may write in the place of a value.
HOSTILE = [
    b"-1", b"0", b"1e400", b"NaN", b"-Infinity", b"99999999999999999999", b"1" * 5000, b"null", b"true", b"[]", b"{}",
    b'""', b"[[[[[[[[[[]]]]]]]]]]", b"\x00", b"\xff\xfe", b"'", b'"', b"A" * 100_000, b"../../../../etc/passwd",
    b"\xf0\x9f\x8e\xa8", b"\n\n\n", b",,,,", b"=1+1", b"!!python/object/apply:os.system ['touch executed']",
    b"&a [*a, *a]", b"\\ud800", b"hue100000", b"${HOME}", b"%s%n",
]  # fmt: skip
VALUES: list[object] = [
    None, True, -1, 0, 1e300, 10**30, float("nan"), float("inf"), "", "x" * 50_000, "hue100000", [], {}, [[]], [None],
    {"a": {}}, [1] * 10_000, "\ud800", "\x00", -0.5, 2**63, "NaN", ["a"] * 3,
]  # fmt: skip


def damaged(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """The contents of a file after some accident, or a few of them. ``others``: what other files hold."""
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        data = chance.choice(_ACCIDENTS)(data, chance, others)
    return data


def _flipped(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 8, 64])):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _early(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Flips where headers are."""
    start = chance.choice([16, 64, 512])
    return _flipped(data[:start], chance, others) + data[start:]


def _truncated(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    return data[: chance.choice([0, 1, 7, chance.randrange(len(data) + 1), len(data) - 1])]


def _zeroed(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    start, length = _piece(data, chance)
    return data[:start] + chance.choice([b"\0", b"\xff"]) * length + data[start + length :]


def _twice(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    start, length = _piece(data, chance)
    return data[:start] + data[start : start + length] * chance.choice([2, 3, 50]) + data[start + length :]


def _removed(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    start, length = _piece(data, chance)
    return data[:start] + data[start + length :]


def _shuffled(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    start, length = _piece(data, chance)
    piece = list(data[start : start + length])
    chance.shuffle(piece)
    return data[:start] + bytes(piece) + data[start + length :]


def _inserted(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + chance.choice(HOSTILE) + data[start:]


def _numbered(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Four or eight bytes become a large number, or a negative one."""
    number = chance.choice([0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 1 << 30, 0x7FFFFFFFFFFFFFFF])
    block = number.to_bytes(8, chance.choice(["little", "big"]))
    start = chance.randrange(min(len(data), chance.choice([64, 1 << 30])) + 1)
    return data[:start] + block + data[start + len(block) :]


def _rewritten(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Where the file is JSON, another value somewhere inside; where it is lines, another one in a place of one."""
    try:
        content = json.loads(data)
    except ValueError:
        return _replaced_word(data, chance)
    value = chance.choice(VALUES)
    place = content
    while isinstance(place, dict | list) and place:
        key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if not isinstance(place[key], dict | list) or not place[key] or chance.random() < 0.2:
            if isinstance(place, dict) and chance.random() < 0.1:
                del place[key]
            else:
                place[key] = value
            return json.dumps(content).encode()
        place = place[key]
    return json.dumps(value).encode()


def _replaced_word(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    number = chance.randrange(len(lines))
    for mark in (b": ", b",", b"\t", b" "):
        if mark in lines[number]:
            words = lines[number].split(mark)
            words[chance.randrange(len(words))] = chance.choice(HOSTILE)
            lines[number] = mark.join(words)
            return b"\n".join(lines)
    return _inserted(data, chance, [])


def _swapped(data: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    return chance.choice(others) if others else b""


def _piece(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data) - start, chance.choice([1, 4, 64, 1000, len(data)]))


_ACCIDENTS = [
    _flipped, _flipped, _early, _early, _truncated, _zeroed, _twice, _removed, _shuffled, _inserted, _numbered,
    _numbered, _rewritten, _rewritten, _rewritten, _swapped,
]  # fmt: skip
