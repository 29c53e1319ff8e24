"""Response to a request: a page, a refusal, or the opening of a websocket.

Plain GETs (the page, health, metrics) share the port with websockets, and one connection may send many of them.
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
from arena.server.edge.responses import Pages, Response, method_not_allowed, text

log = logging.getLogger("arena.connection")

MAX_REQUESTS = 1000
"""Number of plain requests that are answered on one connection."""
TOO_MANY = text("too many connections", HTTPStatus.TOO_MANY_REQUESTS)
"""Refusal of a client behind a proxy that has too many connections."""

NO_CORE = text("this server has no contact with its core: retry later", HTTPStatus.SERVICE_UNAVAILABLE)
"""Refusal of all websockets by an edge that is cut off from its core."""


def ban_refusal(why: str) -> Response:
    """Return the refusal of a client whose address the host has banned."""
    return text(f"removed: {why}", HTTPStatus.FORBIDDEN)


PLAIN_METHODS = ("GET", "HEAD", "POST")
"""Methods of plain requests. Their requests have no body."""


def no_get(request: Request) -> Response | None:
    """Return the refusal of a handshake that is not a GET; None for a GET."""
    return None if request.method == "GET" else method_not_allowed("GET")


def subprotocol_missing(request: Request) -> Response | None:
    """Return the refusal of a client that does not offer this server's subprotocol; None if it does."""
    offered = request.words("Sec-WebSocket-Protocol")
    if SUBPROTOCOL in offered:
        return None
    offer = ", ".join(offered) or "none"
    return text(f"subprotocol {SUBPROTOCOL} is needed, not {offer:.100}", HTTPStatus.BAD_REQUEST)


def wrong_origin(request: Request) -> Response | None:
    """Return the refusal of a page from another site, as given in the browser's Origin header; None if it is allowed.

    Only host names are compared, because not every proxy passes on the scheme and the port of the request.
    """
    hosts = {_machine(f"//{value}") for value in request.headers.get_all("Host")}
    for origin in request.headers.get_all("Origin"):
        if not hosts or {_machine(origin)} != hosts:
            here = ", ".join(request.headers.get_all("Host")) or "this server"
            line = f"a page of {origin:.100} may not connect to {here:.100}; a proxy must pass the Host header on"
            return text(line, HTTPStatus.FORBIDDEN)
    return None


def _machine(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


NO_PAGE = text(
    f"there is no such page; bots connect here by websocket, as {SUBPROTOCOL}", HTTPStatus.NOT_FOUND
)
"""Answer to a request for a page that does not exist."""
FAILED = text("the server failed; its log says why", HTTPStatus.INTERNAL_SERVER_ERROR)
"""Answer if a page raised an exception."""
NO_ANSWER = "no answer to a request"
"""Log line of such an exception, before its stack."""


def page(pages: Pages, request: Request, address: str) -> Response | Callable[[], Awaitable[Response]]:
    """Return the answer to a plain request from an address, or a function that makes it if that takes a while.

    A page's exception is logged, and answered with a 500.
    """
    if request.method not in PLAIN_METHODS:
        return method_not_allowed(", ".join(PLAIN_METHODS))
    try:
        answer = pages(request, address)
    except Exception:
        log.exception(NO_ANSWER, extra={"address": address})
        return FAILED
    return partial(_make_answer, answer, address) if callable(answer) else answer or NO_PAGE


async def _make_answer(make: Callable[[], Awaitable[Response | None]], address: str) -> Response:
    try:
        return await make() or NO_PAGE
    except Exception:
        log.exception(NO_ANSWER, extra={"address": address})
        return FAILED


def to_bytes(answer: Response, program: str, *, last: bool, bodiless: bool = False) -> bytes:
    """Return an answer as bytes.

    last      True if the connection ends after this answer; the client is told so
    bodiless  True to leave out the body, as for a HEAD; its length is sent anyway (RFC 9110, section 9.3.2)
    """
    fields = {
        "Date": formatdate(usegmt=True),
        **answer.headers,
        "Content-Type": answer.kind,
        "Content-Length": str(len(answer.body)),
        "Server": program,
    }
    if last:
        fields["Connection"] = "close"
    head = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
    body = b"" if bodiless else answer.body
    return f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\n{head}\r\n".encode() + body
