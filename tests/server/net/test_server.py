"""The network side of one server: where it listens, and that whoever is connected is told when it stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from arena.server.net.admission import Admission
from arena.server.net.answers import Answer, text
from arena.server.net.connection import Connection
from arena.server.net.limits import HostLimits
from arena.server.net.request import Request
from arena.server.net.server import CannotListen, Server
from arena.server.processes.tasks import cancelled_at_exit

HOST = "127.0.0.1"


@dataclass(eq=False)
class Echo:
    """A receiver that sends back what it is given."""

    connection: Connection
    closed_with: list[str | None] = field(default_factory=list)

    def receive(self, message: bytes | str, at: int) -> None:
        assert at
        assert self.connection.send(message)

    def closed(self, fault: str | None) -> None:
        self.closed_with.append(fault)


async def page(request: Request, _address: str) -> Answer | None:
    return text(request.path)


@asynccontextmanager
async def opened(receivers: list[Echo] | None = None) -> AsyncIterator[Server]:
    """A server of echoes that does not listen yet."""
    made = [] if receivers is None else receivers

    def receiver(connection: Connection) -> Echo:
        made.append(Echo(connection))
        return made[-1]

    async with (
        cancelled_at_exit() as tasks,
        Server(Admission(HostLimits(), ()), page, receiver, tasks, program="test") as server,
    ):
        yield server


def dial(port: int) -> connect:
    return connect(f"ws://{HOST}:{port}", subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None)


async def test_it_listens_at_several_addresses_until_it_stops() -> None:
    async with opened() as server:
        ports = [(await server.listen(HOST, 0, None))[1] for _ in range(2)]
        for port in ports:
            async with dial(port) as client:
                await client.send(b"hello")
                assert await client.recv() == b"hello"
    for port in ports:
        with pytest.raises(OSError, match=r"refused|failed"):
            await asyncio.open_connection(HOST, port)


async def test_a_port_in_use_is_told_in_one_line_and_the_others_go_on() -> None:
    async with opened() as server:
        port = (await server.listen(HOST, 0, None))[1]
        with pytest.raises(CannotListen, match=f"{HOST}:{port}: the port is in use") as told:
            await server.listen(HOST, port, None)
        assert "\n" not in str(told.value)
        async with dial(port) as client:
            await client.send("still here")
            assert await client.recv() == "still here"


async def test_an_address_of_another_machine_is_told_in_one_line() -> None:
    async with opened() as server:
        with pytest.raises(CannotListen, match=r"cannot listen on 192\.0\.2\.1:0: \w+") as told:
            await server.listen("192.0.2.1", 0, None)
        assert "\n" not in str(told.value)


async def test_whoever_is_connected_is_told_that_the_server_stops() -> None:
    receivers: list[Echo] = []
    clients: list[ClientConnection] = []
    async with opened(receivers) as server:
        port = (await server.listen(HOST, 0, None))[1]
        for number in range(5):
            clients.append(await dial(port))
            await clients[-1].send(f"{number}")
            assert await clients[-1].recv() == f"{number}"
        silent = await anyio.connect_tcp(HOST, port)
    for client in clients:
        with pytest.raises(ConnectionClosed) as closed:
            await client.recv()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1001, "the server stops")
    assert [each.closed_with for each in receivers] == 5 * [[None]]
    async with silent:
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await silent.receive()


async def test_what_connections_have_begun_is_done_before_it_has_stopped() -> None:
    done: list[str] = []
    receivers: list[Echo] = []
    begun, enough = anyio.Event(), anyio.Event()

    async def job() -> None:
        begun.set()
        await enough.wait()
        done.append("job")

    async def stop_soon() -> None:
        assert not done
        enough.set()

    async with anyio.create_task_group() as tasks:
        async with opened(receivers) as server:
            port = (await server.listen(HOST, 0, None))[1]
            async with dial(port):
                receivers[0].connection.start_soon(job)
                await begun.wait()
            tasks.start_soon(stop_soon)
        assert done == ["job"]


async def test_nobody_comes_in_while_it_stops() -> None:
    async with opened() as server:
        port = (await server.listen(HOST, 0, None))[1]
        reader, writer = await asyncio.open_connection(HOST, port)
        await server.close()
        with pytest.raises(OSError, match=r"refused|failed"):
            await asyncio.open_connection(HOST, port)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
