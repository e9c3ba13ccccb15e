"""A service on a port, by uvicorn, until somebody asks it to stop."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from equicolor._tools.optional import require
from equicolor.serve._app import make_app
from equicolor.serve._service import Service

#: Connections for each request that may be in progress: idle ones of clients that keep theirs, and questions of health.
_CONNECTIONS = 4


def serve_forever(
    service: Service, host: str = "127.0.0.1", port: int = 8000, on_ready: Callable[[str], None] = lambda _: None
) -> None:
    """Answers until SIGINT or SIGTERM, then takes no more connections, answers what is there, and returns.

    Args:
        service: what answers; it is started, and stopped in the end.
        host: where to listen: ``"127.0.0.1"`` is this machine alone, ``"0.0.0.0"`` everybody who can reach it.
        port: 0 takes one that is free.
        on_ready: is told the address.

    Raises:
        OSError: the port is taken, or not allowed.
        ValueError: the network does not compute.
    """
    uvicorn = require("uvicorn", "serving", install="equicolor[serve]")
    if not 0 <= port < 65536:
        raise ValueError(f"a port is a number from 0 to 65535, got {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=128) as listening:
        try:
            service.start()
            config = uvicorn.Config(
                make_app(service),
                http="h11",
                ws="none",
                lifespan="off",
                loop="asyncio",
                access_log=False,
                log_level="warning",
                server_header=False,
                limit_concurrency=_CONNECTIONS * service.limits.queue,
                timeout_graceful_shutdown=int(service.limits.seconds) + 1,
            )
            server = uvicorn.Server(config)
            with _stops(server):
                address = f"[{host}]" if family == socket.AF_INET6 else host
                on_ready(f"http://{address}:{listening.getsockname()[1]}")
                server.run(sockets=[listening])
        finally:
            service.stop()


@contextmanager
def _stops(server: Any) -> Iterator[None]:
    """Inside, a signal asks the server to stop. uvicorn raises it again when it has stopped: that changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can listen
        return

    def ask(number: int, frame: Any) -> None:
        server.should_exit = True

    before = {each: signal.signal(each, ask) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
