"""A plain request, as whoever answers it needs it: a path, and headers by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


class Headers:
    """The headers of one request; names are compared without regard to case (RFC 9110, section 5.1)."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Iterable[tuple[str, str]] = ()) -> None:
        self._fields = tuple((name.lower(), value) for name, value in fields)

    def get_all(self, name: str) -> list[str]:
        """Every value that the header was given, in order; none where it is absent."""
        wanted = name.lower()
        return [value for known, value in self._fields if known == wanted]

    def words(self, name: str) -> list[str]:
        """The parts of a header that is a list: its values, split at commas and stripped."""
        return [part.strip() for value in self.get_all(name) for part in value.split(",")]


def _is_waited_for() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its target as it was sent, with the query, its headers, its method and its version of HTTP."""

    path: str
    headers: Headers
    method: str = "GET"
    protocol: str = "HTTP/1.1"
    abandoned: Callable[[], bool] = _is_waited_for
    """Says whether nobody waits for the answer any more."""

    @property
    def wants_websocket(self) -> bool:
        """Whether the client asks to go on by websocket."""
        return any(word.lower() == "websocket" for word in self.headers.words("Upgrade"))

    @property
    def may_go_on(self) -> bool:
        """Whether another request may follow on the same connection (RFC 9112, section 9.3).

        What is no GET may have a body, or an answer without one, so nothing is read after it.
        """
        closes = any(word.lower() == "close" for word in self.headers.words("Connection"))
        return self.method == "GET" and self.protocol == "HTTP/1.1" and not closes
