"""Routes (URL paths of HTTP requests, with the CPU time that each is charged, and limits), and the parser of a request."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

MAX_REQUEST_TARGET_LENGTH = 2048
"""Maximum length of a URL path with its query, in characters, unless the route has a higher `Route.max_parameter_length`."""
MAX_NAME_PARAMETER_LENGTH, MAX_POSITION_LENGTH, MAX_MOVES_LENGTH = 128, 2048, 6000
"""Maximum lengths of a query parameter with a name, a position, or moves, in characters: about a thousand short moves fit."""
MATCH_ID_PATTERN = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
"""Pattern of a match id, or of the beginning of one."""
MAX_LISTED_BOTS = 1000
"""Maximum number of bots that a response lists."""
MAX_CACHED_REQUEST_TARGETS = 256
"""Maximum number of entries of each cache in this module: parsed targets (path and query), and Accept-Encoding headers."""


class BadRequest(Exception):
    """Raised for an invalid request; the message is a one-line reason."""


class NotFound(Exception):
    """Raised for a request for something that does not exist; the message names it in one line."""


def make_match_not_found_error(match_id: str) -> NotFound:
    """Return the error for the id `match_id`, which no finished match has."""
    return NotFound(f"no finished match is called {match_id!r:.80}")


class Route(NamedTuple):
    """Properties of a URL path, or of all URL paths with a prefix."""

    cost_us: int
    """Cost of a request: CPU time in µs, which is deducted from the budget of the client's address (`WorkBudget`).

    The cost is 0 for health checks, which must always be answered. Only the limits on connections apply to them.
    """
    allowed_parameters: str | None = None
    """Query parameters by name, separated by spaces; `!` marks a required one. None to leave the query unparsed."""
    max_parameter_length: int = MAX_NAME_PARAMETER_LENGTH
    """Maximum length of the value of a query parameter, in characters."""
    timeout_seconds: float = 10.0
    """Time limit, in seconds, for a response that the page process makes, or for a change of the store."""
    is_answered_from_memory: bool = False
    """True if the server's process makes the response itself, from data in its memory.

    Other responses to GET requests are made by the page process, a second process that reads the store.
    """
    is_page: bool = False
    """True for an HTML page, whose URL path may omit the slash at the end: `/bot` also leads to the route `/bot/`."""
    is_slow: bool = False
    """True if a response takes long. Of all slow routes together, only one response is made at a time."""
    is_personal: bool = False
    """True if the response depends on the Authorization header."""
    is_post: bool = False
    """True if the route accepts only POST, because its requests have a secret or change the store."""
    response_has_absolute_urls: bool = False
    """True if the response has absolute URLs, and so depends on the Host header.

    HTML pages always have absolute URLs, so their routes need not set this.
    """


def _make_post_route(allowed_parameters: str) -> Route:
    """Return a route for POST, with query parameters as in `Route.allowed_parameters`.

    The time limit of the route is long, because a change may have to wait for changes by other clients.
    """
    return Route(10_000, allowed_parameters, timeout_seconds=30.0, is_personal=True, is_post=True)


ROUTES: dict[str, Route] = {
    "/": Route(3_500, is_page=True),
    "/tv/": Route(2_000, is_page=True),
    "/match/": Route(3_500, is_page=True),
    "/embed/": Route(3_500, is_page=True),
    "/bot/": Route(3_500, is_page=True),
    "/event/": Route(3_500, is_page=True),
    "/table/": Route(3_500, is_page=True),
    "/play/": Route(2_000, is_page=True),
    "/file/": Route(2_000, is_page=True),
    "/maps/": Route(2_000, is_page=True),
    "/versus/": Route(2_000, is_page=True),
    "/search/": Route(2_000, is_page=True),
    "/join/": Route(2_000, is_page=True),
    "/me/": Route(2_000, is_page=True),
    "/host/": Route(2_000, is_page=True),
    "/picture/": Route(20_000, timeout_seconds=40.0, is_slow=True),
    "/film/": Route(200_000, timeout_seconds=40.0, is_slow=True),
    "/web/": Route(200, is_answered_from_memory=True),
    "/sw.js": Route(200, is_answered_from_memory=True),
    "/events.ics": Route(5_000, "", response_has_absolute_urls=True),
    "/healthz": Route(0, is_answered_from_memory=True),
    "/readyz": Route(0, is_answered_from_memory=True),
    "/metrics": Route(200, is_answered_from_memory=True),
    "/api/about": Route(200, is_answered_from_memory=True),
    "/api/game/": Route(10_000, "setup moves", MAX_MOVES_LENGTH),
    "/api/map/": Route(2_000),
    "/api/advice/": Route(250_000, "position", MAX_POSITION_LENGTH, timeout_seconds=40.0, is_slow=True),
    "/api/review": Route(200_000, "game setup moves", MAX_MOVES_LENGTH, timeout_seconds=250.0, is_slow=True),
    "/api/review/": Route(200_000, "", timeout_seconds=250.0, is_slow=True),
    "/api/openings/": Route(60_000, "position", MAX_POSITION_LENGTH),
    "/api/records": Route(5_000, "before limit bot game event"),
    "/api/record/": Route(2_000, "download"),
    "/api/truth/": Route(20_000, ""),
    "/api/table": Route(5_000, "event map tc season"),
    "/api/table.csv": Route(5_000, "event!"),
    "/api/maps": Route(2_000),
    "/api/search": Route(20_000, "bot opponent map game event result like before limit"),
    "/api/versus": Route(5_000, "bot! opponent!"),
    "/api/event": Route(5_000, "name!"),
    "/api/bot": Route(5_000, "name!"),
    "/api/bot/": Route(5_000, ""),
    "/api/log/": Route(20_000, is_personal=True),
    "/api/join": _make_post_route("name"),
    "/api/me": _make_post_route(""),
    "/api/me/enter": _make_post_route("event! name!"),
    "/api/me/withdraw": _make_post_route("event! name!"),
    "/api/host": _make_post_route("do name owner to text"),
    "/api/token/create": _make_post_route("name!"),
    "/api/token/rotate": _make_post_route("name!"),
    "/api/token/revoke": _make_post_route("name!"),
}
"""All routes, by URL path, or by a prefix of the path that ends in a slash."""


class RouteMatch(Struct, frozen=True):
    """Parsed target of a request: its URL path and query."""

    route_key: str
    """Key of the route in `ROUTES`."""
    path: str
    """Whole path of the URL, still percent-encoded."""
    encoded_path_argument: str
    """Rest of the path after the route's prefix, still percent-encoded: for `/bot/NAME`, the part `NAME`."""
    query: str
    """Query of the URL (the part after `?`), still percent-encoded."""
    parameters: dict[str, str]
    """Decoded parameters of the query, if the route lists its parameters; otherwise empty."""
    cache_key: tuple[object, ...]
    """Key for caching the response: the decoded path, and the query parameters sorted by name.

    If the route does not list its parameters, the key has the query as it is.
    """

    @property
    def route(self) -> Route:
        """Entry of the route in `ROUTES`."""
        return ROUTES[self.route_key]

    @property
    def path_argument(self) -> str:
        """Path after the route's prefix, percent-decoded: for most routes a name or an id."""
        return unquote(self.encoded_path_argument)


@lru_cache(maxsize=MAX_CACHED_REQUEST_TARGETS)
def parse_request_target(target: str) -> RouteMatch | None:
    """Parse the target of a request (URL path and query).

    Return None if no route has the path, or if a required parameter is missing. Raises BadRequest if the target is too
    long or the query is invalid.
    """
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    route_key = find_route_key(parts.path)
    if route_key is None:
        return None
    route = ROUTES[route_key]
    max_length = max(MAX_REQUEST_TARGET_LENGTH, route.max_parameter_length)
    if len(target) > max_length:
        raise BadRequest(f"the path and its query must together have at most {max_length} characters")
    if not unquote(target).isprintable():
        # No name contains such a character, and PostgreSQL refuses NUL.
        raise BadRequest("the path must have only printable characters")
    query: dict[str, str] = {}
    if route.allowed_parameters is not None:
        query = _parse_query(parts.query, route.allowed_parameters.split(), route.max_parameter_length)
        if any(
            parameter.endswith("!") and parameter[:-1] not in query
            for parameter in route.allowed_parameters.split()
        ):
            return None
    key = (
        unquote(parts.path),
        parts.query if route.allowed_parameters is None else tuple(sorted(query.items())),
    )
    return RouteMatch(route_key, parts.path, parts.path.removeprefix(route_key), parts.query, query, key)


def _parse_query(query: str, allowed_parameters: list[str], max_parameter_length: int) -> dict[str, str]:
    try:
        values = dict(parse_qsl(query, keep_blank_values=True, max_num_fields=12, errors="strict"))
    except ValueError:
        raise BadRequest(
            "the query is invalid: write name=value, percent-encoded UTF-8, joined by &"
        ) from None
    for name, value in values.items():
        if len(value) > max_parameter_length:
            raise BadRequest(
                f"parameter {name!r:.40} must have at most {max_parameter_length} characters, not {len(value)}"
            )
        if name not in allowed_parameters and f"{name}!" not in allowed_parameters:
            # If unknown parameters were accepted, one request could be sent under any number of cache keys.
            parameters_by_name = (
                ", ".join(parameter.rstrip("!") for parameter in allowed_parameters) or "none"
            )
            raise BadRequest(
                f"unknown parameter {name!r:.40}; the parameters of this path are: {parameters_by_name}"
            )
    return values


def find_route_key(path: str) -> str | None:
    """Return the key in `ROUTES` for a URL path; None if no route has the path."""
    if path in ROUTES and (path == "/" or not path.endswith("/")):
        return path
    parts = path.split("/")
    for depth in (3, 2):
        prefix = "/".join(parts[:depth]) + "/"
        if prefix in ROUTES and len(prefix) > 1 and (path.startswith(prefix) or ROUTES[prefix].is_page):
            return prefix
    return None


@lru_cache(maxsize=MAX_CACHED_REQUEST_TARGETS)
def accepts_gzip(accept_encoding: str) -> bool:
    """Return True if an Accept-Encoding header accepts gzip."""
    for part in accept_encoding.lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() in ("gzip", "x-gzip"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
