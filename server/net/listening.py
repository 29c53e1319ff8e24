"""The listening sockets of a server, and what every connection that they accept is opened with."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from ssl import SSLContext
from typing import Any, cast

import anyio
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from protocol.messages import SUBPROTOCOL
from server.net.addresses import listen_problem
from server.net.admission import Admission
from server.net.connection import GuardedConnection
from server.net.limits import HostLimits

WRITE_BUFFER = 64 * 1024
"""Bytes that may wait in a connection's socket buffer before its writer waits."""
KERNEL_BUFFER = 32 * 1024
"""Bytes in the kernel, each way (Linux takes the double): so much of a flood is taken in before it is found out,
and a client that never reads is found out when as much waits for it."""


class CannotListen(Exception):
    """The address cannot be listened on: one line that says which and why."""


@asynccontextmanager
async def listening(
    host: str,
    port: int,
    tls: SSLContext | None,
    *,
    admission: Admission,
    limits: HostLimits,
    program: str,
    serve_one: Callable[[GuardedConnection], Awaitable[None]],
) -> AsyncIterator[tuple[Any, ...]]:
    """Listen on `host`:`port` (0: any free one) for the block; gives the address of the first socket.

    program    what the answers to handshakes and GETs name as the server
    serve_one  serves a connection from its handshake to its end

    Raises CannotListen.
    """

    async def answer(connection: ServerConnection) -> None:
        await serve_one(cast("GuardedConnection", connection))

    only_with_tls: dict[str, Any] = {"ssl_handshake_timeout": limits.hello_seconds} if tls else {}
    async with AsyncExitStack() as stack:
        try:
            # A cancellation between the binding of a socket and its being known here would leave it open.
            with anyio.CancelScope(shield=True):
                listener = await stack.enter_async_context(
                    serve(
                        answer,
                        host,
                        port,
                        create_connection=admission.connection_class(),
                        subprotocols=[Subprotocol(SUBPROTOCOL)],
                        process_request=admission.admit,
                        compression=None,  # moves are tens of bytes: it would cost time and memory for nothing
                        max_size=limits.message_bytes,
                        max_queue=4,
                        write_limit=WRITE_BUFFER,
                        ping_interval=None,  # server.net.keepalive
                        open_timeout=limits.hello_seconds,
                        close_timeout=2,
                        server_header=program,
                        ssl=tls,
                        **only_with_tls,
                    )
                )
        except OSError as error:
            raise CannotListen(listen_problem(host, port, error)) from None
        for each in listener.sockets:  # every connection that they accept has the same buffers
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BUFFER)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BUFFER)
        yield next(iter(listener.sockets)).getsockname()
