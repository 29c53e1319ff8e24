"""Refusals of HTTP requests that cannot be read, come from a banned address, or may not open a websocket."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from arena.protocol.messages import SUBPROTOCOL
from arena.server.edge.request import Request
from arena.server.edge.responses import Response, make_method_not_allowed_response, make_text_response

TOO_MANY_CONNECTIONS_RESPONSE = make_text_response("too many connections", HTTPStatus.TOO_MANY_REQUESTS)
"""Response to a client that connects through a trusted proxy, and whose address has too many connections."""

NO_CORE_RESPONSE = make_text_response(
    "this server has no contact with its core: retry later", HTTPStatus.SERVICE_UNAVAILABLE
)
"""Response to every websocket request while this process receives nothing from a core, the process that decides matches."""


def make_banned_response(reason: str) -> Response:
    """Return the response that refuses a client from a banned address."""
    return make_text_response(f"removed: {reason}", HTTPStatus.FORBIDDEN)


def find_method_refusal(request: Request) -> Response | None:
    """Return the response that refuses a websocket request whose method is not GET; None if it is GET."""
    return None if request.method == "GET" else make_method_not_allowed_response("GET")


def make_unreadable_request_response(error: BaseException | None) -> Response:
    """Return the response to a request that cannot be read, for example because it has a body.

    error  exception of the parser; None if it raised none
    """
    return make_text_response(
        f"this request cannot be read ({error!s:.100}): send HTTP/1.1 without a body",
        HTTPStatus.BAD_REQUEST,
    )


def find_subprotocol_refusal(request: Request) -> Response | None:
    """Return the response that refuses a client that does not offer this server's subprotocol; None if the client does."""
    offered_protocols = request.list_header_values("Sec-WebSocket-Protocol")
    if SUBPROTOCOL in offered_protocols:
        return None
    offer = ", ".join(offered_protocols) or "none"
    return make_text_response(
        f"the subprotocol {SUBPROTOCOL} is required; this request offers {offer:.100}", HTTPStatus.BAD_REQUEST
    )


def find_origin_refusal(request: Request) -> Response | None:
    """Return the response that refuses a websocket to a page of another site; None if the request is allowed.

    Browsers name the site of the page in the Origin header, which other clients omit. Only the names of the machines in
    Origin and Host are compared, because not every proxy passes on the scheme and port of the request.
    """
    hosts = {_parse_hostname(f"//{value}") for value in request.headers.get_all("Host")}
    for origin in request.headers.get_all("Origin"):
        if not hosts or {_parse_hostname(origin)} != hosts:
            own_hosts = ", ".join(request.headers.get_all("Host")) or "this server"
            line = f"a page of {origin:.100} may not connect to {own_hosts:.100}; a proxy must pass on the Host header"
            return make_text_response(line, HTTPStatus.FORBIDDEN)
    return None


def _parse_hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
