"""Plain requests on one connection: answered in order and within limits. A websocket may open after them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import pytest
from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side

from arena.protocol.codec import decode_server_message
from arena.protocol.messages import SUBPROTOCOL, Hello, Welcome
from arena.server.core.limits import ServerLimits
from arena.server.edge import plain_requests
from arena.server.edge.edge import MAX_READ_CHUNK_BYTES
from arena.server.edge.request import Request
from arena.server.edge.responses import MakeResponse, Response, make_text_response
from testkit.websocket_bytes import make_handshake_request
from tests.server.edge.rig import (
    ADDRESS,
    OTHER_ADDRESS,
    Peer,
    Rig,
    await_response,
    encode_client_frame,
    open_rig,
    parse_response,
)
from tests.virtual import virtual

LARGE = 50_000
"""Size of the response to a request for `/large`, in bytes."""


@dataclass
class Site:
    """Page handler that answers each request with its path, and records the requests."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    never: asyncio.Event | None = None

    def page(self, request: Request, address: str) -> Response | MakeResponse:
        self.asked.append((request.path, address))
        return (
            make_text_response(request.path)
            if request.path.startswith("/quick")
            else partial(self.make, request)
        )

    async def make(self, request: Request) -> Response:
        await asyncio.sleep(0.001)
        if request.path == "/slow" and self.never is not None:
            await self.never.wait()
        if request.path == "/fails":
            raise ValueError("a secret")
        return make_text_response(LARGE * "x" if request.path == "/large" else request.path)

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@asynccontextmanager
async def site(limits: ServerLimits | None = None) -> AsyncIterator[tuple[Rig, Site]]:
    pages = Site(never=asyncio.Event())
    async with open_rig(limits, pages=pages.page) as arena:
        yield arena, pages


async def answer(peer: Peer) -> tuple[int, bytes, bool]:
    """Return the status and body of the next response, and True if the connection ends after it."""
    await peer.wait_until(lambda: b"\r\n\r\n" in peer.bytes)
    head, _, rest = peer.bytes.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:])
    size = int(fields.get("content-length", "0"))
    peer.bytes = rest
    await peer.wait_until(lambda: len(peer.bytes) >= size)
    body, peer.bytes = peer.bytes[:size], peer.bytes[size:]
    return int(lines[0].split()[1]), body, fields.get("connection") == "close"


async def read_to_end(peer: Peer) -> bytes:
    """Wait for the end of the stream, and return the bytes received since the last response."""
    await peer.wait_until(lambda: peer.is_over)
    return peer.bytes


def get(path: str, *headers: str, method: str = "GET", version: str = "1.1") -> bytes:
    return "\r\n".join((f"{method} {path} HTTP/{version}", "Host: here", *headers, "", "")).encode()


@virtual
async def test_a_connection_may_send_many_requests() -> None:
    async with site() as (arena, pages):
        peer = Peer(arena.edge)
        for number in range(20):
            peer.transport.feed_data(get(f"/{number}"))
            assert await answer(peer) == (200, f"/{number}\n".encode(), False)
        assert arena.edge.admission.open_connection_counts.total() == 1
        assert pages.asked[0] == ("/0", ADDRESS)
        assert not arena.core.received


@pytest.mark.parametrize("size", [1, 7, 61, 100_000])
@virtual
async def test_pipelined_requests_are_answered_in_order_in_chunks_of_any_size(size: int) -> None:
    paths = ["/0", "/quick/1", "/quick/2", "/3"]
    stream = b"".join(map(get, paths))
    async with site() as (arena, pages):
        peer = Peer(arena.edge)
        for at in range(0, len(stream), size):
            peer.transport.feed_data(stream[at : at + size])
            await asyncio.sleep(0.0001)
        for path in paths:
            assert await answer(peer) == (200, f"{path}\n".encode(), False)
        assert pages.paths == paths


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get("/a", "Connection: close"), 200),
        (get("/a", "Connection: x, Close"), 200),
        (get("/a", version="1.0"), 200),
        (get("/a", "Connection: keep-alive", version="1.0"), 200),
        (get("/a", method="POST"), 200),
        (get("/a", method="PUT"), 405),
        (get("/a", f"X: {'x' * 10_000}"), 431),
        (get("/" + 10_000 * "a"), 414),
    ],
)
@virtual
async def test_a_request_that_ends_the_connection_is_the_last_one_read(request_: bytes, status: int) -> None:
    async with site() as (arena, pages):
        peer = Peer(arena.edge)
        peer.transport.feed_data(get("/first"))
        assert await answer(peer) == (200, b"/first\n", False)
        peer.transport.feed_data(request_ + get("/hidden"))
        found, _, closes = await answer(peer)
        assert (found, closes) == (status, True)
        assert await read_to_end(peer) == b""
        assert "/hidden" not in pages.paths


@virtual
async def test_the_response_to_head_has_no_body_and_ends_the_connection() -> None:
    async with site() as (arena, pages):
        peer = Peer(arena.edge)
        peer.transport.feed_data(get("/a", method="HEAD") + get("/hidden"))
        response_bytes = await read_to_end(peer)
        assert response_bytes.startswith(b"HTTP/1.1 200 ")
        assert response_bytes.endswith(b"\r\n\r\n")
        assert b"Content-Length: 3\r\n" in response_bytes
        assert pages.paths == ["/a"]


@pytest.mark.parametrize(
    "request_",
    [
        get("/a", "Content-Length: 3") + b"abc",
        get("/a", "Content-Length: 9000", method="POST") + 9000 * b"a",
        get("/a", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
        get("/a", "no colon"),
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
@virtual
async def test_a_body_or_an_invalid_request_is_refused_and_closes_the_connection(request_: bytes) -> None:
    async with site() as (arena, pages):
        peer = Peer(arena.edge)
        peer.transport.feed_data(get("/first") + request_ + get("/hidden"))
        assert await answer(peer) == (200, b"/first\n", False)
        status, body, closes = await answer(peer)
        assert (status, closes, body.count(b"\n")) == (400, True, 1)
        assert body.endswith(b"send HTTP/1.1 without a body\n")
        assert await read_to_end(peer) == b""
        assert pages.paths == ["/first"]


@virtual
async def test_a_websocket_opens_after_plain_requests_and_keeps_the_data_sent_with_them() -> None:
    async with site() as (arena, _):
        peer = Peer(arena.edge)
        peer.transport.feed_data(
            get("/a") + get("/b") + make_handshake_request("here") + encode_client_frame(Hello("anna"))
        )
        assert (await answer(peer))[1] == b"/a\n"
        assert (await answer(peer))[1] == b"/b\n"
        assert (await answer(peer))[0] == 101
        await peer.wait_until(lambda: len(peer.bytes) > 10)
        parser = Protocol(Side.CLIENT)
        parser.receive_data(peer.bytes)
        [frame] = parser.events_received()
        assert isinstance(frame, Frame)
        assert isinstance(decode_server_message(bytes(frame.data)), Welcome)


@virtual
async def test_a_flood_sent_together_with_the_handshake_is_detected() -> None:
    async with site() as (arena, _):
        peer = Peer(arena.edge)
        peer.transport.feed_data(
            make_handshake_request("here") + 1000 * Frame(Opcode.PING, b"").serialize(mask=True)
        )
        await peer.transport.lost.wait()
        assert peer.bytes.count(b"\x8a\x00") <= 2 * MAX_READ_CHUNK_BYTES / 6


@pytest.mark.parametrize(
    ("opened", "status"),
    [
        (make_handshake_request("here", "arena.v9"), 400),
        (make_handshake_request("here").replace(b"GET", b"POST"), 405),
        (make_handshake_request("here").replace(b"Upgrade: websocket", b"Upgrade: websocket, h2c"), 426),
        (make_handshake_request("here").replace(b"Version: 13", b"Version: 8"), 400),
        (make_handshake_request("here")[:-2] + b"Origin: https://evil.example\r\n\r\n", 403),
        (make_handshake_request("here")[:-2] + b"Origin: https://here\r\n\r\n", 101),
    ],
    # The requests contain a random key, so they cannot be the ids.
    ids=["subprotocol", "method", "upgrade", "version", "origin", "own origin"],
)
@virtual
async def test_a_refused_handshake_gets_a_reason(opened: bytes, status: int) -> None:
    async with site() as (arena, _):
        peer = Peer(arena.edge)
        peer.transport.feed_data(opened)
        found, body, closes = await answer(peer)
        assert found == status
        if status != 101:
            assert body
            assert closes
            await read_to_end(peer)


@virtual
async def test_no_further_request_is_read_while_the_client_reads_no_responses() -> None:
    async with site() as (arena, pages):
        peer = Peer(arena.edge)
        peer.is_reading = False
        peer.transport.feed_data(100 * get("/large"))
        await asyncio.sleep(5)
        assert len(pages.asked) <= 3
        assert len(peer.transport.inbound) > 50 * len(get("/large"))
        peer.resume_reading()
        await asyncio.sleep(5)
        assert len(pages.asked) == 100


@virtual
async def test_at_most_one_chunk_is_read_while_a_response_is_made() -> None:
    async with site() as (arena, pages):
        peer = Peer(arena.edge)
        peer.transport.feed_data(get("/slow"))
        await asyncio.sleep(0.1)
        peer.transport.feed_data(1000 * b"GET / ")
        await asyncio.sleep(1)
        assert len(peer.transport.inbound) >= 6000 - MAX_READ_CHUNK_BYTES
        assert pages.never is not None
        pages.never.set()
        assert (await answer(peer))[0] == 200


@virtual
async def test_a_response_that_takes_too_long_ends_the_connection() -> None:
    async with site() as (arena, _):
        peer = Peer(arena.edge)
        peer.transport.feed_data(get("/slow"))
        await read_to_end(peer)
        assert peer.bytes == b""


@virtual
async def test_an_idle_connection_is_closed_without_fault() -> None:
    async with site(ServerLimits(hello_seconds=0.2, cut_offs=1)) as (arena, _):
        for _ in range(3):
            peer = Peer(arena.edge)
            peer.transport.feed_data(get("/a"))
            assert (await answer(peer))[2] is False
            assert await read_to_end(peer) == b""
        silent = Peer(arena.edge)
        await read_to_end(silent)
        assert arena.edge.admission.try_admit_connection(ADDRESS)


@pytest.mark.parametrize("first", [b"", get("/a")])
@virtual
async def test_a_request_sent_byte_by_byte_must_arrive_in_time(first: bytes) -> None:
    async with site(ServerLimits(hello_seconds=0.3, cut_offs=1)) as (arena, _):
        peer = Peer(arena.edge)
        if first:
            peer.transport.feed_data(first)
            await answer(peer)
        start_time = asyncio.get_running_loop().time()
        while not peer.transport.closing:
            peer.transport.feed_data(b"a")
            await asyncio.sleep(0.02)
        assert asyncio.get_running_loop().time() - start_time < 0.35
        assert not arena.edge.admission.try_admit_connection(ADDRESS), "the connection counts as misbehaving"


@virtual
async def test_a_connection_may_send_a_limited_number_of_requests() -> None:
    most = plain_requests.MAX_REQUESTS_PER_CONNECTION
    try:
        plain_requests.MAX_REQUESTS_PER_CONNECTION = 3
        async with site() as (arena, pages):
            peer = Peer(arena.edge)
            peer.transport.feed_data(4 * get("/a"))
            assert [(await answer(peer))[2] for _ in range(3)] == [False, False, True]
            assert await read_to_end(peer) == b""
            assert len(pages.asked) == 3
    finally:
        plain_requests.MAX_REQUESTS_PER_CONNECTION = most


@virtual
async def test_an_address_near_its_connection_limit_gets_no_keep_alive() -> None:
    async with site(ServerLimits(connections_per_address=4)) as (arena, _):
        others = [Peer(arena.edge) for _ in range(2)]
        peer = Peer(arena.edge)
        peer.transport.feed_data(get("/a"))
        assert (await answer(peer))[2] is True
        assert await read_to_end(peer) == b""
        peer_at_other_address = Peer(arena.edge, OTHER_ADDRESS)
        peer_at_other_address.transport.feed_data(get("/a"))
        assert (await answer(peer_at_other_address))[2] is False
        for each in others:
            each.transport.reset()


@virtual
async def test_the_response_for_a_missing_page_says_how_bots_connect() -> None:
    async with open_rig() as arena:
        peer = Peer(arena.edge)
        peer.transport.feed_data(get("/nowhere"))
        status, body, _ = await answer(peer)
    assert status == 404
    assert SUBPROTOCOL.encode() in body


@pytest.mark.parametrize("later", [False, True])
async def test_an_exception_of_a_page_handler_is_logged_but_not_sent(
    caplog: pytest.LogCaptureFixture, *, later: bool
) -> None:
    async def makes() -> Response:
        raise ValueError("a secret of the server")

    def fails(_request: Request, _address: str) -> Response:
        raise ValueError("a secret of the server")

    with caplog.at_level(logging.ERROR, "arena.connection"):
        pages = (lambda _request, _address: makes) if later else fails
        answer = await await_response(
            plain_requests.make_page_response(pages, Request("/", Headers()), "192.0.2.1")
        )
    response, body = parse_response(answer)
    assert response.status == 500
    assert b"secret" not in body
    [record] = caplog.records
    assert record.exc_info is not None
    assert "a secret of the server" in str(record.exc_info[1])
