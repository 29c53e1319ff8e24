"""The answer to a request: each refusal and each page, as an independent HTTP parser reads it."""

from __future__ import annotations

import http.client
import io
import logging
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.datastructures import Headers

from arena.protocol.messages import SUBPROTOCOL
from arena.server.edge import handshake
from arena.server.edge.request import Request
from arena.server.edge.responses import Response
from tests.server.edge.rig import settled

PROGRAM = "arena of a test"


class Wire:
    """Bytes in the place of a socket, as `http.client` reads them."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._sent)


def parse_answer(answer: Response, *, last: bool = True) -> tuple[http.client.HTTPResponse, bytes]:
    """Return an answer as it is sent, read by another library."""
    wire = Wire(handshake.encode_response(answer, PROGRAM, is_last=last))
    response = http.client.HTTPResponse(wire, method="GET")  # type: ignore[arg-type]
    response.begin()
    return response, response.read()


statuses = st.sampled_from(
    [status for status in HTTPStatus if status >= 200 and status not in (204, 205, 304)]
)
tokens = st.text("abcdefghij-", min_size=1, max_size=12)
values = st.text("abc xyz/;=\"'!", max_size=30).map(str.strip)


@given(
    statuses,
    st.binary(max_size=3000),
    st.dictionaries(tokens.map("X-{}".format), values, max_size=4),
    st.booleans(),
)
def test_every_answer_is_read_as_it_was_meant(
    status: HTTPStatus, body: bytes, headers: dict[str, str], last: bool
) -> None:
    response, read_body = parse_answer(Response(status, "image/png", body, headers), last=last)
    assert response.status == status
    assert response.will_close == last
    assert read_body == body
    found = response.headers
    assert found.get_all("Content-Type") == ["image/png"]
    assert found.get_all("Content-Length") == [str(len(body))]
    assert found.get_all("Server") == [PROGRAM]
    for name, value in headers.items():
        assert found.get_all(name) == [value]


@given(st.lists(st.text("abc.1", min_size=1, max_size=8), max_size=3), st.booleans())
def test_a_client_must_offer_this_servers_subprotocol_among_others(others: list[str], offers: bool) -> None:
    offered = [*others, SUBPROTOCOL] if offers else others
    for fields in (
        [("sec-websocket-protocol", each) for each in offered],
        [("Sec-WebSocket-Protocol", ", ".join(offered))] if offered else [],
    ):
        refusal = handshake.refuse_without_subprotocol(Request("/", Headers(fields)))
        assert (refusal is None) == offers
        if refusal is not None:
            response, body = parse_answer(refusal)
            assert response.status == 400
            assert SUBPROTOCOL.encode() in body
            assert (", ".join(others) or "none").encode() in body


def test_a_refused_offer_is_quoted_shortened() -> None:
    request = Request("/", Headers([("Sec-WebSocket-Protocol", 10_000 * "x")]))
    refusal = handshake.refuse_without_subprotocol(request)
    assert refusal is not None
    assert len(refusal.body) < 200


async def test_a_server_without_a_page_says_how_bots_connect() -> None:
    async def makes_none() -> Response | None:
        return None

    for none in (lambda _request, _address: None, lambda _request, _address: makes_none):
        answer = await settled(handshake.answer_page(none, Request("/nowhere", Headers()), "192.0.2.1"))
        assert answer is not None
        response, body = parse_answer(answer)
        assert response.status == 404
        assert SUBPROTOCOL.encode() in body


@pytest.mark.parametrize("later", [False, True])
async def test_a_fault_of_a_page_is_logged_and_not_told(
    caplog: pytest.LogCaptureFixture, *, later: bool
) -> None:
    async def makes() -> Response | None:
        raise ValueError("a secret of the server")

    def fails(_request: Request, _address: str) -> Response | None:
        raise ValueError("a secret of the server")

    with caplog.at_level(logging.ERROR, "arena.connection"):
        pages = (lambda _request, _address: makes) if later else fails
        answer = await settled(handshake.answer_page(pages, Request("/", Headers()), "192.0.2.1"))
    assert answer is not None
    response, body = parse_answer(answer)
    assert response.status == 500
    assert b"secret" not in body
    [record] = caplog.records
    assert record.exc_info is not None
    assert "a secret of the server" in str(record.exc_info[1])


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
def test_a_page_of_the_server_itself_may_connect(origin: str, host: str) -> None:
    assert handshake.refuse_other_origin(Request("/", Headers([("Host", host), ("Origin", origin)]))) is None


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
def test_a_page_of_another_site_may_not(origin: str) -> None:
    answer = handshake.refuse_other_origin(
        Request("/", Headers([("Host", "arena.example"), ("Origin", origin)]))
    )
    assert answer is not None
    assert answer.status == HTTPStatus.FORBIDDEN
    _, body = parse_answer(answer)
    assert body.decode().count("\n") == 1
    assert b"may not connect to arena.example; a proxy must pass on the Host header" in body
    assert len(body) < 300


def test_every_origin_and_every_host_that_is_named_counts() -> None:
    here, there = ("Origin", "http://a.example"), ("Origin", "http://b.example")
    for headers in (
        [("Host", "a.example"), here, there],
        [("Host", "a.example"), ("Host", "b.example"), here],
        [here],
    ):
        assert handshake.refuse_other_origin(Request("/", Headers(headers))) is not None
    assert handshake.refuse_other_origin(Request("/", Headers([("Host", "a.example")]))) is None, "no browser"
