"""An answer to a plain GET, and how the usual ones are made."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import msgspec

from arena.server.net.request import Request

TEXT = "text/plain; charset=utf-8"
JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    """What a plain GET is answered: status, content type, body, and headers beside those three."""

    status: HTTPStatus
    kind: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


Pages = Callable[[Request, str], Awaitable[Answer | None]]
"""Answers a plain GET from an address; None where there is no such page."""


def text(line: str, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """One line of text."""
    return Answer(status, TEXT, f"{line}\n".encode())


def json(value: Any, headers: Mapping[str, str] | None = None) -> Answer:
    """A value as JSON; it is never kept by the browser, unless `headers` say otherwise."""
    return raw_json(msgspec.json.encode(value), headers)


def raw_json(body: bytes, headers: Mapping[str, str] | None = None) -> Answer:
    """JSON that is encoded already."""
    return Answer(HTTPStatus.OK, JSON, body, {"Cache-Control": "no-store", **(headers or {})})


def not_found(what: str) -> Answer:
    """There is no such page, match or bot: one line that says which."""
    return text(what, HTTPStatus.NOT_FOUND)


def bad_request(why: str) -> Answer:
    """The question itself is wrong: one line that says why."""
    return text(why, HTTPStatus.BAD_REQUEST)


def too_much(seconds: float) -> Answer:
    """Too much was asked for from an address, which may ask again after so long."""
    line = "too much was asked for from your address: try again in a moment"
    return replace(text(line, HTTPStatus.TOO_MANY_REQUESTS), headers={"Retry-After": str(math.ceil(seconds))})


def unauthorized(why: str) -> Answer:
    """The name and its token do not go together, or are not given: one line that says why."""
    headers = {"WWW-Authenticate": 'Basic realm="a bot and its token", charset="UTF-8"'}
    return Answer(HTTPStatus.UNAUTHORIZED, TEXT, f"{why}\n".encode(), headers)
