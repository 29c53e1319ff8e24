"""A plain GET as the page that answers it needs it: the rest of its path, its parameters, and its price."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl, unquote, urlsplit

from arena.server.net.request import Request
from arena.server.web.static import takes_gzip


class BadParameter(Exception):
    """A parameter that nobody can have meant; the text says why."""


@dataclass(frozen=True)
class Question:
    """A GET of a client."""

    request: Request
    address: str
    """The client's address."""
    path: str
    """The path, without the query and not decoded."""
    rest: str
    """The rest of the path after that of its route, not decoded."""
    cost: int
    """Longest time that the answer may take, in µs."""

    @property
    def name(self) -> str:
        """The rest of the path, decoded."""
        return unquote(self.rest)

    @property
    def query(self) -> str:
        """The query, not decoded."""
        return urlsplit(self.request.path).query

    @property
    def accepted_encodings(self) -> str:
        """The Accept-Encoding header."""
        return ", ".join(self.request.headers.get_all("Accept-Encoding"))

    @property
    def takes_gzip(self) -> bool:
        """Return True if the client takes gzip."""
        return takes_gzip(self.accepted_encodings)

    @cached_property
    def given(self) -> dict[str, str]:
        """The parameters of the query by name. Raises BadParameter."""
        try:
            pairs = parse_qsl(self.query, keep_blank_values=True, max_num_fields=12, errors="strict")
        except ValueError:
            raise BadParameter("the query cannot be read") from None
        if any(len(value) > 128 for _, value in pairs):
            raise BadParameter("a parameter is longer than 128 characters")
        return dict(pairs)
