"""Attackers that break a server's limits. Each attacker connects, is disconnected by the server, and reconnects after 20 ms.

slow-loris      half of the connections never finish the handshake, half never send a hello
never-reading   requests listings of matches as often as allowed, and reads none
messages        sends invalid messages as fast as the socket accepts them
frames          sends pings, and messages in endless fragments, as fast as the socket accepts them
connections     opens a connection, sends nothing, and keeps it open
guessing        tries one token after another for the name `victim`
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgpack

from testkit.websocket_bytes import make_handshake_request, make_masked_frame

FLOOD_FRAMES_PER_WRITE = 50
"""Number of websocket frames that `flood_with_messages` and `flood_with_frames` send in one write."""
MATCH_LIST_REQUEST_INTERVAL_SECONDS = 1 / 40
"""Seconds between two requests for the list of matches: just long enough to stay within the server's rate limit for messages."""
SLOW_HANDSHAKE_BYTE_INTERVAL_SECONDS = 0.1
"""Seconds between two bytes of a slow handshake."""
RECONNECT_PAUSE_SECONDS = 0.02
"""Seconds from the end of an attacker's connection to its next one: about the time in which a network opens a real
connection.
"""
attacker_number_counter = itertools.count()
"""Counter that numbers the attackers' connections. The numbers are parts of attackers' names and of guessed tokens.

An attack with two forms, such as `slow-loris`, uses one form for odd numbers and the other form for even numbers.
"""


@dataclass
class ConnectionCounts:
    """Traffic counts of attackers, or of other clients (`benchmarks.hostile`), that the server may disconnect."""

    request_count: int = 0
    """Number of attempts to connect, for attackers; number of requests, for other clients."""
    lost_connection_count: int = 0
    """Number of connections that the server closed or refused."""
    longest_connection_seconds: float = 0.0
    """Duration of the longest connection of an attacker, in seconds."""


class AttackerConnection:
    """TCP connection of an attacker, without a websocket library."""

    def __init__(self, raw_socket: socket.socket) -> None:
        self._socket = raw_socket
        self._loop = asyncio.get_running_loop()

    async def send(self, data: bytes) -> None:
        """Send bytes, and wait while the socket's buffer is full. Raises OSError if the connection is lost."""
        await self._loop.sock_sendall(self._socket, data)

    async def receive_available(self) -> bytes:
        """Wait for bytes to arrive, and return them. Raises OSError or EOFError if the connection is lost or closed."""
        data = await self._loop.sock_recv(self._socket, 65536)
        if not data:
            raise EOFError
        return data

    async def discard_data_until_closed(self) -> None:
        """Read and discard data until the server closes the connection."""
        with suppress(OSError, EOFError):
            while True:
                await self.receive_available()

    async def perform_handshake_and_send_hello(self, host_header: str, role: str = "bot") -> None:
        """Perform the websocket handshake, and send a hello (first message of the protocol) with a new name each time.

        role: role in the hello, `bot` or `spectator`

        Raises OSError or EOFError on failure.
        """
        await self.perform_handshake(host_header)
        name = f"attacker {os.getpid()} {next(attacker_number_counter)}"
        await self.send(make_message_frame(type="hello", name=name, role=role, pool=False))

    async def perform_handshake(self, host_header: str) -> None:
        """Perform the websocket handshake. Raises EOFError if the server refuses it, OSError if the connection is lost."""
        await self.send(make_handshake_request(host_header))
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += await self.receive_available()
        if b" 101 " not in answer.partition(b"\r\n")[0]:
            raise EOFError


def make_message_frame(**message_fields: object) -> bytes:
    """Return a message with these fields as a masked websocket frame."""
    return make_masked_frame(msgpack.packb(message_fields))


async def attack_by_slow_loris(connection: AttackerConnection, host_header: str) -> None:
    """Begin a websocket handshake that never ends, or, in every second call, finish the handshake and send no hello."""
    if next(attacker_number_counter) % 2:
        await connection.perform_handshake(host_header)
        await connection.discard_data_until_closed()
        return
    for byte in itertools.chain(make_handshake_request(host_header)[:-4], itertools.repeat(ord("a"))):
        await connection.send(bytes([byte]))
        await asyncio.sleep(SLOW_HANDSHAKE_BYTE_INTERVAL_SECONDS)


async def attack_by_never_reading(connection: AttackerConnection, host_header: str) -> None:
    """Request listings of matches as a spectator, and read nothing after the handshake."""
    await connection.perform_handshake_and_send_hello(host_header, "spectator")
    while True:
        await connection.send(make_message_frame(type="browse"))
        await asyncio.sleep(MATCH_LIST_REQUEST_INTERVAL_SECONDS)


async def flood_with_messages(connection: AttackerConnection, host_header: str) -> None:
    """Send small messages about a match that does not exist, as fast as possible."""
    await connection.perform_handshake_and_send_hello(host_header)
    await send_repeatedly(
        connection, make_message_frame(type="ready", match="no such match") * FLOOD_FRAMES_PER_WRITE
    )


async def flood_with_frames(connection: AttackerConnection, host_header: str) -> None:
    """Send empty fragments of an endless message as fast as possible, or, in every second call, pings."""
    await connection.perform_handshake_and_send_hello(host_header)
    if next(attacker_number_counter) % 2:
        await send_repeatedly(connection, make_masked_frame(b"", 9) * FLOOD_FRAMES_PER_WRITE)
    await connection.send(make_masked_frame(b"", 2, 0))
    await send_repeatedly(connection, make_masked_frame(b"", 0, 0) * FLOOD_FRAMES_PER_WRITE)


async def send_repeatedly(connection: AttackerConnection, data: bytes) -> None:
    """Send the bytes of `data` again and again until the server closes the connection."""
    reading_task = asyncio.create_task(connection.discard_data_until_closed())
    try:
        while not reading_task.done():
            await connection.send(data)
    finally:
        reading_task.cancel()


async def flood_with_connections(connection: AttackerConnection, _host_header: str) -> None:
    """Send nothing on the open TCP connection, and wait until the server closes it."""
    await connection.discard_data_until_closed()


async def guess_tokens(connection: AttackerConnection, host_header: str) -> None:
    """Perform the websocket handshake, send a hello with a guessed token, and wait for the answer."""
    await connection.perform_handshake(host_header)
    await connection.send(
        make_message_frame(type="hello", name="victim", token=f"guess {next(attacker_number_counter)}")
    )
    await connection.receive_available()


# The module's docstring describes each kind of attack.
ATTACK_BY_KIND: dict[str, Callable[[AttackerConnection, str], Awaitable[None]]] = {
    "slow-loris": attack_by_slow_loris,
    "never-reading": attack_by_never_reading,
    "messages": flood_with_messages,
    "frames": flood_with_frames,
    "connections": flood_with_connections,
    "guessing": guess_tokens,
}


async def run_attacker(attack_kind: str, url: str, source_address: str, counts: ConnectionCounts) -> None:
    """Attack until cancelled, and reconnect whenever the server closes the connection.

    attack_kind: name in ATTACK_BY_KIND
    url: URL of the server
    source_address: local address to connect from
    counts: counts to which the attacker's connections are added
    """
    address, loop = urlsplit(url), asyncio.get_running_loop()
    while True:
        counts.request_count += 1
        start_time = time.monotonic()
        with socket.socket() as raw_socket:
            raw_socket.setblocking(False)
            raw_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw_socket.bind((source_address, 0))
            try:
                with suppress(OSError, EOFError):
                    await loop.sock_connect(raw_socket, (address.hostname or "", address.port or 0))
                    await ATTACK_BY_KIND[attack_kind](AttackerConnection(raw_socket), address.netloc)
                counts.lost_connection_count += 1
            finally:
                counts.longest_connection_seconds = max(
                    counts.longest_connection_seconds, time.monotonic() - start_time
                )
        await asyncio.sleep(RECONNECT_PAUSE_SECONDS)


async def run_attackers(
    attack_kind: str, url: str, source_address: str, client_count: int, duration_seconds: float
) -> ConnectionCounts:
    """Attack a server with `client_count` parallel attackers for `duration_seconds`, and return counts of their connections.

    attack_kind: name in ATTACK_BY_KIND
    url: URL of the server
    source_address: local address to connect from
    """
    counts = ConnectionCounts()
    with suppress(TimeoutError):
        async with asyncio.timeout(duration_seconds), asyncio.TaskGroup() as tasks:
            for _ in range(client_count):
                tasks.create_task(run_attacker(attack_kind, url, source_address, counts))
    return counts
