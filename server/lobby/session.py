"""A session: what one websocket connection is to the lobby, from its hello to its close.

A session decodes each message that its connection gives it and hands it on in the same call; only what has to wait,
for the store or for a room with too much to do, runs in a task, and the connection is paused meanwhile. Whatever the
peer does is answered or cut off here, and reaches rooms only as events. What the messages of somebody who is in mean
is decided by `server.lobby.dispatch`.
"""

from __future__ import annotations

import logging
from asyncio import get_running_loop
from collections.abc import Sequence
from functools import partial

from arena.protocol.codec import DecodeError, decode_client, encode
from arena.protocol.codes import Code
from arena.protocol.messages import ClientMessage, Error, Hello, ServerMessage, Start, Turn
from arena.server.lobby.accounts import Refused
from arena.server.lobby.dispatch import Client, Dispatch
from arena.server.net.connection import Connection
from arena.server.net.limits import HostLimits
from arena.server.net.log import without_secrets
from arena.server.rooms.member import MatchInbox

log = logging.getLogger("arena.session")
trace = logging.getLogger("arena.wire")

GOODBYES = {Code.SHUTTING_DOWN: 1001, Code.EVENT_OVER: 1000}
"""The close codes of a server that ends in good order."""
ASKING = {Start, Turn}
"""Messages that ask for an answer."""
SHOWN_BYTES = 24
"""How much is shown of a frame that is no message."""


class Session:
    """One connection's session: the receiver of its messages."""

    def __init__(self, connection: Connection, dispatch: Dispatch, limits: HostLimits) -> None:
        self._connection = connection
        self._dispatch = dispatch
        self._limits = limits
        self._bucket = connection.bucket
        self._traced = trace.isEnabledFor(logging.DEBUG)
        """Whether each message is logged; looked up once, for every message asks."""
        self._client: Client | None = None
        """Who it is, from the answer to its hello until its connection is over or another has taken its place."""
        self._closing = False
        """Whether nothing is handled or told any more."""
        self._over = False
        """Whether the connection is over."""
        self._fault: str | None = None
        """What was wrong with what the peer sent, where it is being closed for that."""
        self._hello_due = get_running_loop().call_later(limits.hello_seconds, self._no_hello)

    # what its client is told

    @property
    def lag(self) -> int:
        """The least recent ping time, in ns; 0 where none is known."""
        return self._connection.lag

    @property
    def backlog(self) -> int:
        """How many bytes wait to be read, beside those in the kernel's buffers."""
        return self._connection.backlog

    def tell(self, message: ServerMessage) -> None:
        """Write a message; a client that has too much to read is cut off, and hurts nobody else."""
        if type(message) in ASKING:
            self._bucket.allow()  # the answer: a bot in many fast matches is no flood
        if self._traced:
            trace.debug("> %s %s", self._name, without_secrets(message))
        if not (self._closing or self._connection.send(encode(message))):
            self._cut_off()

    def tell_encoded(self, messages: Sequence[bytes]) -> None:
        """Write messages that are encoded already, for whoever is told the same."""
        if self._traced:
            for message in messages:
                trace.debug("> %s %s", self._name, message.hex())
        if not (self._closing or self._connection.send(*messages)):
            self._cut_off()

    def affords(self, cost: int) -> bool:
        """Whether its address may have so many µs of the server's time now; they are counted if so."""
        return self._client is not None and self._dispatch.affords(self._client, cost)

    def _cut_off(self) -> None:
        """End the connection of a client that has too much to read; what it is not told, a bot catches up with."""
        log.warning("too slow: %d bytes wait", self.backlog, extra={"bot": self._name})
        self._closing = True
        # A client that begins to read within the time of the closing handshake is told why.
        self._connection.close(1008, Code.TOO_SLOW.value)

    @property
    def _name(self) -> str:
        return self._client.name if self._client else "?"

    def dismiss(self, code: Code) -> None:
        """Close this session from the server's side: it was replaced, or the server stops."""
        if code is Code.REPLACED:
            self._client = None  # what still comes in is nobody's
        self._close(Error(code, code.meaning, fatal=True), GOODBYES.get(code, 1008))

    def _close(self, last: Error, code: int) -> None:
        self.tell(last)
        self._closing = True
        # The detail may hold what the peer sent; the connection cuts it to what a close frame has room for.
        self._connection.close(code, f"{last.code}: {last.detail}")

    # what its client sends

    def receive(self, message: bytes | str, at: int) -> None:
        """Take a message that had arrived at monotonic ns `at`."""
        if self._closing:
            return
        try:
            decoded = self._decode(message, at)
            if self._client is None:
                self._begin(decoded)
            else:
                self._handle(self._client, decoded, at)
        except DecodeError as error:
            self._refuse_frame(error)
        except Refused as refused:
            self._refuse(refused)

    def closed(self, fault: str | None) -> None:
        """The connection is over. `fault`: how the peer broke the rules of websockets."""
        self._hello_due.cancel()
        self._closing = self._over = True
        self._fault = self._fault or fault
        if self._client is not None:
            self._connection.start_soon(partial(self._depart, self._client))

    async def _depart(self, client: Client) -> None:
        await self._dispatch.depart(client, self._fault)

    def _decode(self, frame: bytes | str, at: int) -> ClientMessage:
        if not self._bucket.take(at):
            detail = f"more than {self._limits.messages_per_second:g} messages a second"
            raise Refused(Code.RATE_LIMITED, detail)
        try:
            message = decode_client(frame, self._limits.message_bytes)
        except DecodeError as error:
            self._dispatch.note_rejection(error.code)
            if self._traced:
                # What comes before somebody is in may hold a token.
                shown = (
                    "" if self._client is None else frame.hex() if isinstance(frame, bytes) else repr(frame)
                )
                trace.debug("< %s %s: %s", self._name, shown[:200], error)
            if error.code is Code.BAD_MESSAGE:
                raise DecodeError(error.code, f"{error.detail}; {_shown(frame)}") from None
            raise
        if self._traced:
            trace.debug("< %s %s", self._name, without_secrets(message))
        return message

    def _refuse_frame(self, error: DecodeError) -> None:
        if error.code is not Code.UNKNOWN_TYPE:
            self._fault = error.detail
            code = 1009 if error.code is Code.TOO_LARGE else 1007
            self._close(Error(error.code, error.detail, fatal=True), code)
        elif self._client is None:
            self._refuse(Refused(Code.HELLO_FIRST, f"the first message must be hello; {error.detail}"))
        else:
            self.tell(Error(error.code, error.detail))

    def _refuse(self, refused: Refused) -> None:
        if refused.code is Code.RATE_LIMITED:
            self._fault = refused.detail
        self._close(Error(refused.code, refused.detail, fatal=True), 1008)

    # its hello

    def _no_hello(self) -> None:
        if not self._closing:
            detail = f"no hello came within {self._limits.hello_seconds:g} s"
            self._refuse(Refused(Code.HELLO_FIRST, detail))

    def _begin(self, message: ClientMessage) -> None:
        if not isinstance(message, Hello):
            kind = type(message).__name__.lower()
            raise Refused(Code.HELLO_FIRST, f"the first message must be hello, not {kind}")
        self._hello_due.cancel()
        self._connection.pause()
        self._connection.start_soon(partial(self._enter, message))

    async def _enter(self, hello: Hello) -> None:
        try:
            client = await self._dispatch.admit(hello, self, self._connection.address)
        except Refused as refused:
            self._refuse(refused)
            return
        if self._over:
            await self._depart(client)
            return
        self._client = client
        self._connection.resume()

    # what it sends then

    def _handle(self, client: Client, message: ClientMessage, at: int) -> None:
        cost = self._dispatch.charge(client, message)
        if cost is None or (cost and self._connection.over):
            return  # whoever has asked for something and gone is told nothing of it
        if cost:
            self._connection.pause()
            self._connection.start_soon(partial(self._handle_in_turn, client, message, at, cost))
            return
        busy = self._dispatch.take(client, message, at)
        if busy is not None:
            self._connection.pause()
            self._connection.start_soon(partial(self._handle_later, busy, message, at))

    async def _handle_in_turn(self, client: Client, message: ClientMessage, at: int, cost: int) -> None:
        """Handle a message that is dear when it is its address's turn, and then go on with what has come since."""
        async with self._dispatch.turns.turn(client.address, cost):
            if not self._closing and not self._connection.over and self._client is client:
                self._dispatch.take(client, message, at)
        self._connection.resume()

    async def _handle_later(self, busy: MatchInbox | None, message: ClientMessage, at: int) -> None:
        """Handle a message as soon as its room has space, and then go on with what has come since."""
        while busy is not None:
            await busy.has_space()
            if self._closing or self._client is None:
                return
            busy = self._dispatch.take(self._client, message, at)
        self._connection.resume()


def _shown(frame: bytes | str) -> str:
    """How a frame that is no message begins, for its author."""
    if isinstance(frame, str):
        return f"it begins {frame[:SHOWN_BYTES]!r}"
    return f"its {len(frame)} bytes begin {frame[:SHOWN_BYTES].hex(' ')}"
