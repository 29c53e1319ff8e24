"""TCP forwarder to a server on this machine, which on request holds data back or breaks connections, as a bad network does.

python -m testkit.forwarder TARGET

TARGET is a port of this machine, or the path of a Unix socket. The program prints its own port once it listens. Then the
program reads commands from standard input, one per line. After each command, it prints the number of affected connections.
The commands are:

cut      hold back all data of current and future connections, without closing them
mend     after a cut, deliver the data that was held up, and let everything pass again
vanish   reset every connection at the client's end, and keep it open and silent at the server's end
"""

from __future__ import annotations

import asyncio
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

PROJECT_FOLDER = Path(__file__).parents[1]
LOOPBACK_ADDRESS = "127.0.0.1"
MAX_READ_BYTES = 65536
"""Maximum number of bytes that are read and forwarded at a time."""


class ForwarderProcess:
    """Running forwarder. A connection to its `port` leads to the target, and can be disturbed by commands."""

    def __init__(self, target: int | Path) -> None:
        """Start a forwarder to a local port or a Unix socket, and wait until it listens.

        Raises RuntimeError if the forwarder ends before it listens.
        """
        command = [sys.executable, "-m", "testkit.forwarder", str(target)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=PROJECT_FOLDER
        )
        response = self._read_response()
        if not response:
            self.close()
            raise RuntimeError("the forwarder ended before it listened")
        self.port = int(response)

    def send_command(self, command: str) -> int:
        """Send a command that the module's docstring describes, and return the number of affected connections."""
        if self._process.stdin is None:
            raise RuntimeError(
                "the forwarder was started without a pipe for its commands: start it with stdin=PIPE"
            )
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        return int(self._read_response())

    def close(self) -> None:
        """Kill the forwarder, which closes its connections."""
        self._process.kill()
        self._process.communicate()

    def _read_response(self) -> str:
        if self._process.stdout is None:
            raise RuntimeError("the forwarder was started without a pipe for its responses")
        return self._process.stdout.readline().strip()


@dataclass
class Forwarder:
    """TCP forwarder to a port of this machine, or to the Unix socket at a path.

    data_may_pass: event that is set while data may pass, and cleared by the command `cut`
    client_writers: clients' ends of the open connections, except those that the command `vanish` has reset
    """

    target: str
    data_may_pass: asyncio.Event = field(default_factory=asyncio.Event)
    client_writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def forward_connection(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        """Connect to the target, and forward data in both directions until both ends are closed."""
        try:
            if self.target.isdigit():
                server_reader, server = await asyncio.open_connection(LOOPBACK_ADDRESS, int(self.target))
            else:
                server_reader, server = await asyncio.open_unix_connection(self.target)
        except OSError:
            reset_connection(client)
            return
        self.client_writers.add(client)
        try:
            await asyncio.gather(
                self._forward_data(client, reader, server), self._forward_data(client, server_reader, client)
            )
        finally:
            self.client_writers.discard(client)

    async def _forward_data(
        self, client: asyncio.StreamWriter, source: asyncio.StreamReader, destination: asyncio.StreamWriter
    ) -> None:
        """Forward data in one direction of a client's connection until the source closes. Then close the destination."""
        try:
            while data := await source.read(MAX_READ_BYTES):
                await self.data_may_pass.wait()
                if client in self.client_writers:
                    destination.write(data)
                    await destination.drain()
            await self.data_may_pass.wait()
            if client in self.client_writers:
                destination.close()
        except OSError:
            if client in self.client_writers:
                reset_connection(destination)

    def execute_command(self, command: str) -> None:
        """Carry out the command `cut`, `mend` or `vanish`. Raises ValueError for any other command."""
        match command:
            case "cut":
                self.data_may_pass.clear()
            case "mend":
                self.data_may_pass.set()
            case "vanish":
                for client in self.client_writers:
                    reset_connection(client)
                self.client_writers.clear()
            case _:
                raise ValueError(
                    f"unknown command {command}: the docstring of testkit.forwarder lists the commands"
                )


def reset_connection(writer: asyncio.StreamWriter) -> None:
    """Close a connection at once with a TCP reset, which drops data that was not sent."""
    raw_socket: socket.socket | None = writer.get_extra_info("socket")
    if raw_socket is not None and raw_socket.fileno() >= 0:
        raw_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def run_forwarder(target: str) -> None:
    """Listen on a free port, and forward each connection to the target, until killed or until standard input ends.

    Standard input has commands that disturb the connections (`cut`, `mend` and `vanish`; the module's docstring explains
    them). The port, and the answer to each command, go to standard output.

    target: number of a port of this machine, or path of a Unix socket
    """
    forwarder = Forwarder(target)
    forwarder.data_may_pass.set()
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), sys.stdin
    )
    tasks: set[asyncio.Task[None]] = set()  # the event loop holds only weak references to tasks

    def accept_connection(reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(forwarder.forward_connection(reader, client)))

    async with await asyncio.start_server(accept_connection, LOOPBACK_ADDRESS, 0, backlog=1024) as server:
        print_response_number(server.sockets[0].getsockname()[1])
        while command := (await commands.readline()).decode().strip():
            affected_count = len(forwarder.client_writers)
            forwarder.execute_command(command)
            print_response_number(affected_count)


def print_response_number(number: int) -> None:
    """Print a number on a line of its own, and flush it at once."""
    print(number, flush=True)  # noqa: T201


if __name__ == "__main__":
    uvloop.run(run_forwarder(sys.argv[1]))
