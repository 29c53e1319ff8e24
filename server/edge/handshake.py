"""Responses to HTTP requests: pages, and refusals of requests that would open a websocket.

Plain requests (the web page, health, metrics) share the port with websockets, and one connection may send many of them.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from urllib.parse import urlsplit

from arena.protocol.messages import SUBPROTOCOL
from arena.server.edge.request import Request
from arena.server.edge.responses import (
    MakeResponse,
    PageHandler,
    Response,
    make_method_not_allowed_response,
    make_text_response,
)

log = logging.getLogger("arena.connection")

MAX_REQUESTS_PER_CONNECTION = 1000
"""Maximum number of plain requests that are answered on one connection."""
TOO_MANY_CONNECTIONS_RESPONSE = make_text_response("too many connections", HTTPStatus.TOO_MANY_REQUESTS)
"""Response to a client that connects through a trusted proxy, and whose address has too many connections."""

NO_CORE_RESPONSE = make_text_response(
    "this server has no contact with its core: retry later", HTTPStatus.SERVICE_UNAVAILABLE
)
"""Response to every websocket request while the edge is cut off from its core."""


def refuse_banned(reason: str) -> Response:
    """Return the response that refuses a client from a banned address."""
    return make_text_response(f"removed: {reason}", HTTPStatus.FORBIDDEN)


PLAIN_METHODS = ("GET", "HEAD", "POST")
"""Methods of plain requests. None of these requests may have a body."""


def refuse_unless_get(request: Request) -> Response | None:
    """Return the response that refuses a websocket request whose method is not GET; None if it is GET."""
    return None if request.method == "GET" else make_method_not_allowed_response("GET")


def refuse_unreadable(error: BaseException | None) -> Response:
    """Return the response to a request that cannot be read, for example because it has a body. `error`: cause, if known."""
    return make_text_response(
        f"this request cannot be read ({error!s:.100}): send HTTP/1.1 without a body",
        HTTPStatus.BAD_REQUEST,
    )


def refuse_without_subprotocol(request: Request) -> Response | None:
    """Return the response that refuses a client that does not offer this server's subprotocol; None if the client does."""
    offered_protocols = request.list_header_values("Sec-WebSocket-Protocol")
    if SUBPROTOCOL in offered_protocols:
        return None
    offer = ", ".join(offered_protocols) or "none"
    return make_text_response(
        f"the subprotocol {SUBPROTOCOL} is required; this request offers {offer:.100}", HTTPStatus.BAD_REQUEST
    )


def refuse_other_origin(request: Request) -> Response | None:
    """Return the response that refuses a websocket to a page of another site; None if the request is allowed.

    Browsers name the site of the page in the Origin header, which other clients omit. Only the host names in Origin and
    Host are compared, because not every proxy passes on the scheme and port of the request.
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


NO_PAGE_RESPONSE = make_text_response(
    f"no such page; bots connect here by websocket, with the subprotocol {SUBPROTOCOL}", HTTPStatus.NOT_FOUND
)
"""Response to a request for a page that does not exist."""
FAILURE_RESPONSE = make_text_response(
    "internal server error; the server's log has the details", HTTPStatus.INTERNAL_SERVER_ERROR
)
"""Response to a request whose handler raised an exception."""
NO_ANSWER_LOG_LINE = "a request could not be answered"
"""Log line before the traceback of an exception that a request's handler raised."""


def answer_page(
    pages: PageHandler, request: Request, address: str
) -> Response | Callable[[], Awaitable[Response]]:
    """Return the response of `pages` to a plain request from an address.

    If `pages` takes a while to make the response, return a coroutine function that makes it. The response has status
    404 if there is no such page. If `pages` raises an exception, the exception is logged, and the response has status
    500.
    """
    if request.method not in PLAIN_METHODS:
        return make_method_not_allowed_response(", ".join(PLAIN_METHODS))
    try:
        response = pages(request, address)
    except Exception:
        log.exception(NO_ANSWER_LOG_LINE, extra={"address": address})
        return FAILURE_RESPONSE
    return partial(_make_response, response, address) if callable(response) else response or NO_PAGE_RESPONSE


async def _make_response(make_response: MakeResponse, address: str) -> Response:
    try:
        return await make_response() or NO_PAGE_RESPONSE
    except Exception:
        log.exception(NO_ANSWER_LOG_LINE, extra={"address": address})
        return FAILURE_RESPONSE


def encode_response(response: Response, program: str, *, is_last: bool, omits_body: bool = False) -> bytes:
    """Return a response as bytes.

    program     name and version of the server, for the `Server` header
    is_last     True if the connection ends after this response, which then says `Connection: close`
    omits_body  True to leave out the body, as for HEAD, but still send its length (RFC 9110, section 9.3.2)
    """
    fields = {
        "Date": formatdate(usegmt=True),
        **response.headers,
        "Content-Type": response.content_type,
        "Content-Length": str(len(response.body)),
        "Server": program,
    }
    if is_last:
        fields["Connection"] = "close"
    head = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
    body = b"" if omits_body else response.body
    return f"HTTP/1.1 {response.status.value} {response.status.phrase}\r\n{head}\r\n".encode() + body
