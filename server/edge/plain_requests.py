"""Answers to plain requests: HTTP requests that open no websocket, such as those for the web page and its data.

Plain requests share the TCP port with websockets. One connection may send many of them.
"""

from __future__ import annotations

import logging
from functools import partial

from arena.server.edge.request import Request
from arena.server.edge.responses import (
    INTERNAL_ERROR_RESPONSE,
    MakeResponse,
    PageHandler,
    Response,
    make_method_not_allowed_response,
)

log = logging.getLogger("arena.connection")

MAX_REQUESTS_PER_CONNECTION = 1000
"""Maximum number of plain requests (HTTP requests that open no websocket) that are answered on one connection."""
ALLOWED_HTTP_METHODS = ("GET", "HEAD", "POST")
"""Methods of plain requests (HTTP requests that open no websocket). None of these requests may have a body."""
HANDLER_FAILURE_LOG_LINE = "a request could not be answered"
"""Line in the server's log before the traceback of an exception that a handler of HTTP requests raised."""


def make_page_response(page_handler: PageHandler, request: Request, address: str) -> Response | MakeResponse:
    """Return the response to a plain HTTP request, or a coroutine function that makes the response.

    page_handler  function that returns the response, or such a coroutine function
    request       request that opens no websocket
    address       IP address of the client

    If `page_handler` or the coroutine function raises an exception, the exception is logged, and the response has status 500.
    """
    if request.method not in ALLOWED_HTTP_METHODS:
        return make_method_not_allowed_response(", ".join(ALLOWED_HTTP_METHODS))
    try:
        response = page_handler(request, address)
    except Exception:
        log.exception(HANDLER_FAILURE_LOG_LINE, extra={"address": address})
        return INTERNAL_ERROR_RESPONSE
    return partial(_make_response_or_failure, response, address) if callable(response) else response


async def _make_response_or_failure(make_response: MakeResponse, client_address: str) -> Response:
    try:
        return await make_response()
    except Exception:
        log.exception(HANDLER_FAILURE_LOG_LINE, extra={"address": client_address})
        return INTERNAL_ERROR_RESPONSE
