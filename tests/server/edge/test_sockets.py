"""The edge on real sockets: behaviour that depends on the kernel, on another websocket library or on TLS."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from arena.clock import MONOTONIC_CLOCK
from arena.protocol.codec import decode_server_message, encode_message
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import (
    SUBPROTOCOL,
    Accepted,
    Error,
    Hello,
    Move,
    Turn,
    Watch,
    Welcome,
)
from arena.server.core.effects import SendToClient
from arena.server.core.inputs import ClientDisconnected, MessageReceived, TurnSent
from arena.server.core.limits import ServerLimits
from arena.server.edge.connection import Connection
from arena.server.edge.edge import CannotListen, Edge
from arena.server.edge.session import Session
from arena.server.loop_lag import EventLoopLag
from arena.server.metrics import Metrics
from arena.server.ports import AdmissionRequest
from testkit.tools import mark_requires
from tests.certificates import make_certificate
from tests.server.edge.rig import ScriptedCore, echo_page_path, make_turn

HOST = "127.0.0.1"
TIMEOUT_SECONDS = 500


class PlayingCore(ScriptedCore):
    """Core that sends each new client a turn, and another turn after each move."""

    def submit(self, message: Any) -> None:
        super().submit(message)
        if isinstance(message, AdmissionRequest):
            self.deliver_soon(SendToClient(message.client_number, make_turn()))
        elif isinstance(message, MessageReceived) and isinstance(message.message, Move):
            ply = message.message.ply
            self.deliver_soon(
                SendToClient(message.client_number, Accepted("m", ply, 1.0, 1000)),
                SendToClient(message.client_number, make_turn(ply + 2)),
            )


@asynccontextmanager
async def open_edge(
    limits: ServerLimits | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Any]:
    core = PlayingCore()
    metrics = Metrics()
    loop_lag = EventLoopLag(MONOTONIC_CLOCK, metrics.loop_lag_seconds.observe)
    edge = Edge(1, core, limits or ServerLimits(), metrics=metrics, server_program="test", loop_lag=loop_lag)
    edge.page_handler = echo_page_path
    core.edge = edge
    async with edge:
        port = (await edge.start_listening(HOST, 0, tls))[1]
        yield core, edge, port


def dial(port: int, **options: Any) -> connect:
    if "sock" not in options:
        options["host"] = HOST
    return connect(
        f"{'wss' if 'ssl' in options else 'ws'}://localhost:{port}",
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        compression=None,
        **options,
    )


async def play(client: ClientConnection, moves: int) -> None:
    await client.send(encode_message(Hello("anna")))
    played = 0
    while played < moves:
        message = decode_server_message(await client.recv())
        if isinstance(message, Turn):
            await client.send(encode_message(Move("m", message.ply, 1)))
        played += isinstance(message, Accepted)


async def wait_until(done: Any) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not done():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_client_of_another_library_plays_and_closes(run: Any) -> None:
    async def main() -> None:
        async with open_edge() as (core, edge, port):
            async with dial(port) as client:
                await play(client, 20)
            await wait_until(lambda: core.list_received(ClientDisconnected))
            assert core.list_received(ClientDisconnected) == [
                ClientDisconnected(core.get_last(AdmissionRequest).client_number)
            ]
            assert all(
                received.elapsed_ns is not None and received.elapsed_ns > 0
                for received in core.list_received(MessageReceived)
            )
            assert not edge.connections

    run(main())


@mark_requires("openssl")
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_client_plays_over_tls(run: Any, tmp_path: Path) -> None:
    async def main() -> None:
        cert, key = make_certificate(tmp_path, "localhost")
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(cert, key)
        trusting = ssl.create_default_context(cafile=str(cert))
        async with open_edge(tls=server) as (core, _, port):
            async with dial(port, ssl=trusting) as client:
                await play(client, 20)
                await client.send(b"\xc1")
                with pytest.raises(ConnectionClosed) as closed:
                    while True:
                        await client.recv()
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == 1007
            reader, writer = await asyncio.open_connection(
                HOST, port, ssl=trusting, server_hostname="localhost"
            )
            for number in range(3):
                writer.write(b"GET /page/%d HTTP/1.1\r\nHost: here\r\n\r\n" % number)
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200 ")
                assert await reader.readline() == b"/page/%d\n" % number
            writer.write(b"GET /page/last HTTP/1.1\r\nConnection: close\r\n\r\n")
            assert (await reader.read()).endswith(b"/page/last\n")
            writer.close()
            assert [type(each) for each in core.received[-1:]] == [ClientDisconnected]

    run(main())


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_move_before_the_end_of_the_clients_stream_counts(run: Any) -> None:
    async def main() -> None:
        async with open_edge() as (core, edge, port), dial(port) as client:
            await client.send(encode_message(Hello("anna")))
            await wait_until(lambda: core.list_received(TurnSent))
            await client.send(encode_message(Move("m", 0, 1)))
            client.transport.write_eof()
            await wait_until(lambda: core.list_received(ClientDisconnected))
            kinds = [type(each) for each in core.received]
            assert kinds.index(MessageReceived) < kinds.index(ClientDisconnected)
            await wait_until(lambda: not edge.connections)

    run(main())


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_unparsed_messages_of_a_flooding_client_are_dropped_when_it_closes(run: Any) -> None:
    async def main() -> None:
        limits = ServerLimits(messages_per_second=10_000, work_ms_per_second=10**6)
        async with open_edge(limits) as (core, edge, port), dial(port) as client:
            await client.send(encode_message(Hello("anna")))
            await wait_until(lambda: core.list_received(TurnSent))
            client_number = core.get_last(AdmissionRequest).client_number
            for _ in range(2000):
                await client.send(encode_message(Watch("none")))
            await wait_until(lambda: core.list_received(MessageReceived))
            client.transport.abort()
            await wait_until(lambda: not edge.connections)
            assert len(core.list_received(MessageReceived)) < 1000
            assert core.list_received(ClientDisconnected) == [ClientDisconnected(client_number)]

    run(main())


def test_a_closed_connection_leaves_no_reference_cycles() -> None:
    async def request_page(port: int, connection: str) -> None:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(f"GET /page HTTP/1.1\r\nHost: here\r\nConnection: {connection}\r\n\r\n".encode())
        await reader.readuntil(b"/page\n")
        writer.close()
        await writer.wait_closed()

    async def main() -> None:
        async with open_edge() as (core, edge, port):
            for connection in ("close", "keep-alive"):
                await request_page(port, connection)
            async with dial(port) as client:
                await play(client, 1)
            async with dial(port) as client:
                await play(client, 1)
                client.transport.abort()
            core.received.clear()
            await wait_until(lambda: not edge.connections)

    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        uvloop.run(main())
        gc.collect()
        garbage = [type(each) for each in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not {Connection, Session, ServerProtocol} & set(garbage)


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_client_that_never_reads_is_disconnected_as_too_slow(run: Any) -> None:
    async def main() -> None:
        async with open_edge() as (core, edge, port):
            with socket.socket() as small:
                small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                small.connect((HOST, port))
                async with dial(port, sock=small) as client:
                    await client.send(encode_message(Hello("deaf")))
                    assert isinstance(decode_server_message(await client.recv()), Welcome)
                    client.transport.pause_reading()
                    sent = 0
                    while not core.list_received(ClientDisconnected):
                        edge.deliver_from_core(
                            [
                                SendToClient(
                                    core.get_last(AdmissionRequest).client_number, make_turn(1000, f"{sent}")
                                )
                            ]
                        )
                        sent += 1
                        assert sent < 10_000
                        await asyncio.sleep(0)
                    client.transport.resume_reading()
                    with pytest.raises(ConnectionClosed) as closed:
                        while True:
                            await client.recv()
                    assert closed.value.rcvd is not None
                    assert closed.value.rcvd.reason == ErrorCode.TOO_SLOW
            await wait_until(lambda: not edge.connections)

    run(main())


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_the_sender_of_a_huge_message_gets_the_reason(run: Any) -> None:
    async def main() -> None:
        async with open_edge() as (core, _, port):
            client = await dial(port)
            await client.send(encode_message(Hello("anna")))
            await client.recv()
            client.transport.write(b"\x82\xff" + (10**8).to_bytes(8, "big") + bytes(4) + 4 * 10**6 * b"x")
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await client.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
            assert core.list_received(ClientDisconnected)[0].fault

    run(main())


async def test_an_edge_listens_on_several_ports_until_it_closes() -> None:
    async with open_edge() as (_, edge, first):
        ports = [first, (await edge.start_listening(HOST, 0))[1]]
        clients = [await dial(port) for port in ports]
        silent, writer = await asyncio.open_connection(HOST, first)
    for client in clients:
        last = decode_server_message(await client.recv())
        assert isinstance(last, Error)
        assert last.code is ErrorCode.SHUTTING_DOWN
        with pytest.raises(ConnectionClosed) as closed:
            await client.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001
    for port in ports:
        with pytest.raises(OSError, match=r"refused|failed"):
            await asyncio.open_connection(HOST, port)
    assert await silent.read() == b""
    writer.close()


async def test_an_unusable_address_is_reported_in_one_line() -> None:
    async with open_edge() as (_, edge, port):
        with pytest.raises(CannotListen, match=f"{HOST}:{port}: the port is in use") as error_info:
            await edge.start_listening(HOST, port)
        assert "\n" not in str(error_info.value)
        for host, why in (
            ("192.0.2.1", "this machine does not have that address; write one of its own"),
            ("nowhere.invalid", "the name of the host is unknown; write an address of this machine"),
        ):
            with pytest.raises(CannotListen, match=f"cannot listen on {host}:0: {why}, or 0.0.0.0 for all"):
                await edge.start_listening(host, 0)
        async with dial(port) as client:
            await play(client, 1)


async def test_writing_to_a_reset_connection_affects_no_other_connection() -> None:
    async with open_edge() as (core, edge, port), dial(port) as other:
        await play(other, 1)
        client = await dial(port)
        await client.send(encode_message(Hello("gone")))
        await wait_until(lambda: len(core.list_received(TurnSent)) >= 3)
        number = core.get_last(AdmissionRequest).client_number
        client.transport.abort()
        for _ in range(10):
            edge.deliver_from_core([SendToClient(number, make_turn(100))])
        await wait_until(lambda: core.list_received(ClientDisconnected))
        await play_on(other)


async def play_on(client: ClientConnection) -> None:
    while not isinstance(message := decode_server_message(await client.recv()), Turn):
        pass
    await client.send(encode_message(Move("m", message.ply, 1)))
    assert isinstance(decode_server_message(await client.recv()), Accepted)
