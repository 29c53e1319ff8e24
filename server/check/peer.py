"""One connection of the bot under test, as the scripted server sees it: what was said, and what is awaited."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import anyio
import msgpack
import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from arena.protocol.codec import DecodeError, decode_client
from arena.protocol.messages import ClientMessage, Hello, ServerMessage, Status, Welcome
from arena.protocol.values import Limits

FRAMES_KEPT = 8
"""How many of the last frames are shown with a fault."""
SHOWN = 160
"""Characters of a frame that are shown."""
HELLO_ALONE_SECONDS = 0.1
"""How long the welcome is held back, to see whether the bot waits for it."""


class Fault(Exception):
    """The bot did what the protocol forbids, or did not do what it asks for; one line."""


class Frames:
    """The last frames of a check, both ways, as text."""

    def __init__(self) -> None:
        self._kept: deque[str] = deque(maxlen=FRAMES_KEPT)

    def add(self, arrow: str, frame: bytes | str) -> None:
        """Keep a frame: `<` from the bot, `>` to it."""
        if isinstance(frame, str):
            text = f"text {frame!r}"
        else:
            try:
                text = msgspec.json.encode(msgpack.unpackb(frame)).decode()
            except (ValueError, TypeError, msgpack.UnpackException, RecursionError):
                text = f"hex {frame.hex(' ')}"
        self._kept.append(f"{arrow} {text[:SHOWN]}{'…' if len(text) > SHOWN else ''}")

    def note(self, text: str) -> None:
        """Keep what happened beside the frames."""
        self._kept.append(f"- {text}")

    def clear(self) -> None:
        """Forget all frames, because the next check begins."""
        self._kept.clear()

    def lines(self) -> list[str]:
        """The last frames, oldest first."""
        return list(self._kept)


class Peer:
    """A connection past its opening handshake. All waits end in a message or a Fault."""

    def __init__(self, connection: ServerConnection, frames: Frames, patience: float) -> None:
        self.connection = connection
        self.frames = frames
        self.patience = patience

    async def say(self, message: ServerMessage, **unknown: object) -> None:
        """Send a message, with fields added that no client knows."""
        await self.say_data({**msgspec.to_builtins(message), **unknown})

    async def say_data(self, message: dict[str, Any]) -> None:
        """Send a map. It goes nowhere where the connection is gone, which the next wait for the bot finds out."""
        frame = msgpack.packb(message)
        self.frames.add(">", frame)
        try:
            await self.connection.send(frame)
        except ConnectionClosed:
            self.frames.note("the connection was closed already")

    async def hear(self, awaited: str, seconds: float | None = None) -> tuple[ClientMessage, float]:
        """The next message, and when it came (monotonic seconds). Raises Fault."""
        heard = await self.hear_within(awaited, self.patience if seconds is None else seconds)
        if heard is None:
            raise Fault(f"no {awaited} came within {self.patience if seconds is None else seconds:g} s")
        return heard

    async def hear_within(self, awaited: str, seconds: float) -> tuple[ClientMessage, float] | None:
        """The next message that is about a match, or None when none came in time. Raises Fault."""
        end = time.monotonic() + seconds
        while True:
            try:
                with anyio.move_on_after(end - time.monotonic()) as scope:
                    frame = await self.connection.recv()
            except ConnectionClosed:
                raise Fault(
                    f"the connection was closed {self._closed()} where {awaited} was awaited"
                ) from None
            if scope.cancelled_caught:
                return None
            at = time.monotonic()
            self.frames.add("<", frame)
            try:
                message = decode_client(frame)
            except DecodeError as error:
                raise Fault(f"a frame is no message: {error.detail}") from None
            if not isinstance(message, Status):  # a bot that has waited for long may ask why
                return message, at

    async def welcome(self, session: str) -> Hello:
        """Take the bot's hello and let it in. Raises Fault."""
        hello, _ = await self.hear("hello")
        if not isinstance(hello, Hello):
            raise Fault(f"the first message is {_kind(hello)}, not hello")
        if not hello.name.isprintable() or hello.name != hello.name.strip():
            raise Fault(f"hello.name {hello.name!r} is no name: printed characters, no blank at either end")
        if hello.role != "bot":
            raise Fault(f"hello.role is {hello.role!r}: only a bot plays")
        early = await self.hear_within("welcome", HELLO_ALONE_SECONDS)
        if early is not None:
            raise Fault(f"{_kind(early[0])} came before the welcome")
        limits = Limits(16_384, hello.matches, 10_000)
        await self.say(Welcome("arena check", hello.name, session, limits))
        return hello

    def drop(self) -> None:
        """Cut the connection without a word."""
        self.frames.note("the connection is cut")
        self.connection.transport.abort()

    def _closed(self) -> str:
        code, reason = self.connection.close_code, self.connection.close_reason
        return f"({code}{f', {reason}' if reason else ''})"


def _kind(message: ClientMessage) -> str:
    return type(message).__name__.lower()
