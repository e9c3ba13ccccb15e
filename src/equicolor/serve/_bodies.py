"""The image in a request: a file of a form, or base64 in JSON. Read no further than the limit."""

import base64
import binascii
import json
from http import HTTPStatus
from typing import Any, NamedTuple

from equicolor._tools.optional import require
from equicolor.serve._errors import RefusedError, bad, too_large

#: The name of a field in JSON, and of one in a form.
FIELD = "image"
#: A body that is too large is read up to so many times the limit.
_FURTHER = 4
_HOW = f'send a form with a file {FIELD!r}, or JSON: {{"{FIELD}": "base64 of a file"}}'


class Upload(NamedTuple):
    """An encoded image, and what its sender calls it."""

    data: bytes
    name: str


async def read_upload(request: Any, most: int) -> Upload:
    """The image of a request of Starlette's.

    Raises:
        RefusedError: there is none, or too much.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await _read_body(request, most)
    if kind == "application/json":
        return _from_json(body)
    if kind == "multipart/form-data":
        return await _from_form(request, body)
    raise RefusedError(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the content type {kind[:100]!r} is none that is understood: {_HOW}"
    )


async def _read_body(request: Any, most: int) -> bytes:
    """All of it.

    Raises:
        RefusedError: it is too large. It is not kept then, but read on for a while: who is sending hears no answer.
    """
    said = request.headers.get("content-length", "")
    size = int(said) if said.isascii() and said.isdigit() else 0
    body, read = bytearray(), 0
    async for part in request.stream():
        read += len(part)
        if max(read, size) <= most:
            body += part
        else:
            body.clear()
        if read > _FURTHER * most:
            break
    if max(read, size) > most:
        raise too_large(f"the request has {f'{size:,}' if size else 'too many'} bytes, {most:,} are allowed")
    return bytes(body)


async def discard(request: Any, most: int) -> None:
    """Reads what nobody wants, and keeps none of it, so that whoever sends it hears why."""
    read = 0
    async for part in request.stream():
        read += len(part)
        if read > most:
            break


def _from_json(body: bytes) -> Upload:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise bad(f"the body is no JSON: {_HOW}") from None
    text = content.get(FIELD) if isinstance(content, dict) else None
    if not isinstance(text, str):
        raise bad(f"there is no text under {FIELD!r} in the JSON: {_HOW}")
    name = content.get("name", FIELD)
    if not isinstance(name, str):
        raise bad("the 'name' in the JSON is no text")
    try:
        return Upload(base64.b64decode(text, validate=True), name[:1000])
    except (binascii.Error, ValueError) as error:
        raise bad(f"what is under {FIELD!r} is no base64 ({error})") from None


async def _from_form(request: Any, body: bytes) -> Upload:
    """By the parser of Starlette's, from memory: what is too large was refused before."""
    parsers = require("starlette.formparsers", "serving", install="equicolor[serve]")

    async def parts() -> Any:
        yield body

    try:
        parser = parsers.MultiPartParser(request.headers, parts(), max_files=4, max_fields=16)
        parser.spool_max_size = len(body) + 1  # no file on disk
        form = await parser.parse()
    except (parsers.MultiPartException, KeyError, ValueError) as error:
        raise bad(f"the form cannot be read ({getattr(error, 'message', error)}): {_HOW}") from None
    try:
        file = form.get(FIELD)
        if file is None or isinstance(file, str):
            raise bad(f"there is no file {FIELD!r} in the form: {_HOW}")
        return Upload(await file.read(), (file.filename or FIELD)[:1000])
    finally:
        await form.close()
