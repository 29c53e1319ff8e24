"""Plain server for the control rounds, which answers each request and each message with a given number of bytes.

The server does nothing else. So when strangers send to it instead of the arena, they cost honest bots only the CPU time
of the strangers' own process and of the kernel.
"""

from __future__ import annotations

import asyncio
import os
from typing import cast

import msgpack
import uvloop
from websockets.frames import Frame, Opcode

from testkit.wire import print_report

WELCOME = {"type": "welcome", "session": ""}


def _make_frame(payload: bytes) -> bytes:
    return Frame(Opcode.BINARY, payload).serialize(mask=False)


class PlainConnection(asyncio.Protocol):
    """Connection: a plain request for `/SIZE`, or a websocket at `/SIZE`.

    Its first message is answered with a welcome.
    """

    def __init__(self) -> None:
        self._head = b""
        self._answer = b""
        """Answer to a message; empty before the websocket is open."""
        self._is_welcome = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._answer:
            self._transport.write(self._answer if self._is_welcome else _make_frame(msgpack.packb(WELCOME)))
            self._is_welcome = True
            return
        self._head += data
        if b"\r\n\r\n" not in self._head:
            return
        size = int(self._head.split(b" ", 2)[1][1:] or b"1")
        if b"Upgrade: websocket" in self._head:
            self._answer = _make_frame(msgpack.packb({"type": "pong", "filler": "x" * size}))
            self._transport.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        else:
            self._transport.write(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * size)
            self._transport.close()


async def main() -> None:
    """Print the port, and serve until killed."""
    server = await asyncio.get_running_loop().create_server(PlainConnection, "127.0.0.1", 0)
    print_report(port=server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


if __name__ == "__main__":
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    uvloop.run(main())
