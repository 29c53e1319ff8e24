"""HTTP request of a client: a plain request, or the request to open a websocket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from websockets.datastructures import Headers


@dataclass(frozen=True, slots=True)
class Request:
    """HTTP request of a client. `path` is the request target as sent, including the query."""

    path: str
    headers: Headers
    method: str = "GET"
    http_version: str = "HTTP/1.1"
    """HTTP version, as sent in the request line."""
    is_abandoned: Callable[[], bool] = lambda: False
    """Function that returns True once the client has disconnected, so that a slow response is no longer needed."""

    def list_header_values(self, header_name: str) -> list[str]:
        """Return the elements of a list header: its values, split at commas and stripped."""
        return [part.strip() for value in self.headers.get_all(header_name) for part in value.split(",")]

    @property
    def wants_websocket(self) -> bool:
        """True if the request asks to open a websocket."""
        return "websocket" in map(str.lower, self.list_header_values("Upgrade"))

    @property
    def allows_another_request(self) -> bool:
        """True if another request may follow on the same connection (RFC 9112, section 9.3).

        Only a GET in HTTP/1.1 without `Connection: close` allows one. Other methods may have a body, which the server
        does not read.
        """
        asks_to_close = "close" in map(str.lower, self.list_header_values("Connection"))
        return self.method == "GET" and self.http_version == "HTTP/1.1" and not asks_to_close
