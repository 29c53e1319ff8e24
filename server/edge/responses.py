"""HTTP responses, and functions that build and encode them."""

from __future__ import annotations

import gzip
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

import msgspec

from arena.protocol.messages import SUBPROTOCOL
from arena.server.edge.request import Request

TEXT_CONTENT_TYPE = "text/plain; charset=utf-8"
JSON_CONTENT_TYPE = "application/json; charset=utf-8"
ALREADY_COMPRESSED_MEDIA_TYPES = frozenset({"font/woff2", "image/gif", "image/png"})
"""Media types whose content is already compressed, so that compressing it again would be useless."""
MIN_BODY_BYTES_TO_COMPRESS = 500
"""Size in bytes below which a body is not compressed."""


@dataclass(frozen=True)
class Response:
    """HTTP response: status, content type, body, and further headers."""

    status: HTTPStatus
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


MakeResponse = Callable[[], Awaitable[Response]]
"""Coroutine function that makes the response to a request."""
PageHandler = Callable[[Request, str], Response | MakeResponse]
"""Function that answers a plain request (an HTTP request that opens no websocket).

Its second argument is the client's address. For a response that takes a while, the function returns a coroutine function that
makes the response.
"""


def make_text_response(text_line: str, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Return a response with one line of text."""
    return Response(status, TEXT_CONTENT_TYPE, f"{text_line}\n".encode())


def make_json_response(json_value: Any, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with `json_value` encoded as JSON. Browsers do not cache the response, unless `headers` allow it."""
    return make_raw_json_response(msgspec.json.encode(json_value), headers)


def make_raw_json_response(json_bytes: bytes, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response whose body is JSON already. Browsers do not cache the response, unless `headers` allow it."""
    return Response(
        HTTPStatus.OK, JSON_CONTENT_TYPE, json_bytes, {"Cache-Control": "no-store", **(headers or {})}
    )


def is_worth_compressing(response: Response) -> bool:
    """Return True if the body of a response is long enough to compress, and not of a media type that is already compressed."""
    return (
        len(response.body) >= MIN_BODY_BYTES_TO_COMPRESS
        and response.content_type not in ALREADY_COMPRESSED_MEDIA_TYPES
    )


def compress_if_accepted(response: Response, *, accepts_gzip: bool, gzip_level: int = 6) -> Response:
    """Return a response with its body compressed, if the client accepts gzip and `is_worth_compressing` is True.

    accepts_gzip  True if the client accepts gzip
    gzip_level    compression level of gzip, 1 to 9
    """
    if not is_worth_compressing(response):
        return response
    response = replace(response, headers={**response.headers, "Vary": "Accept-Encoding"})
    if not accepts_gzip:
        return response
    body = gzip.compress(response.body, gzip_level, mtime=0)
    return replace(response, body=body, headers={**response.headers, "Content-Encoding": "gzip"})


def make_bad_request_response(reason: str) -> Response:
    """Return a response with status 400, for an invalid request; `reason` is a one-line reason."""
    return make_text_response(reason, HTTPStatus.BAD_REQUEST)


def make_too_many_requests_response(retry_after_seconds: float) -> Response:
    """Return a response with status 429 and `Retry-After`, for a client whose address has used up its share of CPU time."""
    line = "too many requests from your address: try again in a moment"
    return replace(
        make_text_response(line, HTTPStatus.TOO_MANY_REQUESTS),
        headers={"Retry-After": str(math.ceil(retry_after_seconds))},
    )


def make_method_not_allowed_response(allowed_methods: str) -> Response:
    """Return a response with status 405: `allowed_methods` lists the methods that the path allows, separated by commas."""
    line = make_text_response(f"method not allowed: use {allowed_methods}", HTTPStatus.METHOD_NOT_ALLOWED)
    return replace(line, headers={"Allow": allowed_methods})


def make_unauthorized_response(reason: str, *, prompts_browser_for_login: bool = True) -> Response:
    """Return a response with status 401, for a missing or wrong name and token; `reason` is a one-line reason.

    prompts_browser_for_login  True to make browsers ask their user for a name and a token
    """
    headers = (
        {"WWW-Authenticate": 'Basic realm="a bot and its token", charset="UTF-8"'}
        if prompts_browser_for_login
        else {}
    )
    return replace(make_text_response(reason, HTTPStatus.UNAUTHORIZED), headers=headers)


INTERNAL_ERROR_RESPONSE = make_text_response(
    "internal server error; the server's log has the details", HTTPStatus.INTERNAL_SERVER_ERROR
)
"""Response to a request whose handler raised an exception. The exception itself is only logged."""
PAGE_NOT_FOUND_RESPONSE = make_text_response(
    f"no such page; bots connect here by websocket, with the subprotocol {SUBPROTOCOL}", HTTPStatus.NOT_FOUND
)
"""Response to a request for a page that does not exist."""


def encode_response(
    response: Response, server_program: str, *, is_last: bool, omits_body: bool = False
) -> bytes:
    """Return a response as bytes, in the form of HTTP/1.1.

    server_program  name and version of the server, for the `Server` header
    is_last         True if the connection ends after this response, which then says `Connection: close`
    omits_body      True to leave out the body, as for HEAD, but still send its length (RFC 9110, section 9.3.2)
    """
    fields = {
        "Date": formatdate(usegmt=True),
        **response.headers,
        "Content-Type": response.content_type,
        "Content-Length": str(len(response.body)),
        "Server": server_program,
    }
    if is_last:
        fields["Connection"] = "close"
    head = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
    body = b"" if omits_body else response.body
    return f"HTTP/1.1 {response.status.value} {response.status.phrase}\r\n{head}\r\n".encode() + body
