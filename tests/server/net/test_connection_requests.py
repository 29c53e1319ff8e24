"""Many plain GETs on one connection: each is answered in order, within bounds, and a websocket may open after them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side

from arena.server.net import handshake
from arena.server.net.admission import Admission
from arena.server.net.answers import Answer, text
from arena.server.net.arrivals import CONTROL_BURST, KEPT_BYTES
from arena.server.net.connection import Connection
from arena.server.net.limits import HostLimits
from arena.server.net.outgoing import SLOW_BYTES
from arena.server.net.request import Request
from arena.server.net.server import KERNEL_BUFFER_BYTES, Server
from arena.server.processes.tasks import cancelled_at_exit
from testkit.bare import frame, opening

HOST = "127.0.0.1"
LARGE = 50_000
"""Bytes of an answer for whoever asks for one that is large."""
PATIENCE = 30
"""Seconds that only a hang takes."""


@dataclass(eq=False)
class Echo:
    """A receiver that sends back what it is given."""

    connection: Connection

    def receive(self, message: bytes | str, at: int) -> None:
        assert at
        assert self.connection.send(message)

    def closed(self, fault: str | None) -> None:
        assert fault is None


@dataclass
class Running:
    """A server that answers each path with the path, and what it was asked."""

    port: int
    admission: Admission
    asked: list[str] = field(default_factory=list)


@asynccontextmanager
async def running(limits: HostLimits | None = None) -> AsyncIterator[Running]:
    limits = limits or HostLimits()
    asked: list[str] = []

    async def page(request: Request, _address: str) -> Answer | None:
        asked.append(request.path)
        await asyncio.sleep(0)
        return text(LARGE * "x" if request.path == "/large" else request.path)

    async with (
        cancelled_at_exit() as tasks,
        Server(Admission(limits, ()), page, Echo, tasks, program="test") as server,
    ):
        yield Running((await server.listen(HOST, 0, None))[1], server.admission, asked)


class Client:
    """A client that is no library's: it says bytes, and reads answers by their lengths."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    async def answer(self) -> tuple[int, bytes, bool]:
        """The status, the body, and whether the server says that the connection ends with it."""
        async with asyncio.timeout(PATIENCE):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
            fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:-2])
            body = await self._reader.readexactly(int(fields.get("content-length", "0")))
        return int(head.split()[1]), body, fields.get("connection") == "close"

    async def frames(self, count: int) -> list[bytes]:
        """What comes after the server's answer to a request for a websocket."""
        parser, found = Protocol(Side.CLIENT), list[bytes]()
        async with asyncio.timeout(PATIENCE):
            while len(found) < count:
                parser.receive_data(await self._reader.read(4096))
                found += [bytes(each.data) for each in parser.events_received() if isinstance(each, Frame)]
        return found

    async def end(self) -> bytes:
        """All that still comes."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self._reader.read()
            except ConnectionResetError:
                return b""


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        yield Client(reader, writer)
    finally:
        writer.transport.abort()


def get(path: str, *headers: str, method: str = "GET", version: str = "1.1") -> bytes:
    return "\r\n".join((f"{method} {path} HTTP/{version}", "Host: here", *headers, "", "")).encode()


async def said(writer: asyncio.StreamWriter, pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.002)


async def test_one_connection_asks_again_and_again() -> None:
    async with running() as server, connected(server.port) as client:
        for number in range(20):
            client.writer.write(get(f"/{number}"))
            assert await client.answer() == (200, f"/{number}\n".encode(), False)
        assert server.admission.open.total() == 1


@pytest.mark.parametrize("size", [1, 7, 61, 100_000])
async def test_what_is_asked_before_the_answer_is_answered_in_order_however_it_is_cut(size: int) -> None:
    paths = [f"/{number}" for number in range(4)]
    stream = b"".join(map(get, paths))
    async with running() as server, connected(server.port) as client:
        saying = asyncio.create_task(
            said(client.writer, (stream[at : at + size] for at in range(0, len(stream), size)))
        )
        for path in paths:
            assert await client.answer() == (200, f"{path}\n".encode(), False)
        await saying
        assert server.asked == paths


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get("/a", "Connection: close"), 200),
        (get("/a", "Connection: x, Close"), 200),
        (get("/a", version="1.0"), 200),
        (get("/a", method="POST"), 405),
        (get("/a", method="HEAD"), 405),
        (get("/a", f"X: {'x' * 10_000}"), 431),
    ],
)
async def test_after_some_requests_nothing_more_is_read(request_: bytes, status: int) -> None:
    async with running() as server, connected(server.port) as client:
        client.writer.write(get("/first"))
        assert await client.answer() == (200, b"/first\n", False)
        client.writer.write(request_ + get("/hidden"))
        found, _, closes = await client.answer()
        assert (found, closes) == (status, True)
        assert await client.end() == b""
        assert "/hidden" not in server.asked


@pytest.mark.parametrize(
    "request_",
    [
        get("/a", "Content-Length: 3") + b"abc",
        get("/a", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
        get("/a", "no colon"),
        b"nonsense\r\n\r\n",
    ],
)
async def test_what_has_a_body_or_is_no_request_ends_the_connection(request_: bytes) -> None:
    async with running() as server, connected(server.port) as client:
        client.writer.write(get("/first") + request_ + get("/hidden"))
        assert await client.answer() == (200, b"/first\n", False)
        assert await client.end() == b""
        assert server.asked == ["/first"]


async def test_a_websocket_opens_after_plain_requests_and_what_came_with_them_is_not_lost() -> None:
    async with running() as server, connected(server.port) as client:
        client.writer.write(get("/a") + get("/b") + opening("here") + frame(b"one") + frame(b"two"))
        assert (await client.answer())[1] == b"/a\n"
        assert (await client.answer())[1] == b"/b\n"
        assert (await client.answer())[0] == 101
        assert await client.frames(2) == [b"one", b"two"]


async def test_a_flood_that_comes_with_the_request_is_found_as_any_other() -> None:
    ping = Frame(Opcode.PING, b"").serialize(mask=True)
    async with running() as server, connected(server.port) as client:
        client.writer.write(get("/a"))
        await client.answer()
        client.writer.write(opening("here") + (CONTROL_BURST + 1) * ping)
        answered = await client.end()
        assert answered.count(b"\x8a\x00") == 0
        async with asyncio.timeout(PATIENCE):
            while server.admission.open:
                await asyncio.sleep(0.01)


async def test_who_does_not_read_the_answers_is_not_asked_for_more() -> None:
    async with running() as server, connected(server.port) as client:
        asked = 1000
        saying = asyncio.create_task(said(client.writer, asked * [get("/large")]))
        # What fits on the way is answered, and then nothing more, however long one waits.
        before = -1
        while before != len(server.asked) or not before:
            before = len(server.asked)
            await asyncio.sleep(0.2)
        on_its_way = (
            SLOW_BYTES + 16 * KERNEL_BUFFER_BYTES + 4 * 2**20
        )  # and what the client's kernel takes in
        assert before * LARGE < on_its_way
        assert before < asked / 2
        saying.cancel()


async def test_no_more_is_taken_in_while_an_answer_is_made() -> None:
    never = asyncio.Event()

    async def page(_request: Request, _address: str) -> Answer | None:
        await never.wait()
        return None

    async with (
        cancelled_at_exit() as tasks,
        Server(Admission(HostLimits(), ()), page, Echo, tasks, program="test") as server,
        connected((await server.listen(HOST, 0, None))[1]) as client,
    ):
        client.writer.write(get("/a") + 400 * KERNEL_BUFFER_BYTES * b"x")
        before = -1
        transport = client.writer.transport
        while before != transport.get_write_buffer_size():
            before = transport.get_write_buffer_size()
            await asyncio.sleep(0.2)
        assert before > KEPT_BYTES, "it waits on the client's side"
        never.set()


async def test_a_connection_that_asks_for_nothing_more_ends_and_that_is_no_fault() -> None:
    async with running(HostLimits(hello_seconds=0.2, cut_offs=1)) as server:
        for _ in range(3):
            async with connected(server.port) as client:
                client.writer.write(get("/a"))
                assert (await client.answer())[2] is False
                assert await client.end() == b""
        async with connected(server.port) as client:
            client.writer.write(get("/a"))
            assert (await client.answer())[0] == 200


async def test_a_later_request_must_come_as_quickly_as_the_first() -> None:
    async with running(HostLimits(hello_seconds=0.3, cut_offs=1)) as server:
        async with connected(server.port) as client:
            client.writer.write(get("/a"))
            await client.answer()
            ended = asyncio.create_task(client.end())
            while not ended.done():
                client.writer.write(b"a")
                await asyncio.sleep(0.02)
            assert await ended == b""
        async with asyncio.timeout(PATIENCE):
            while server.admission.let_in(HOST):  # it counts as cut off, and its address is refused
                server.admission.leave(HOST)
                await asyncio.sleep(0.01)


async def test_one_connection_asks_for_so_much_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "MOST_ANSWERS", 3)
    async with running() as server, connected(server.port) as client:
        client.writer.write(4 * get("/a"))
        assert [(await client.answer())[2] for _ in range(3)] == [False, False, True]
        assert await client.end() == b""
        assert len(server.asked) == 3


async def test_where_there_are_many_connections_none_waits_for_another_request() -> None:
    async with running(HostLimits(connections_per_address=4)) as server:
        async with connected(server.port), connected(server.port), connected(server.port) as client:
            client.writer.write(get("/a"))
            assert (await client.answer())[2] is True
            assert await client.end() == b""
        async with connected(server.port) as client:
            async with asyncio.timeout(PATIENCE):
                while server.admission.open.total() > 1:
                    await asyncio.sleep(0.01)
            client.writer.write(get("/a"))
            assert (await client.answer())[2] is False
