"""What a request is answered with that cannot be answered: a number that HTTP knows, and a sentence for a person."""

from http import HTTPStatus


class RefusedError(Exception):
    """A request that is not answered, with the reason that its sender is told."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def too_large(what: str) -> RefusedError:
    """413."""
    return RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, what)


def bad(what: str) -> RefusedError:
    """400: the request is none that can be understood."""
    return RefusedError(HTTPStatus.BAD_REQUEST, what)


def no_image(what: str) -> RefusedError:
    """422: the request is understood, and what it holds is no image."""
    return RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, what)


def busy(what: str) -> RefusedError:
    """503: later perhaps."""
    return RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, what)
