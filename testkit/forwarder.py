"""Faulty line between clients and a server: a TCP forwarder that delays, drops, resets or freezes data on request.

python -m testkit.forwarder HOST PORT TO_HOST TO_PORT

The program listens on HOST and PORT, and forwards each connection to TO_HOST and TO_PORT. If TO_HOST is a path, it is a
Unix socket, and TO_PORT is ignored. PORT 0 means any free port. The program prints its port once it listens. It reads
orders from standard input, one per line, and prints the number of affected connections after each order:

delay SECONDS SPREAD   delay each piece of data by SECONDS ± SPREAD; the order within a connection stays
drop SHARE RETRY       lose this share of the pieces (0 to 1), and resend each after RETRY seconds, as TCP does
reset                  reset every connection at both ends
vanish                 reset every connection at the client's end, and keep it open and silent at the server's end
freeze                 stop all data of current connections in both directions for good, without notice
cut                    stop all data of current and future connections, without notice
mend                   after a cut, deliver the data that was held up, and let everything pass again
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

READ_BYTES = 65536
MAX_QUEUED = 64
"""Maximum number of pieces of data in transit in one direction of a connection. At this limit, the sender waits."""


@dataclass
class LineFaults:
    """Faults that the forwarder currently applies, and its connections (`pairs`).

    Times are in seconds. `loss_share` is the share of lost pieces, 0 to 1.
    """

    delay: float = 0.0
    spread: float = 0.0
    loss_share: float = 0.0
    retry: float = 0.2
    pairs: set[ForwardedConnection] = field(default_factory=set)
    passes: asyncio.Event = field(default_factory=asyncio.Event)
    """Event that is set while data may pass, which means that the line is not cut."""

    def draw_delay(self) -> float:
        """Return a random delay for the next piece of data, in seconds, including the time to resend lost copies."""
        late = max(0.0, self.delay + random.uniform(-self.spread, self.spread))
        while random.random() < self.loss_share:
            late += self.retry
        return late


@dataclass(eq=False)
class ForwardedConnection:
    """Connection from a client, and the corresponding connection to the server.

    passes: False after a reset, vanish or freeze, so that no more data is forwarded
    """

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    passes: bool = True

    async def forward(
        self, faults: LineFaults, source: asyncio.StreamReader, destination: asyncio.StreamWriter
    ) -> None:
        """Forward data in one direction, from `source` to `destination`, until the source closes. Then close the destination."""
        delayed_data: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(MAX_QUEUED)
        loop = asyncio.get_running_loop()

        async def deliver_delayed() -> None:
            while True:
                due, data = await delayed_data.get()
                await asyncio.sleep(due - loop.time())
                await faults.passes.wait()
                if self.passes and data:
                    destination.write(data)
                    await destination.drain()
                elif not data:
                    if self.passes:
                        destination.close()
                    return

        delivery = asyncio.create_task(deliver_delayed())
        due = 0.0
        try:
            while True:
                data = await source.read(READ_BYTES)
                due = max(due, loop.time() + faults.draw_delay())
                await delayed_data.put((due, data))
                if not data:
                    break
            await delivery
        except OSError:
            if self.passes:
                reset_connection(destination)
        finally:
            delivery.cancel()


def reset_connection(writer: asyncio.StreamWriter) -> None:
    """Close a connection at once with a TCP reset, which drops data that was not sent."""
    plain: socket.socket | None = writer.get_extra_info("socket")
    if plain is not None and plain.fileno() >= 0:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def run_forwarder(host: str, port: int, to_host: str, to_port: int) -> None:
    """Forward connections and carry out orders until killed, or until standard input ends."""
    faults = LineFaults()
    faults.passes.set()

    # The event loop holds only weak references to tasks, which could vanish while they wait for the end of a cut.
    tasks: set[asyncio.Task[Any] | None] = set()

    async def handle_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        try:
            await forward_connection(reader, writer)
        finally:
            tasks.discard(asyncio.current_task())

    async def forward_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if to_host.startswith("/"):
                server_reader, server_writer = await asyncio.open_unix_connection(to_host)
            else:
                server_reader, server_writer = await asyncio.open_connection(to_host, to_port)
        except OSError:
            reset_connection(writer)
            return
        pair = ForwardedConnection(writer, server_writer)
        faults.pairs.add(pair)
        try:
            await asyncio.gather(
                pair.forward(faults, reader, server_writer),
                pair.forward(faults, server_reader, writer),
                return_exceptions=True,
            )
        finally:
            faults.pairs.discard(pair)

    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
    )
    async with await asyncio.start_server(handle_connection, host, port, backlog=1024) as server:
        print_line(str(server.sockets[0].getsockname()[1]))
        while order := (await orders.readline()).decode().split():
            print_line(f"{execute_order(faults, order)} connections")


def execute_order(faults: LineFaults, order: list[str]) -> int:
    """Carry out an order, given as its words. Return the number of affected connections.

    Raises ValueError if there is no such order.
    """
    passing = [pair for pair in faults.pairs if pair.passes]
    match order:
        case ["cut"]:
            faults.passes.clear()
        case ["mend"]:
            faults.passes.set()
        case ["delay", seconds, spread]:
            faults.delay, faults.spread = float(seconds), float(spread)
        case ["drop", share, retry]:
            faults.loss_share, faults.retry = float(share), float(retry)
        case ["reset" | "vanish" | "freeze" as fault]:
            for pair in faults.pairs:
                pair.passes = False
                if fault != "freeze":
                    reset_connection(pair.client)
                if fault == "reset":
                    reset_connection(pair.server)
        case _:
            raise ValueError(f"unknown order {order}: the docstring of testkit.forwarder lists the orders")
    return len(passing)


def print_line(text: str) -> None:
    """Print a line, and flush it at once."""
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    uvloop.run(run_forwarder(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
