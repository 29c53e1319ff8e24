"""The answer to a request: a page, a refusal, or the opening of a websocket.

Plain GETs (the page, health, metrics) are answered on the same port, and one connection may ask for many of them.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import urlsplit

from websockets.http11 import Response
from websockets.server import ServerProtocol

from arena.protocol.messages import SUBPROTOCOL
from arena.server.net.answers import Answer, Pages, text
from arena.server.net.request import Request

log = logging.getLogger("arena.connection")

MOST_ANSWERS = 1000
"""Plain GETs that one connection may ask for."""
ANSWER_SECONDS = 60.0
"""How long the answer to a plain GET may take to be made; those who make it have shorter bounds of their own."""


def wrong_method(request: Request) -> Answer | None:
    """The refusal of a request that is no GET; None for one that is."""
    if request.method == "GET":
        return None
    line = f"only GET is answered here, not {request.method:.20}"
    return replace(text(line, HTTPStatus.METHOD_NOT_ALLOWED), headers={"Allow": "GET"})


def subprotocol_missing(request: Request) -> Answer | None:
    """The refusal of a client that does not offer this server's subprotocol; None where it does."""
    offered = request.headers.words("Sec-WebSocket-Protocol")
    if SUBPROTOCOL in offered:
        return None
    said = ", ".join(offered) or "none"
    return text(f"subprotocol {SUBPROTOCOL} is needed, not {said:.100}", HTTPStatus.BAD_REQUEST)


def wrong_origin(request: Request) -> Answer | None:
    """The refusal of a page of another site, which a browser names as the Origin; None where there is none.

    Sites are compared by the names of their machines: not every proxy tells which scheme and port it was asked at.
    """
    asked = {_machine(f"//{value}") for value in request.headers.get_all("Host")}
    for origin in request.headers.get_all("Origin"):
        if not asked or {_machine(origin)} != asked:
            here = ", ".join(request.headers.get_all("Host")) or "this server"
            line = f"a page of {origin:.100} may not connect to {here:.100}; a proxy must pass the Host header on"
            return text(line, HTTPStatus.FORBIDDEN)
    return None


def _machine(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


TOO_MANY = text("too many connections", HTTPStatus.TOO_MANY_REQUESTS)
"""The refusal of a client behind a proxy that has as many connections as it may have."""


async def page(pages: Pages, request: Request, address: str) -> Answer:
    """What a plain request from an address is answered. A fault of a page is logged, and told as such."""
    refusal = wrong_method(request)
    if refusal is not None:
        return refusal
    try:
        found = await pages(request, address)
    except Exception:
        log.exception("no answer to a request", extra={"address": address})
        return text("the server failed; its log says why", HTTPStatus.INTERNAL_SERVER_ERROR)
    if found is None:
        line = f"there is no such page; bots connect here by websocket, as {SUBPROTOCOL}"
        return text(line, HTTPStatus.NOT_FOUND)
    return found


def response(protocol: ServerProtocol, answer: Answer, program: str, *, last: bool = True) -> Response:
    """An answer as the library sends it. `last` tells the client that its connection ends with it."""
    made = protocol.reject(answer.status, "")
    if not last:
        del made.headers["Connection"]
    for name in ("Content-Type", "Content-Length"):
        del made.headers[name]
    for name, value in answer.headers.items():
        made.headers[name] = value
    made.headers["Content-Type"] = answer.kind
    made.headers["Content-Length"] = str(len(answer.body))
    made.headers["Server"] = program
    return replace(made, body=answer.body)
