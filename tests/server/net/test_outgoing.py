"""What a connection writes, to peers that read, that do not, and that never answer its end: over real sockets."""

from __future__ import annotations

import asyncio
import socket
from asyncio import transports
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import Protocol, Side
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from arena.server.net.outgoing import OUTBOX_BYTES, Outgoing

BUFFER_BYTES = 4096


def opened() -> ServerProtocol:
    """The library's side of a connection whose handshake is done."""
    server, client = ServerProtocol(), ClientProtocol(parse_uri("ws://localhost/"))
    client.send_request(client.connect())
    server.receive_data(b"".join(client.data_to_send()))
    [request] = server.events_received()
    assert isinstance(request, Request)
    server.send_response(server.accept(request))
    server.data_to_send()
    return server


class Writer(asyncio.Protocol):
    """The server's end of a socket: it only writes."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()

    def connection_made(self, transport: transports.BaseTransport) -> None:
        self.library = opened()
        self.outgoing = Outgoing(cast("asyncio.Transport", transport), self.library)

    def pause_writing(self) -> None:
        self.outgoing.note(slow=True)

    def resume_writing(self) -> None:
        self.outgoing.note(slow=False)

    def connection_lost(self, exc: Exception | None) -> None:
        assert exc is None or isinstance(exc, OSError)
        self.lost.set()


@asynccontextmanager
async def pair() -> AsyncIterator[tuple[Writer, socket.socket]]:
    """Both ends of a connection; the peer's is a plain socket that nobody reads."""
    ours, peer = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    peer.setblocking(False)
    transport, writer = await asyncio.get_running_loop().create_connection(Writer, sock=ours)
    try:
        yield writer, peer
    finally:
        peer.close()
        transport.abort()
        await writer.lost.wait()


async def read(peer: socket.socket, count: int) -> list[bytes]:
    """So many messages, as the library's client finds them."""
    parser = Protocol(Side.CLIENT, max_size=None)
    messages: list[bytes] = []
    while len(messages) < count:
        parser.receive_data(await asyncio.get_running_loop().sock_recv(peer, 65536))
        messages += [bytes(each.data) for each in parser.events_received() if isinstance(each, Frame)]
    return messages


async def test_a_peer_that_never_reads_costs_no_more_than_the_bound_and_reads_what_was_taken() -> None:
    async with pair() as (writer, peer):
        message, taken = 1000 * b"x", 0
        while writer.outgoing.send(b"%d" % taken + message):
            taken += 1
            assert writer.outgoing.backlog <= OUTBOX_BYTES + 1100
        refused_at = writer.outgoing.backlog
        assert refused_at > OUTBOX_BYTES
        assert not writer.outgoing.send(b"more")
        assert writer.outgoing.backlog == refused_at, "nothing is written of what is refused"
        assert await read(peer, taken) == [b"%d" % number + message for number in range(taken)]
        assert writer.outgoing.send("again", b"and more")
        assert await read(peer, 2) == [b"again", b"and more"]


async def test_one_message_larger_than_the_bound_reaches_a_peer_that_reads() -> None:
    async with pair() as (writer, peer):
        assert writer.outgoing.send(2 * OUTBOX_BYTES * b"x")
        assert await read(peer, 1) == [2 * OUTBOX_BYTES * b"x"]


async def test_a_peer_that_never_answers_the_close_is_ended_in_time() -> None:
    async with pair() as (writer, _peer):
        writer.library.send_close(1000, "over")
        writer.outgoing.flush(0.02)
        assert writer.outgoing.due
        assert writer.outgoing.send(b"too late"), "its receiver will be told"
        await asyncio.wait_for(writer.lost.wait(), 10)


async def test_a_later_deadline_takes_the_place_of_the_one_before() -> None:
    async with pair() as (writer, _peer):
        writer.outgoing.end_after(0.01)
        writer.outgoing.end_after(None)
        await asyncio.sleep(0.05)
        assert not writer.lost.is_set()
        writer.outgoing.end_after(3600)
        writer.outgoing.end_after(0.01)
        await asyncio.wait_for(writer.lost.wait(), 10)


async def test_a_peer_that_closes_is_answered_and_the_stream_ends() -> None:
    async with pair() as (writer, peer):
        writer.library.receive_data(Frame(Opcode.CLOSE, b"\x03\xe8").serialize(mask=True))
        writer.outgoing.flush(10)
        assert writer.outgoing.ended
        assert await asyncio.get_running_loop().sock_recv(peer, 100) == b"\x88\x02\x03\xe8"
        assert await asyncio.get_running_loop().sock_recv(peer, 100) == b""
        writer.outgoing.end_after(None)


async def test_a_peer_that_is_gone_before_the_loop_knows_ends_its_own_connection_only() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        peer = socket.create_connection(listener.getsockname())
        ours, _ = listener.accept()
    transport, writer = await asyncio.get_running_loop().create_connection(Writer, sock=ours)
    # The kernel resets the connection at the first bytes that come after this.
    peer.close()
    writer.library.fail(1001, "the server stops")
    writer.outgoing.flush()
    assert writer.outgoing.ended
    await asyncio.wait_for(writer.lost.wait(), 10)
    assert transport.is_closing()
