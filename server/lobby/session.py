"""A session: one websocket connection, from its hello to its close.

One task: it parses frames, stamps them and hands them on. What the client is told is written at once, and
waits in a bounded buffer for one that reads slowly. Whatever the peer does is answered or cut off here, and
reaches rooms only as events. What the messages of a member or a watcher mean is the desk's business
(server.lobby.dispatch).
"""

from __future__ import annotations

import logging
from time import monotonic_ns

import anyio
from anyio.lowlevel import checkpoint
from websockets.exceptions import ConnectionClosed

from match.lag import Pings
from protocol.codec import DecodeError, decode_client
from protocol.codes import Code
from protocol.messages import ClientMessage, Error, Hello, ServerMessage, Start, Turn
from server.lobby.accounts import Refused
from server.lobby.dispatch import Dispatch, Visitor
from server.net.connection import GuardedConnection
from server.net.limits import HostLimits
from server.net.log import without_secrets
from server.net.wire import to_wire, write

log = logging.getLogger("arena.session")
trace = logging.getLogger("arena.wire")

OUTBOX = 128 * 1024
"""Bytes that may wait for a client that does not read; one message on top of them, and it is cut off."""
CLOSE_SECONDS = 2
"""How long the last words to a client may take."""

AT_ONCE = 200_000
"""Nanoseconds: a message that comes so soon after another was waiting already."""

ASKING = {Start, Turn}
"""Messages that ask for one."""

SHOWN_BYTES = 24
"""Of a frame that is no message: so many are told."""

FAULTY_CLOSE = {1002, 1003, 1007, 1008, 1009, 1010}
"""Close codes that this side sends for what the peer did wrong."""


class Session:
    """One connection. `run` returns when it is closed, and never raises for what the peer did."""

    def __init__(self, connection: GuardedConnection, dispatch: Dispatch, limits: HostLimits) -> None:
        self._connection = connection
        self._dispatch = dispatch
        self._limits = limits
        self._bucket = connection.bucket
        self._visitor: Visitor | None = None
        self._too_slow = False
        self._closing = False
        self._tasks = anyio.create_task_group()
        self._pings = Pings()
        self._last_ping = 0.0
        self._at_rest = False
        """Whether the task waits for a message, and all that came before is dealt with."""
        self._before = 0
        """When the last message came."""

    @property
    def lag(self) -> int:
        """The least recent ping time, in ns; 0 where none is known."""
        latest = self._connection.latency
        if latest != self._last_ping:
            self._last_ping = latest
            self._pings.add(int(latest * 1e9))
        return self._pings.least

    @property
    def backlog(self) -> int:
        """How many bytes wait to be read, beside those in the kernel's buffers."""
        return self._connection.transport.get_write_buffer_size()

    def tell(self, message: ServerMessage) -> None:
        """Write a message; a client that has too much to read is cut off, and hurts nobody else."""
        if type(message) in ASKING:
            self._bucket.allow()  # the answer: a bot in many fast matches is no flood
        if trace.isEnabledFor(logging.DEBUG):
            trace.debug("> %s %s", self._name, without_secrets(message))
        self._write(to_wire(message))

    def tell_wire(self, wire: bytes) -> None:
        """Write messages that are frames already."""
        if trace.isEnabledFor(logging.DEBUG):
            trace.debug("> %s %s", self._name, wire.hex())
        self._write(wire)

    def _write(self, wire: bytes) -> None:
        if self._closing:
            return  # the reader will say so, and the bot catches up when it returns
        if self._connection.paused and self.backlog > OUTBOX:
            self._too_slow = self._closing = True
            log.warning("too slow: %d bytes wait", self.backlog, extra={"bot": self._name})
            # One that begins to read within the time of the last words is told why.
            self._tasks.start_soon(self._hang_up, 1008, Code.TOO_SLOW.value)
            return
        write(self._connection, wire)

    @property
    def _name(self) -> str:
        return self._visitor.name if self._visitor else "?"

    async def run(self) -> None:
        """Serve the connection to its end."""
        fault: str | None = None
        async with self._tasks as tasks:
            try:
                await self._read()
            except DecodeError as error:
                fault = error.detail
                code = 1009 if error.code is Code.TOO_LARGE else 1007
                await self._close(Error(error.code, error.detail, fatal=True), code)
            except Refused as refused:
                fault = refused.detail if refused.code is Code.RATE_LIMITED else None
                await self._close(Error(refused.code, refused.detail, fatal=True), 1008)
            except ConnectionClosed as closed:
                if closed.sent is not None and closed.sent.code in FAULTY_CLOSE and not closed.rcvd_then_sent:
                    fault = closed.sent.reason or f"close code {closed.sent.code}"
            finally:
                with anyio.CancelScope(shield=True):
                    if self._visitor is not None:
                        await self._dispatch.depart(self._visitor, fault if not self._too_slow else None)
                self._closing = True
                tasks.cancel_scope.cancel()

    def dismiss(self, code: Code) -> None:
        """Close this session from the server's side: it was replaced, or the server stops."""
        if code is Code.REPLACED:
            self._visitor = None  # what still comes in is nobody's
        close_code = 1001 if code is Code.SHUTTING_DOWN else 1008
        self._tasks.start_soon(self._close, Error(code, code.meaning, fatal=True), close_code)

    async def _close(self, last: Error, code: int) -> None:
        """Say why, and close, without waiting long for a peer that does not listen."""
        self.tell(last)
        self._closing = True
        await self._hang_up(code, f"{last.code}: {last.detail}")

    async def _hang_up(self, code: int, reason: str) -> None:
        """Close; a peer that takes no close frame, because it reads nothing, finds its connection reset."""
        # A close frame has room for 123 bytes, and a detail may hold what the peer sent.
        room = reason.encode()[:120].decode(errors="ignore")
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            await self._connection.close(code, room)
            return
        self._connection.transport.abort()

    async def _read(self) -> None:
        hello = await self._hello()
        self._visitor = await self._dispatch.admit(hello, self, self._address)
        self._connection.listener = self._overhear
        while self._visitor is not None:
            try:
                self._at_rest = True
                message, at = await self._next()
            except DecodeError as error:
                if error.code is not Code.UNKNOWN_TYPE:
                    raise
                self.tell(Error(error.code, error.detail))
            else:
                await self._dispatch.handle(self._visitor, message, at)
                if at - self._before < AT_ONCE:
                    # While frames are queued `recv` does not wait, and a client that floods would have
                    # the event loop to itself.
                    await checkpoint()
                self._before = at

    def _overhear(self, frame: bytes) -> bool:
        """Deal with a message where it arrives, which saves the task's waking: 20 µs. False: it must be waked."""
        at = monotonic_ns()
        if not self._at_rest or self._closing or self._visitor is None or at - self._before < AT_ONCE:
            return False
        if trace.isEnabledFor(logging.DEBUG) or not self._bucket.take(at):
            return False
        try:
            busy = self._dispatch.take(self._visitor, decode_client(frame, self._limits.message_bytes), at)
        except DecodeError:
            pass
        else:
            if busy is None:
                self._before = at
                return True
        self._bucket.allow()  # it is taken again
        return False

    @property
    def _address(self) -> str:
        """Where the peer is, as the guard at the door found it."""
        return self._connection.client_address or "unknown"

    async def _hello(self) -> Hello:
        try:
            with anyio.move_on_after(self._limits.hello_seconds) as waiting:
                message, _ = await self._next()
        except DecodeError as error:
            if error.code is not Code.UNKNOWN_TYPE:
                raise
            raise Refused(Code.HELLO_FIRST, f"the first message must be hello; {error.detail}") from None
        if waiting.cancelled_caught:
            raise Refused(Code.HELLO_FIRST, f"no hello came within {self._limits.hello_seconds:g} s")
        if not isinstance(message, Hello):
            kind = type(message).__name__.lower()
            raise Refused(Code.HELLO_FIRST, f"the first message must be hello, not {kind}")
        return message

    async def _next(self) -> tuple[ClientMessage, int]:
        frame = await self._connection.recv()
        self._at_rest = False
        at = monotonic_ns()
        if not self._bucket.take(at):
            detail = f"more than {self._limits.messages_per_second:g} messages a second"
            raise Refused(Code.RATE_LIMITED, detail)
        try:
            message = decode_client(frame, self._limits.message_bytes)
        except DecodeError as error:
            self._dispatch.note_rejection(error.code)
            if trace.isEnabledFor(logging.DEBUG):
                # What comes before somebody is in may hold a token.
                shown = (
                    "" if self._visitor is None else frame.hex() if isinstance(frame, bytes) else repr(frame)
                )
                trace.debug("< %s %s: %s", self._name, shown[:200], error)
            if error.code is Code.BAD_MESSAGE:
                raise DecodeError(error.code, f"{error.detail}; {_shown(frame)}") from None
            raise
        if trace.isEnabledFor(logging.DEBUG):
            trace.debug("< %s %s", self._name, without_secrets(message))
        return message, at


def _shown(frame: bytes | str) -> str:
    """How a frame that is no message begins, for its author."""
    if isinstance(frame, str):
        return f"it begins {frame[:SHOWN_BYTES]!r}"
    return f"its {len(frame)} bytes begin {frame[:SHOWN_BYTES].hex(' ')}"
