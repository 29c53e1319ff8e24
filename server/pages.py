"""What the server answers to plain GETs on its own port: health, metrics, pages."""

from __future__ import annotations

from http import HTTPStatus

from server.meters import Meters

Page = tuple[HTTPStatus, str, bytes]
"""Status, content type, body."""

TEXT = "text/plain; charset=utf-8"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Pages:
    """The plain pages of one server."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters
        self.draining = False

    def __call__(self, path: str) -> Page | None:
        """The answer to a GET of `path`; None where there is no such page."""
        match path.partition("?")[0]:
            case "/healthz":
                return HTTPStatus.OK, TEXT, b"ok\n"
            case "/readyz" if self.draining:
                return HTTPStatus.SERVICE_UNAVAILABLE, TEXT, b"draining\n"
            case "/readyz":
                return HTTPStatus.OK, TEXT, b"ready\n"
            case "/metrics":
                return HTTPStatus.OK, PROMETHEUS, self._meters.page()
        return None
