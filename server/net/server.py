"""The network side of one server: its listeners, and what all connections that they accept share."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from ssl import SSLContext
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.abc

from arena.server.net.addresses import listen_problem
from arena.server.net.admission import Admission
from arena.server.net.answers import Pages
from arena.server.net.connection import Connection
from arena.server.net.delivery import Receiver
from arena.server.net.outgoing import CLOSE_SECONDS

KERNEL_BUFFER_BYTES = 32 * 1024
"""What the kernel keeps of a connection, each way (Linux takes the double): so much of a flood is taken in before it
is found out, and a client that never reads is found out when as much waits for it."""
BACKLOG = 100
"""Connections that the kernel holds ready to be accepted."""


class CannotListen(Exception):
    """The address cannot be listened on: one line that says which and why."""


class Server:
    """Listeners and their connections. As a context it ends with the block: its connections are told and closed."""

    def __init__(
        self,
        admission: Admission,
        pages: Pages,
        receiver: Callable[[Connection], Receiver],
        tasks: anyio.abc.TaskGroup,
        *,
        program: str,
        any_origin: bool = False,
    ) -> None:
        """`receiver` makes the receiver of each connection that has opened a websocket; jobs run in `tasks`.

        any_origin: whether pages of other sites may connect from their visitors' browsers
        """
        self.admission = admission
        self.limits = admission.limits
        self.pages = pages
        self.program = program
        self.any_origin = any_origin
        self._receiver = receiver
        self._tasks = tasks
        self._listeners: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        self._jobs = 0
        """Tasks of connections that are under way."""
        self._quiet: anyio.Event | None = None
        """Set when there is neither a connection nor a job; None while nobody waits for that."""

    async def __aenter__(self) -> Self:
        self._tasks.start_soon(self.admission.keepalive.run)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self.close()

    async def listen(
        self, host: str, port: int, tls: SSLContext | None, *, reuse_port: bool = False
    ) -> tuple[Any, ...]:
        """Accept connections on `host`:`port` (0: any free one); the address of the first socket.

        reuse_port: whether other processes of this user accept on the same port; the kernel deals them out.
        Raises CannotListen.
        """
        loop = asyncio.get_running_loop()
        options: dict[str, Any] = {"ssl_handshake_timeout": self.limits.hello_seconds} if tls else {}
        if reuse_port:
            options["reuse_port"] = True
        # A cancellation between the binding of a socket and its being known here would leave it open.
        with anyio.CancelScope(shield=True):
            try:
                listener = await loop.create_server(
                    partial(Connection, self),
                    host,
                    port,
                    ssl=tls,
                    backlog=BACKLOG,
                    start_serving=False,
                    **options,
                )
            except OSError as error:
                raise CannotListen(listen_problem(host, port, error)) from None
            self._listeners.append(listener)
            for each in listener.sockets:  # and so for every connection that they accept
                each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BUFFER_BYTES)
                each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BUFFER_BYTES)
            await listener.start_serving()
        address: tuple[Any, ...] = next(iter(listener.sockets)).getsockname()
        return address

    async def close(self) -> None:
        """Accept nothing more, close every connection, and wait until each of them has been dealt with."""
        self.admission.close()
        for listener in self._listeners:
            listener.close()
        for connection in list(self._connections):
            connection.close(1001, "the server stops")
        with anyio.move_on_after(2 * CLOSE_SECONDS):
            while self._connections or self._jobs:
                self._quiet = anyio.Event()
                await self._quiet.wait()

    # what connections use

    def receiver(self, connection: Connection) -> Receiver:
        """Make the receiver of a connection whose opening handshake is done."""
        return self._receiver(connection)

    def opened(self, connection: Connection) -> None:
        """A connection was let in."""
        self._connections.add(connection)

    def ended(self, connection: Connection) -> None:
        """A connection that was let in is over."""
        self._connections.discard(connection)
        self._look()

    def start_soon(self, job: Callable[[], Awaitable[None]]) -> None:
        """Run `job`, which does not raise, in a task."""
        self._jobs += 1
        self._tasks.start_soon(self._run, job)

    async def _run(self, job: Callable[[], Awaitable[None]]) -> None:
        try:
            await job()
        finally:
            self._jobs -= 1
            self._look()

    def _look(self) -> None:
        if self._quiet is not None and not self._connections and not self._jobs:
            self._quiet.set()
