"""Server's end of a connection with the bot under test. The server is scripted: checks decide what it sends."""

from __future__ import annotations

from collections import deque
from typing import Any

import anyio
import msgpack
import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from arena.clock import MONOTONIC_CLOCK
from arena.protocol.codec import DecodeError, decode_client_message
from arena.protocol.messages import ClientMessage, Hello, ServerMessage, Status, Welcome
from arena.protocol.values import ClientLimits

MAX_LOGGED_FRAMES = 8
"""Number of websocket frames that the report of a fault shows: the most recent ones."""
MAX_LOGGED_FRAME_CHARACTERS = 160
"""Maximum length of a frame's text in a report, in characters. The rest is cut off."""
WAIT_BEFORE_WELCOME_SECONDS = 0.1
"""Seconds that the scripted server waits between receiving the bot's hello and sending the welcome.

The bot must send nothing in this time.
"""


class ProtocolFault(Exception):
    """Raised when the bot violates the protocol; the message is a one-line description of the fault."""


class FrameLog:
    """Log of the last MAX_LOGGED_FRAMES frames and remarks of a check, as text."""

    def __init__(self) -> None:
        self.recent_lines: deque[str] = deque(maxlen=MAX_LOGGED_FRAMES)
        """Logged frames and remarks as text, oldest first. Cleared before each check."""

    def add_frame(self, direction: str, frame: bytes | str) -> None:
        """Add a frame. `direction` is `>` for a frame from the bot, and `<` for a frame to the bot."""
        if isinstance(frame, str):
            frame_text = f"text {frame!r}"
        else:
            try:
                frame_text = msgspec.json.encode(msgpack.unpackb(frame)).decode()
            except (ValueError, TypeError, msgpack.UnpackException, RecursionError):
                frame_text = f"hex {frame.hex(' ')}"
        self.recent_lines.append(
            f"{direction} {frame_text[:MAX_LOGGED_FRAME_CHARACTERS]}{'…' if len(frame_text) > MAX_LOGGED_FRAME_CHARACTERS else ''}"
        )

    def add_remark(self, text: str) -> None:
        """Add a remark about an event between frames, such as `the connection is cut`."""
        self.recent_lines.append(f"- {text}")


class BotConnection:
    """Connection to the bot, after the opening handshake of the websocket.

    A wait for a message raises ProtocolFault if the bot closes the connection or sends a frame that is not a message.
    """

    def __init__(self, websocket: ServerConnection, frame_log: FrameLog, patience_seconds: float) -> None:
        self.websocket = websocket
        self.frame_log = frame_log
        self.patience_seconds = patience_seconds
        """Time limit in seconds for each message that the bot must send while no chess clock runs."""

    async def send_message(self, message: ServerMessage, **extra_fields: object) -> None:
        """Send a message with `extra_fields` added: fields that the protocol does not define, which the bot must ignore."""
        await self.send_message_fields({**msgspec.to_builtins(message), **extra_fields})

    async def send_message_fields(self, message_fields: dict[str, Any]) -> None:
        """Send a dictionary as a message, even if the protocol has no such message.

        If the connection is closed, send nothing: the next wait for the bot raises ProtocolFault.
        """
        frame = msgpack.packb(message_fields)
        self.frame_log.add_frame("<", frame)
        try:
            await self.websocket.send(frame)
        except ConnectionClosed:
            self.frame_log.add_remark("the connection was already closed")

    async def receive_message(
        self, expected_message_name: str, timeout_seconds: float | None = None
    ) -> tuple[ClientMessage, float]:
        """Return the next message other than a status request, and its arrival time in monotonic seconds.

        expected_message_name: name of the message that the bot must send, such as `hello`; named in the description of a fault
        timeout_seconds: time limit; None for `patience_seconds`

        Raises ProtocolFault if no message arrives in time.
        """
        timeout_seconds = self.patience_seconds if timeout_seconds is None else timeout_seconds
        message = await self.receive_message_within(expected_message_name, timeout_seconds)
        if message is None:
            raise ProtocolFault(f"the bot must send {expected_message_name} within {timeout_seconds:g} s")
        return message

    async def receive_message_within(
        self, expected_event_name: str, timeout_seconds: float
    ) -> tuple[ClientMessage, float] | None:
        """Return the next message other than a status request, and its arrival time in monotonic seconds.

        Return None if no message arrives within `timeout_seconds`.

        expected_event_name: event that the server waits for, such as `hello` or `silence`; named in the description of a fault
        """
        deadline = MONOTONIC_CLOCK.now() + timeout_seconds
        while True:
            try:
                with anyio.move_on_after(deadline - MONOTONIC_CLOCK.now()) as scope:
                    frame = await self.websocket.recv()
            except ConnectionClosed:
                raise ProtocolFault(
                    f"the connection was closed {self._describe_close_code()} while the server waited for {expected_event_name}"
                ) from None
            if scope.cancelled_caught:
                return None
            received_at = MONOTONIC_CLOCK.now()
            self.frame_log.add_frame(">", frame)
            try:
                message = decode_client_message(frame)
            except DecodeError as error:
                raise ProtocolFault(f"a frame is not a valid message: {error.detail}") from None
            if not isinstance(message, Status):  # a bot may ask for its status after a long wait
                return message, received_at

    async def exchange_hello_and_welcome(self, session_secret: str) -> Hello:
        """Receive the bot's hello, send the welcome, and return the hello.

        session_secret: secret in the welcome, with which the bot resumes its session after a reconnection

        Raises ProtocolFault if the hello violates the protocol, or if the bot sends another message before the welcome.
        """
        hello, _ = await self.receive_message("hello")
        if not isinstance(hello, Hello):
            raise ProtocolFault(f"the first message must be hello, not {get_message_type_name(hello)}")
        if not hello.name.isprintable() or hello.name != hello.name.strip():
            raise ProtocolFault(
                f"hello.name {hello.name!r} is not a valid name: use printable characters, without a space at either end"
            )
        if hello.role != "bot":
            raise ProtocolFault(f"hello.role must be bot, not {hello.role!r}")
        early_message = await self.receive_message_within("welcome", WAIT_BEFORE_WELCOME_SECONDS)
        if early_message is not None:
            raise ProtocolFault(
                f"{get_message_type_name(early_message[0])} must not be sent before the server's welcome"
            )
        limits = ClientLimits(16_384, hello.matches, 10_000)
        await self.send_message(Welcome("arena check", hello.name, session_secret, limits))
        return hello

    def abort_connection(self) -> None:
        """Cut the connection without a closing handshake."""
        self.frame_log.add_remark("the connection is cut")
        self.websocket.transport.abort()

    def _describe_close_code(self) -> str:
        code, reason = self.websocket.close_code, self.websocket.close_reason
        return f"({code}{f', {reason}' if reason else ''})"


def get_message_type_name(message: ClientMessage) -> str:
    """Return the type of a message as the protocol writes it, such as `hello`."""
    return type(message).__name__.lower()
