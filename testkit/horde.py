"""Attackers of one kind, many in one process: KIND URL FROM CLIENTS SECONDS.

It prints a line when it is there, and begins with a line of its standard input. Each client comes from the
address FROM, is cut off by the server, and comes back as soon as a line of 20 ms lets it, until the time
is over. It then prints what came of it: how many connections were tried, how many of them the server cut off, how
many were left at the end, how long the longest of all lasted, and how many bytes were sent.

slow-loris      half of them finish no handshake, half of them never say hello
never-reading   asks for listings as fast as it may, and reads none
messages        sends messages that mean nothing here as fast as the socket takes them
frames          the same with pings, and with messages in endless fragments
connections     opens connections and keeps them, all that it gets
guessing        tries one token after another for the name `victim`
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

import msgpack
import uvloop

from testkit.bare import frame, opening
from testkit.wire import report

BLOCK = 50
"""Frames that a flood sends in one go."""
BROWSE_SECONDS = 1 / 40
"""From one listing that is asked for to the next: just within what a client may ask."""
DRIP_SECONDS = 0.1
"""From one byte of a slow handshake to the next."""
TRIP_SECONDS = 0.02
"""The least time from one connection of a client to its next: no stranger is nearer."""
numbers = itertools.count()


@dataclass
class Tally:
    """What came of the attack so far."""

    tried: int = 0
    cut: int = 0
    left: int = 0
    longest: float = 0.0
    """Seconds, from the connection to its end."""
    bytes: int = 0


class Line:
    """One attacker's connection, on a bare socket."""

    def __init__(self, plain: socket.socket, tally: Tally) -> None:
        self._socket = plain
        self._tally = tally
        self._loop = asyncio.get_running_loop()

    async def say(self, data: bytes) -> None:
        """Send bytes. Raises OSError."""
        await self._loop.sock_sendall(self._socket, data)
        self._tally.bytes += len(data)

    async def hear(self) -> bytes:
        """What has come. Raises OSError, EOFError."""
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
        """Shake hands and say hello, as somebody new each time. Raises OSError, EOFError."""
        await self.shake_hands(host)
        name = f"attacker {os.getpid()} {next(numbers)}"
        await self.say(message(type="hello", name=name, role=role, pool=False))

    async def shake_hands(self, host: str) -> None:
        """The opening handshake. Raises OSError, EOFError."""
        await self.say(opening(host))
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += await self.hear()
        if b" 101 " not in answer.partition(b"\r\n")[0]:
            raise EOFError


def message(**content: object) -> bytes:
    """A message as a masked frame."""
    return frame(msgpack.packb(content))


async def loris(line: Line, host: str) -> None:
    """Half of them begin a handshake that never ends, the others say no hello."""
    if next(numbers) % 2:
        await line.shake_hands(host)
        await line.hear_all()
        return
    for byte in itertools.chain(opening(host)[:-4], itertools.repeat(ord("a"))):
        await line.say(bytes([byte]))
        await asyncio.sleep(DRIP_SECONDS)


async def never_reading(line: Line, host: str) -> None:
    """A spectator that reads nothing."""
    await line.enter(host, "spectator")
    while True:
        await line.say(message(type="browse"))
        await asyncio.sleep(BROWSE_SECONDS)


async def messages(line: Line, host: str) -> None:
    """Small messages, as fast as they go."""
    await line.enter(host)
    await flood(line, message(type="ready", match="no such match") * BLOCK)


async def frames(line: Line, host: str) -> None:
    """Half of them send tiny fragments, the others pings, as fast as they go."""
    await line.enter(host)
    if next(numbers) % 2:
        await flood(line, frame(b"", 9) * BLOCK)
    await line.say(frame(b"", 2, 0))
    await flood(line, frame(b"", 0, 0) * BLOCK)


async def flood(line: Line, block: bytes) -> None:
    """Send a block again and again until the server closes the connection."""
    heard = asyncio.create_task(line.hear_all())
    try:
        while not heard.done():
            await line.say(block)
    finally:
        heard.cancel()


async def connections(line: Line, _host: str) -> None:
    """A connection that says nothing."""
    await line.hear_all()


async def guessing(line: Line, host: str) -> None:
    """A handshake with a token that is guessed."""
    await line.shake_hands(host)
    await line.say(message(type="hello", name="victim", token=f"guess {next(numbers)}"))
    await line.hear()


KINDS: dict[str, Callable[[Line, str], Awaitable[None]]] = {
    "slow-loris": loris,
    "never-reading": never_reading,
    "messages": messages,
    "frames": frames,
    "connections": connections,
    "guessing": guessing,
}


async def attack(kind: str, url: str, source: str, clients: int, seconds: float) -> Tally:
    """Let the clients come, be cut off and come back, for so long."""
    address, tally, end = urlsplit(url), Tally(), time.monotonic() + seconds

    async def one() -> None:
        loop = asyncio.get_running_loop()
        while (now := time.monotonic()) < end:
            tally.tried += 1
            with socket.socket() as plain:
                plain.setblocking(False)
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                plain.bind((source, 0))
                try:
                    async with asyncio.timeout(end - now):
                        await loop.sock_connect(plain, (address.hostname or "", address.port or 0))
                        await KINDS[kind](Line(plain, tally), address.netloc)
                except TimeoutError:
                    tally.left += 1
                except (OSError, EOFError):
                    tally.cut += 1
                else:
                    tally.cut += 1
            tally.longest = max(tally.longest, time.monotonic() - now)
            await asyncio.sleep(TRIP_SECONDS)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(clients):
            tasks.create_task(one())
    return tally


if __name__ == "__main__":
    kind, url, source, clients, seconds = sys.argv[1:]
    report(kind=kind)
    sys.stdin.readline()
    report(kind=kind, **asdict(uvloop.run(attack(kind, url, source, int(clients), float(seconds)))))
