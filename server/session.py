"""A session: one websocket connection of one bot, from its hello to its close.

Two tasks: the reader parses frames, stamps them and posts events to rooms; the writer empties a
bounded outbox. Whatever the peer does is answered or cut off here, and reaches rooms only as events.
"""

from __future__ import annotations

import logging
from time import monotonic_ns

import anyio
from anyio.lowlevel import checkpoint
from msgspec import UNSET
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from protocol.codec import DecodeError, decode_client, encode
from protocol.codes import Code
from protocol.messages import ClientMessage, Error, Hello, Limits, Move, Ready, Resign, ServerMessage, Welcome
from server.accounts import Refused
from server.events import BrokeProtocol, Event, Gone, GotReady, Left, Moved, Resigned, Returned
from server.lobby import Lobby
from server.member import Member

log = logging.getLogger("arena.session")

OUTBOX = 256
"""Messages that may wait for a client that does not read; one more, and it is cut off."""
HELLO_SECONDS = 10
"""How long a connection may take to say hello."""
CLOSE_SECONDS = 2
"""How long the last words to a client may take."""

FAULTY_CLOSE = {1002, 1003, 1007, 1008, 1009, 1010}
"""Close codes that this side sends for what the peer did wrong."""


class Session:
    """One connection. `run` returns when it is closed, and never raises for what the peer did."""

    def __init__(
        self, connection: ServerConnection, lobby: Lobby, program: str, grace_ms: int, limit: int
    ) -> None:
        self._connection = connection
        self._lobby = lobby
        self._program = program
        self._grace_ms = grace_ms
        self._limit = limit
        self._outbox, self._outgoing = anyio.create_memory_object_stream[ServerMessage](OUTBOX)
        self._member: Member | None = None
        self._too_slow = False
        self._written = anyio.Event()
        self._tasks = anyio.create_task_group()

    def tell(self, message: ServerMessage) -> None:
        """Put a message in the outbox; a full one closes this session, and hurts nobody else."""
        try:
            self._outbox.send_nowait(message)
        except anyio.WouldBlock:
            if not self._too_slow:
                self._too_slow = True
                log.warning("bot %s: too slow, %d messages wait", self._name, OUTBOX)
                self._tasks.start_soon(self._hang_up, 1008, Code.TOO_SLOW.value)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the connection is closing: the reader will say so, and the bot catches up when it returns

    @property
    def _name(self) -> str:
        return self._member.name if self._member else "?"

    async def run(self) -> None:
        """Serve the connection to its end."""
        fault: str | None = None
        # The writer may be at the outbox until the last of its turns: its end is closed once it is gone.
        async with self._outgoing, self._tasks as tasks:
            tasks.start_soon(self._write)
            try:
                await self._read()
            except DecodeError as error:
                fault = error.detail
                code = 1009 if error.code is Code.TOO_LARGE else 1007
                await self._close(Error(error.code, error.detail, fatal=True), code)
            except Refused as refused:
                await self._close(Error(refused.code, refused.detail, fatal=True), 1008)
            except ConnectionClosed as closed:
                sent = closed.sent
                ours = sent is not None and sent.code in FAULTY_CLOSE and not closed.rcvd_then_sent
                if sent is not None and ours and not self._too_slow:
                    fault = sent.reason or f"close code {sent.code}"
            finally:
                with anyio.CancelScope(shield=True):
                    await self._depart(fault)
                self._outbox.close()
                tasks.cancel_scope.cancel()
        self._outgoing.close()

    async def _write(self) -> None:
        try:
            async for message in self._outgoing:
                await self._connection.send(encode(message))
        except ConnectionClosed:
            pass  # the reader is told the same, and says what follows
        finally:
            self._written.set()

    async def _close(self, last: Error, code: int) -> None:
        """Say why, and close, without waiting long for a peer that does not listen."""
        self.tell(last)
        self._outbox.close()
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            await self._written.wait()
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
        try:
            with anyio.move_on_after(HELLO_SECONDS) as waiting:
                message, _ = await self._next()
        except DecodeError as error:
            if error.code is not Code.UNKNOWN_TYPE:
                raise
            raise Refused(Code.HELLO_FIRST, f"the first message must be hello; {error.detail}") from None
        if waiting.cancelled_caught:
            raise Refused(Code.HELLO_FIRST, f"no hello came within {HELLO_SECONDS} s")
        if not isinstance(message, Hello):
            raise Refused(Code.HELLO_FIRST, f"the first message must be hello, not {_kind(message)}")
        await self._enter(message)
        while True:
            try:
                message, at = await self._next()
            except DecodeError as error:
                if error.code is not Code.UNKNOWN_TYPE:
                    raise
                self.tell(Error(error.code, error.detail))
            else:
                await self._dispatch(message, at)
            # While frames are queued `recv` does not wait, and a client that floods would have the
            # event loop to itself.
            await checkpoint()

    async def _next(self) -> tuple[ClientMessage, int]:
        frame = await self._connection.recv()
        at = monotonic_ns()
        return decode_client(frame, self._limit), at

    async def _enter(self, hello: Hello) -> None:
        member, returns = await self._lobby.enter(hello, self, _address(self._connection))
        self._member = member
        limits = Limits(self._limit, member.capacity, self._grace_ms)
        self.tell(Welcome(self._program, member.name, member.secret, limits))
        log.info(
            "bot %s: %s (%s)", member.name, "back" if returns else "here", hello.program or "no program named"
        )
        # Who comes without its session has forgotten its matches, and they are lost.
        await member.post_to_all(Returned if returns else Gone, monotonic_ns())

    def dismiss(self, code: Code) -> None:
        """Close this session from the server's side: it was replaced, or the server stops."""
        if code is Code.REPLACED:
            self._member = None
        close_code = 1001 if code is Code.SHUTTING_DOWN else 1008
        self._tasks.start_soon(self._close, Error(code, code.meaning, fatal=True), close_code)

    async def _dispatch(self, message: ClientMessage, at: int) -> None:
        member = self._member
        if member is None:
            return  # replaced: what still comes in is nobody's
        if isinstance(message, Hello):
            self.tell(Error(Code.HELLO_TWICE, Code.HELLO_TWICE.meaning))
            return
        place = member.matches.get(message.match)
        if place is not None:
            room, player = place
            match message:
                case Ready():
                    event: Event = GotReady(player)
                case Move(_, ply, move, thinking):
                    event = Moved(player, ply, move, None if thinking is UNSET else thinking)
                case Resign():
                    event = Resigned(player)
            if await room.post(event, at):
                return
        detail = f"{message.match!r:.70} is over, or not yours, or does not exist"
        self.tell(Error(Code.NO_SUCH_MATCH, detail, message.match, getattr(message, "ply", None)))

    async def _depart(self, fault: str | None) -> None:
        member = self._member
        if member is None or not self._lobby.leave(member, self):
            return
        at = monotonic_ns()
        if fault is not None:
            log.warning("bot %s: protocol error: %s", member.name, fault)
            await member.post_to_all(lambda player: BrokeProtocol(player, fault), at)
        else:
            log.info("bot %s: gone", member.name)
            await member.post_to_all(Left, at)


def _address(connection: ServerConnection) -> str:
    peer = connection.remote_address
    return str(peer[0]) if peer else ""


def _kind(message: ClientMessage) -> str:
    return type(message).__name__.lower()
