"""The paths of a service, and what becomes of a request: an answer, or a reason as JSON, never a traceback."""

import asyncio
import contextlib
import time
from http import HTTPStatus
from typing import Any

from equicolor._tools.environment import version
from equicolor._tools.optional import require
from equicolor.serve._bodies import FIELD, Upload, discard, read_upload
from equicolor.serve._errors import RefusedError
from equicolor.serve._service import Service

#: What is counted by its own name; other paths together, so that strangers cannot make up names without end.
_PATHS = ("/predict", "/health", "/metrics", "/card", "/openapi.json")
#: What the description of the service says about a request.
_BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {"type": "object", "properties": {FIELD: {"type": "string", "format": "binary"}}}
        },
        "application/json": {
            "schema": {
                "type": "object",
                "required": [FIELD],
                "properties": {FIELD: {"type": "string", "contentEncoding": "base64"}, "name": {"type": "string"}},
            }
        },
    },
}


def make_app(service: Service) -> Any:
    """An ASGI application, of FastAPI's, for any server of the kind; ``service`` must be started.

    Args:
        service: what answers.

    Returns:
        The application, with ``/predict``, ``/health``, ``/metrics``, ``/card`` and ``/openapi.json``.
    """
    fastapi = require("fastapi", "serving", install="equicolor[serve]")
    responses = require("starlette.responses", "serving", install="equicolor[serve]")
    errors = require("starlette.exceptions", "serving", install="equicolor[serve]")
    app = fastapi.FastAPI(title="equicolor", version=version("equicolor") or "0", docs_url=None, redoc_url=None)

    async def predict(request: Any) -> Any:
        """Class and probabilities of one image, as a line of 'equicolor predict --format jsonl'."""
        return responses.JSONResponse(service.reply(await _predicted(service, request)))

    predict.__annotations__["request"] = fastapi.Request  # which FastAPI reads, and which is there only now

    async def health() -> Any:
        """Whether images are taken."""
        return responses.JSONResponse({"status": "ok"} if service.is_well else {"status": "stopping"}, _health(service))

    async def metrics() -> Any:
        """Counts, for Prometheus."""
        return responses.Response(service.metrics.text(), media_type=service.metrics.content_type)

    async def card() -> Any:
        """What the network is: classes, preparation, group, data, results."""
        return responses.Response(service.opened.card.to_json(), media_type="application/json")

    def refused(status: int, reason: str) -> Any:
        headers = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
        if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.REQUEST_TIMEOUT):
            headers["Connection"] = "close"  # there may be a body that nobody is going to read
        return responses.JSONResponse({"error": reason}, int(status), headers)

    async def on_refused(_: Any, error: RefusedError) -> Any:
        return refused(error.status, error.reason)

    async def on_unknown(_: Any, error: Any) -> Any:
        return refused(error.status_code, f"{error.detail}: there are POST /predict, GET /health, /metrics and /card")

    async def on_mistake(_: Any, error: Exception) -> Any:
        return refused(HTTPStatus.INTERNAL_SERVER_ERROR, "a mistake of the service's, which is in its log")

    app.add_api_route("/predict", predict, methods=["POST"], openapi_extra={"requestBody": _BODY}, response_model=None)
    for path, answer in (("/health", health), ("/metrics", metrics), ("/card", card)):
        app.add_api_route(path, answer, response_model=None)
    app.add_exception_handler(RefusedError, on_refused)
    app.add_exception_handler(errors.HTTPException, on_unknown)
    app.add_exception_handler(Exception, on_mistake)
    app.add_middleware(_Counted, service=service)
    return app


def _health(service: Service) -> int:
    return HTTPStatus.OK if service.is_well else HTTPStatus.SERVICE_UNAVAILABLE


async def _predicted(service: Service, request: Any) -> Any:
    """The prediction, in time. The request counts as one in progress until everything about it is over."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + service.limits.seconds
    try:
        service.enter()
    except RefusedError:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(discard(request, service.limits.body), service.limits.seconds)
        raise
    try:
        upload = await _read(service, request)
        work = loop.create_task(service.answer(upload, deadline))
    except BaseException:
        service.leave()
        raise
    work.add_done_callback(lambda done: _ended(service, done))
    await asyncio.wait({work}, timeout=max(0.0, deadline - loop.time()))
    if not work.done():  # a thread decodes it still, and cannot be stopped: its place is free when it is done
        raise service.too_late()
    return work.result()


def _ended(service: Service, work: Any) -> None:
    service.leave()
    if not work.cancelled():
        work.exception()  # asked for, also where nobody waits for it any more


async def _read(service: Service, request: Any) -> Upload:
    limits = service.limits
    try:
        return await asyncio.wait_for(read_upload(request, limits.body), limits.seconds)
    except asyncio.TimeoutError:
        reason = f"the request did not arrive within {limits.seconds:g} s"
        raise RefusedError(HTTPStatus.REQUEST_TIMEOUT, reason) from None


class _Counted:
    """Counts each request by path and status, and times predictions."""

    def __init__(self, app: Any, service: Service) -> None:
        self._app, self._metrics = app, service.metrics

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in _PATHS else "other"
        start, status = time.perf_counter(), 500

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            self._metrics.requests.labels(path, status).inc()
            if path == "/predict":
                self._metrics.seconds.observe(time.perf_counter() - start)
