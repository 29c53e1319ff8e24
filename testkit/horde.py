"""Attackers that break a server's limits. Each connects, is cut off by the server, and reconnects after 20 ms.

slow-loris      half of the clients never finish the handshake, half never say hello
never-reading   requests listings as fast as allowed, and reads none
messages        sends invalid messages as fast as the socket accepts them
frames          sends pings, and messages in endless fragments, as fast as the socket accepts them
connections     opens as many connections as possible and keeps them
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

from testkit.bare import frame, opening

BLOCK = 50
"""Number of frames that a flood sends in one write."""
BROWSE_SECONDS = 1 / 40
"""Time between two requests for a listing, in seconds: just within the limit."""
DRIP_SECONDS = 0.1
"""Time between two bytes of a slow handshake, in seconds."""
TRIP_SECONDS = 0.02
"""Shortest time between two connections of a client, in seconds: a realistic network latency."""
numbers = itertools.count()


@dataclass
class ConnectionCounts:
    """Counts of clients that may be cut off."""

    sent: int = 0
    """Number of requests; of attackers, number of connections."""
    lost: int = 0
    """Number of connections that the server closed or refused."""
    bytes: int = 0
    """Number of bytes that the clients received; of attackers, that they sent."""
    longest: float = 0.0
    """Lifetime of the longest connection of an attacker, in seconds."""


class AttackerConnection:
    """Attacker's connection on a bare socket."""

    def __init__(self, plain: socket.socket, tally: ConnectionCounts) -> None:
        self._socket = plain
        self._tally = tally
        self._loop = asyncio.get_running_loop()

    async def say(self, data: bytes) -> None:
        """Send bytes. Raises OSError."""
        await self._loop.sock_sendall(self._socket, data)
        self._tally.bytes += len(data)

    async def hear(self) -> bytes:
        """Return the bytes that have arrived. Raises OSError, EOFError."""
        data = await self._loop.sock_recv(self._socket, 65536)
        if not data:
            raise EOFError
        return data

    async def hear_all(self) -> None:
        """Read to the end."""
        with suppress(OSError, EOFError):
            while True:
                await self.hear()

    async def enter(self, host: str, role: str = "bot") -> None:
        """Shake hands and say hello, under a new name each time. Raises OSError, EOFError."""
        await self.shake_hands(host)
        name = f"attacker {os.getpid()} {next(numbers)}"
        await self.say(message(type="hello", name=name, role=role, pool=False))

    async def shake_hands(self, host: str) -> None:
        """Perform the opening handshake. Raises OSError, EOFError."""
        await self.say(opening(host))
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += await self.hear()
        if b" 101 " not in answer.partition(b"\r\n")[0]:
            raise EOFError


def message(**content: object) -> bytes:
    """Return a message as a masked frame."""
    return frame(msgpack.packb(content))


async def loris(line: AttackerConnection, host: str) -> None:
    """Begin a handshake that never ends, or finish it and send no hello."""
    if next(numbers) % 2:
        await line.shake_hands(host)
        await line.hear_all()
        return
    for byte in itertools.chain(opening(host)[:-4], itertools.repeat(ord("a"))):
        await line.say(bytes([byte]))
        await asyncio.sleep(DRIP_SECONDS)


async def never_reading(line: AttackerConnection, host: str) -> None:
    """Request listings as a spectator, and read nothing."""
    await line.enter(host, "spectator")
    while True:
        await line.say(message(type="browse"))
        await asyncio.sleep(BROWSE_SECONDS)


async def messages(line: AttackerConnection, host: str) -> None:
    """Send small messages as fast as possible."""
    await line.enter(host)
    await flood(line, message(type="ready", match="no such match") * BLOCK)


async def frames(line: AttackerConnection, host: str) -> None:
    """Send tiny fragments or pings as fast as possible."""
    await line.enter(host)
    if next(numbers) % 2:
        await flood(line, frame(b"", 9) * BLOCK)
    await line.say(frame(b"", 2, 0))
    await flood(line, frame(b"", 0, 0) * BLOCK)


async def flood(line: AttackerConnection, block: bytes) -> None:
    """Send a block repeatedly until the server closes the connection."""
    heard = asyncio.create_task(line.hear_all())
    try:
        while not heard.done():
            await line.say(block)
    finally:
        heard.cancel()


async def connections(line: AttackerConnection, _host: str) -> None:
    """Connect and send nothing."""
    await line.hear_all()


async def guessing(line: AttackerConnection, host: str) -> None:
    """Shake hands with a guessed token."""
    await line.shake_hands(host)
    await line.say(message(type="hello", name="victim", token=f"guess {next(numbers)}"))
    await line.hear()


KINDS: dict[str, Callable[[AttackerConnection, str], Awaitable[None]]] = {
    "slow-loris": loris,
    "never-reading": never_reading,
    "messages": messages,
    "frames": frames,
    "connections": connections,
    "guessing": guessing,
}


async def attacker(kind: str, url: str, source: str, tally: ConnectionCounts) -> None:
    """Attack from an address until cancelled, and reconnect whenever the server closes the connection."""
    address, loop = urlsplit(url), asyncio.get_running_loop()
    while True:
        tally.sent += 1
        began = time.monotonic()
        with socket.socket() as plain:
            plain.setblocking(False)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.bind((source, 0))
            try:
                with suppress(OSError, EOFError):
                    await loop.sock_connect(plain, (address.hostname or "", address.port or 0))
                    await KINDS[kind](AttackerConnection(plain, tally), address.netloc)
                tally.lost += 1
            finally:
                tally.longest = max(tally.longest, time.monotonic() - began)
        await asyncio.sleep(TRIP_SECONDS)


async def attack(kind: str, url: str, source: str, clients: int, seconds: float) -> ConnectionCounts:
    """Attack with several clients for `seconds`."""
    tally = ConnectionCounts()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as tasks:
            for _ in range(clients):
                tasks.create_task(attacker(kind, url, source, tally))
    return tally
