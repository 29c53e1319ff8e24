"""Refusals of websocket requests, as another HTTP library reads them."""

from __future__ import annotations

from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.datastructures import Headers

from arena.protocol.messages import SUBPROTOCOL
from arena.server.edge import handshake
from arena.server.edge.request import Request
from tests.server.edge.rig import parse_response


@given(st.lists(st.text("abc.1", min_size=1, max_size=8), max_size=3), st.booleans())
def test_a_client_must_offer_the_subprotocol_of_the_server(others: list[str], offers: bool) -> None:
    offered = [*others, SUBPROTOCOL] if offers else others
    for fields in (
        [("sec-websocket-protocol", each) for each in offered],
        [("Sec-WebSocket-Protocol", ", ".join(offered))] if offered else [],
    ):
        refusal = handshake.find_subprotocol_refusal(Request("/", Headers(fields)))
        assert (refusal is None) == offers
        if refusal is not None:
            response, body = parse_response(refusal)
            assert response.status == 400
            assert SUBPROTOCOL.encode() in body
            assert (", ".join(others) or "none").encode() in body


def test_a_long_offer_of_subprotocols_is_quoted_in_part() -> None:
    request = Request("/", Headers([("Sec-WebSocket-Protocol", 10_000 * "x")]))
    refusal = handshake.find_subprotocol_refusal(request)
    assert refusal is not None
    assert len(refusal.body) < 200


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://arena.example", "arena.example"),
        ("https://arena.example", "arena.example"),
        ("https://arena.example:8443", "arena.example"),  # nginx passes the name on without the port
        ("http://ARENA.example", "arena.example:8765"),
        ("http://[::1]:8765", "[::1]:8765"),
        ("http://127.0.0.1:8765", "127.0.0.1:8765"),
    ],
)
def test_a_page_of_the_same_host_may_open_a_websocket(origin: str, host: str) -> None:
    assert handshake.find_origin_refusal(Request("/", Headers([("Host", host), ("Origin", origin)]))) is None


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://arena.example.evil.example",
        "file://",
        "",
        "http://[",
        "x" * 999,
    ],
)
def test_a_page_of_another_site_may_not_open_a_websocket(origin: str) -> None:
    answer = handshake.find_origin_refusal(
        Request("/", Headers([("Host", "arena.example"), ("Origin", origin)]))
    )
    assert answer is not None
    assert answer.status == HTTPStatus.FORBIDDEN
    _, body = parse_response(answer)
    assert body.decode().count("\n") == 1
    assert b"may not connect to arena.example; a proxy must pass on the Host header" in body
    assert len(body) < 300


def test_all_origin_and_host_headers_are_compared() -> None:
    here, there = ("Origin", "http://a.example"), ("Origin", "http://b.example")
    for headers in (
        [("Host", "a.example"), here, there],
        [("Host", "a.example"), ("Host", "b.example"), here],
        [here],
    ):
        assert handshake.find_origin_refusal(Request("/", Headers(headers))) is not None
    assert handshake.find_origin_refusal(Request("/", Headers([("Host", "a.example")]))) is None, (
        "only browsers send Origin"
    )
