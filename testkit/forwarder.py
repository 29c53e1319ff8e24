"""A bad line between two hosts: hands on bytes from one socket to another, and spoils it when it is told to.

python -m testkit.forwarder HOST PORT TO_HOST TO_PORT

A path as TO_HOST is a socket of this machine's own, whatever TO_PORT says, and 0 as PORT is any free one.
It prints the port once it listens, and a line after each order, with the number of connections that it was for. Orders come as lines of standard input:

delay SECONDS SPREAD   each piece of data comes so much later, give or take; the order of a connection stays
drop SHARE RETRY       this share of the pieces is lost on the way, and sent again after RETRY seconds, as by TCP
reset                  every connection is reset, at both ends
vanish                 every connection is reset at the client's end and stays open, silent, at the server's
freeze                 no byte of the connections that are there passes any more, either way, and nobody is told
cut                    no byte of any connection passes, also of those to come, and nobody is told
mend                   after a cut: everything passes again, what was sent meanwhile first
listen                 note from now on over which connections a byte of the server's reaches its client
silent                 for those over which none has since
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import sys
from dataclasses import dataclass, field
from typing import Any

import uvloop

AT_ONCE = 65536
WAITING = 64
"""Pieces of a connection that may be on their way: then the sender waits."""


@dataclass
class Line:
    """How bad it is now."""

    delay: float = 0.0
    spread: float = 0.0
    lost: float = 0.0
    retry: float = 0.2
    pairs: set[Pair] = field(default_factory=set)
    whole: asyncio.Event = field(default_factory=asyncio.Event)
    """Not set while it is cut."""

    def seconds(self) -> float:
        """How long one piece is on its way."""
        late = max(0.0, self.delay + random.uniform(-self.spread, self.spread))
        while random.random() < self.lost:
            late += self.retry
        return late


@dataclass(eq=False)
class Pair:
    """A connection from a client, and the one that stands for it at the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    passes: bool = True
    heard: bool = False
    """Whether the client was handed anything of the server's since that is noted."""

    async def carry(self, line: Line, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Hand on what comes from one end until it ends, and its end too."""
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(WAITING)
        loop = asyncio.get_running_loop()

        async def deliver() -> None:
            while True:
                due, data = await under_way.get()
                await asyncio.sleep(due - loop.time())
                await line.whole.wait()
                if self.passes and data:
                    self.heard = self.heard or sink is self.client
                    sink.write(data)
                    await sink.drain()
                elif not data:
                    if self.passes:
                        sink.close()
                    return

        delivery = asyncio.create_task(deliver())
        due = 0.0
        try:
            while True:
                data = await source.read(AT_ONCE)
                due = max(due, loop.time() + line.seconds())
                await under_way.put((due, data))
                if not data:
                    break
            await delivery
        except OSError:
            if self.passes:
                reset(sink)
        finally:
            delivery.cancel()


def reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection so that its peer is told of a reset."""
    plain: socket.socket | None = writer.get_extra_info("socket")
    if plain is not None and plain.fileno() >= 0:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def forward(host: str, port: int, to_host: str, to_port: int) -> None:
    """Run until killed, or until standard input ends."""
    line = Line()
    line.whole.set()

    # The event loop itself holds no task that waits for a line to be mended.
    under_way: set[asyncio.Task[Any] | None] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        under_way.add(asyncio.current_task())
        try:
            await carry(reader, writer)
        finally:
            under_way.discard(asyncio.current_task())

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if to_host.startswith("/"):
                far_reader, far_writer = await asyncio.open_unix_connection(to_host)
            else:
                far_reader, far_writer = await asyncio.open_connection(to_host, to_port)
        except OSError:
            reset(writer)
            return
        pair = Pair(writer, far_writer)
        line.pairs.add(pair)
        try:
            await asyncio.gather(
                pair.carry(line, reader, far_writer),
                pair.carry(line, far_reader, writer),
                return_exceptions=True,
            )
        finally:
            line.pairs.discard(pair)

    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
    )
    async with await asyncio.start_server(accept, host, port, backlog=1024) as server:
        say(str(server.sockets[0].getsockname()[1]))
        while order := (await orders.readline()).decode().split():
            say(f"{obey(line, order)} connections")


def obey(line: Line, order: list[str]) -> int:
    """Spoil the line, or look at it, as ordered; for how many connections that was."""
    passing = [pair for pair in line.pairs if pair.passes]
    match order:
        case ["listen"]:
            for pair in passing:
                pair.heard = False
        case ["silent"]:
            return sum(not pair.heard for pair in passing)
        case ["cut"]:
            line.whole.clear()
        case ["mend"]:
            line.whole.set()
        case ["delay", seconds, spread]:
            line.delay, line.spread = float(seconds), float(spread)
        case ["drop", share, retry]:
            line.lost, line.retry = float(share), float(retry)
        case ["reset" | "vanish" | "freeze" as what]:
            for pair in line.pairs:
                pair.passes = False
                if what != "freeze":
                    reset(pair.client)
                if what == "reset":
                    reset(pair.server)
        case _:
            raise ValueError(f"no order is {order}")
    return len(passing)


def say(text: str) -> None:
    """Tell whoever gives the orders."""
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    uvloop.run(forward(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
