"""A connection: one client's socket, from its first byte to its last.

    bytes -> counted -> parsed -> message, with the time of its arrival -> receiver

The rules of websockets are the library's, by its documented layer without I/O. What is decided here is what a server
decides: how much of what has arrived is parsed when, who comes in and is answered what, how long a peer may be
silent, and when a connection is over.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import transports
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic, monotonic_ns
from typing import TYPE_CHECKING, cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request as HttpRequest
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from arena.server.net import handshake
from arena.server.net.addresses import host_of
from arena.server.net.answers import Answer
from arena.server.net.arrivals import Arrival, Arrivals
from arena.server.net.by_address.failed_logins import source
from arena.server.net.delivery import Delivery
from arena.server.net.ending import Ending, ending
from arena.server.net.keepalive import OpenPings
from arena.server.net.outgoing import CLOSE_SECONDS, Outgoing
from arena.server.net.request import Headers, Request
from arena.server.net.token_bucket import TokenBucket

if TYPE_CHECKING:
    from arena.server.net.server import Server

log = logging.getLogger("arena.connection")

AFTER_CLOSE_BYTES = 4096
"""What a client may still send after it was told that its connection is closed; an honest one has little under way."""
LAST_PIECES = 4
"""Pieces that are still parsed of what a client has sent before it ended its stream: a player's last words are fewer."""
CONTROLS = frozenset({Opcode.PING, Opcode.PONG, Opcode.CLOSE})
REASON_BYTES = 120
"""What a close frame has room for beside its code, and a character that is cut."""


class Connection(asyncio.Protocol):
    """One client's connection. What its receiver asks of it when it is over already does nothing."""

    address: str
    """Whom it is counted for."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._let_in = False

    def connection_made(self, transport: transports.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.address = host_of(transport.get_extra_info("peername"))
        if not self._server.admission.greet(self.address):
            # Nothing more is made for a connection that is refused: refusals must cost little.
            self._server.admission.turn_away(self._transport)
            return
        limits = self._server.limits
        self._let_in = self._counted = True
        self._came = monotonic()
        """When it came, or was answered last."""
        self._protocol = self._new_protocol()
        self._outgoing = Outgoing(self._transport, self._protocol)
        self._arrivals = Arrivals(limits, monotonic_ns(), lambda: self._server.admission.moves(self.address))
        self._arrived = 0
        """When the latest bytes had arrived, in monotonic ns."""
        self._pings = OpenPings(self._server.admission.keepalive.pong_seconds)
        self._delivery: Delivery | None = None
        """From the end of the opening handshake on."""
        self._asked = False
        """Whether its request has come whole, and is not answered yet or was the last one."""
        self._answers = 0
        """Plain GETs that were answered."""
        self._spoke = False
        """Whether anything has come but messages that were asked for, and requests that are answered."""
        self._new = True
        """Whether no frame of it has been parsed yet."""
        self._queued = False
        """Whether it waits for a turn to be parsed."""
        self._reading = True
        self._closing = False
        """Whether this side has closed it, and nothing more is given to its receiver."""
        self._eof = False
        """Whether the library was told that the peer has ended its stream."""
        self._flooded = False
        self._after_close = 0
        """Bytes that have come since the peer was told that the connection is closed."""
        self._outgoing.end_after(limits.hello_seconds)
        self._server.opened(self)

    def _new_protocol(self) -> ServerProtocol:
        """The library's side of one request, and of the websocket that it may open."""
        most = self._server.limits.message_bytes
        return ServerProtocol(subprotocols=[Subprotocol(SUBPROTOCOL)], max_size=most)

    def eof_received(self) -> None:
        if not self._let_in:
            return
        for _ in range(LAST_PIECES):
            if not len(self._arrivals) or self._delivery is None or self._closing:
                break
            self._parse(self._arrivals.take())
        self._receive_eof()
        self._outgoing.flush()
        # A peer that has stopped sending may have stopped reading too.
        self._outgoing.end_after(CLOSE_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  why makes no difference
        if not self._let_in:
            return
        self._outgoing.end_after(None)
        self._arrivals.take_all()
        self._receive_eof()
        admission = self._server.admission
        admission.keepalive.remove(self)
        end = self._ending()
        if end.cut_off and not self._arrivals.overrun:  # an overrun was counted when it came
            admission.cut_off(self.address)
        if self._counted:
            admission.leave(self.address)
        if self._delivery is not None:
            self._delivery.finish(None if self._closing else end.fault)
        self._server.ended(self)

    def _ending(self) -> Ending:
        if self._delivery is not None:
            end = ending(self._protocol.close_exc)
            return Ending(cut_off=True, fault=end.fault) if self._flooded else end
        # Browsers open connections in advance, and may never say a word on them.
        late = monotonic() - self._came >= self._server.limits.hello_seconds
        return Ending(cut_off=self._flooded or (late and self._spoke and not self._asked))

    def _receive_eof(self) -> None:
        if not self._eof:
            self._eof = True
            self._protocol.receive_eof()

    def data_received(self, data: bytes) -> None:
        if not self._let_in:
            return
        self._arrived = monotonic_ns()
        delivery = self._delivery
        if delivery is not None and not self._new and delivery.ready() and self._arrivals.answers(data):
            # a player's answer: no more is asked of it than this
            self._server.admission.answered()
            if not self._arrivals.waits(self._arrived):
                self._parse(data)
                return
        else:
            self._spoke = True
            if self._outgoing.ended:
                return  # a peer that still sends a huge message hears why it was refused when it has been read
            if delivery is not None:
                arrival = self._arrivals.count(data, self._arrived)
                if arrival is Arrival.DUE and not self._new and not len(self._arrivals) and self._may_parse():
                    if not self._arrivals.waits(self._arrived):
                        self._parse(data)
                        return
                elif self._too_much(arrival):
                    return
        self._arrivals.keep(data)
        self._go_on()

    def _too_much(self, arrival: Arrival) -> bool:
        """Whether the connection has ended for what has arrived. More messages than it may send count at once."""
        if arrival is Arrival.FLOOD:
            self._flood()
            return True
        if arrival is Arrival.OVERRUN:
            self._server.admission.cut_off(self.address)
        return False

    def _may_parse(self) -> bool:
        if self._delivery is None:
            # Whoever asks for more without reading the answers would have all of them kept here.
            return not (self._asked or self._outgoing.slow)
        return self._delivery.ready()

    def _go_on(self) -> None:
        """Wait for a turn where something is to be parsed, and read more or less by what waits."""
        if len(self._arrivals) and not self._queued and self._may_parse():
            self._queued = True
            queue = self._server.admission.queue(new=self._new, quick=self._arrivals.quick)
            queue.enter(source(self.address), self._take_turn)
        if self._reading is self._arrivals.full and not self._transport.is_closing():
            self._reading = not self._reading
            if self._reading:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _take_turn(self) -> None:
        self._queued = False
        if self._arrivals.overrun and self._closing:
            self._arrivals.take_all()  # it has been told why, and until it is over nothing more of it is read
            return
        before = self._arrivals.messages
        self._parse(self._arrivals.take())
        self._server.admission.parsed(before - self._arrivals.messages)
        self._go_on()

    def _parse(self, data: bytes) -> None:
        if self._transport.is_closing() or self._outgoing.ended:
            self._arrivals.take_all()
            return
        if self._outgoing.due:
            self._after_close += len(data)
            if self._after_close > AFTER_CLOSE_BYTES:
                self._flood()
                return
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take_frame(event)
            elif isinstance(event, HttpRequest):
                self._take_request(event)
        self._outgoing.flush()
        if self._delivery is not None:
            self._delivery.give()

    def _take_frame(self, frame: Frame) -> None:
        self._new = False
        opcode = frame.opcode
        if opcode in CONTROLS:
            # The library answers pings and closes by itself.
            if opcode is Opcode.PONG:
                self._pings.answered(bytes(frame.data), self._arrived)
            return
        if frame.fin:
            self._arrivals.parsed()
        if self._closing or self._delivery is None:
            return
        try:
            self._delivery.add(frame, self._arrived)
        except UnicodeDecodeError as error:
            self._protocol.fail(1007, f"{error.reason} at position {error.start}")

    def _flood(self) -> None:
        self._flooded = True
        self._arrivals.take_all()
        self._transport.abort()

    def _take_request(self, event: HttpRequest) -> None:
        self._asked = True
        headers = Headers(event.headers.raw_items())
        request = Request(event.path, headers, event.method, event.protocol, self._transport.is_closing)
        if not request.wants_websocket:
            self._outgoing.end_after(handshake.ANSWER_SECONDS)
            self.start_soon(partial(self._answer, request))
            return
        refusal = (
            handshake.wrong_method(request)
            or self._count_client(request)
            or handshake.subprotocol_missing(request)
            or (None if self._server.any_origin else handshake.wrong_origin(request))
        )
        if refusal is not None:
            self._respond(refusal)
            return
        response = self._protocol.accept(event)
        response.headers["Server"] = self._server.program
        self._protocol.send_response(response)
        event.headers.clear()  # the library keeps the request for as long as the connection lasts
        if self._protocol.state is State.OPEN:
            self._outgoing.end_after(None)
            self._delivery = Delivery(self._server.receiver(self), self._go_on, self._failed)
            self._server.admission.keepalive.add(self)
            self._too_much(self._arrivals.opened(self._arrived))

    def _count_client(self, request: Request) -> Answer | None:
        """Count it for its client, where it comes through a proxy; the refusal of a client that has too many."""
        admission = self._server.admission
        client = admission.client(request, self.address)
        if client == self.address:
            return None
        admission.leave(self.address)
        self._counted = admission.let_in(client)
        if not self._counted:
            return handshake.TOO_MANY
        self.address = client
        return None

    async def _answer(self, request: Request) -> None:
        admission = self._server.admission
        client = admission.client(request, self.address)
        answer = await handshake.page(self._server.pages, request, client)
        if self._outgoing.ended or self._transport.is_closing():
            return
        self._answers += 1
        last = (
            not request.may_go_on
            or self._eof
            or self._answers >= handshake.MOST_ANSWERS
            or not admission.has_room(self.address)
        )
        self._respond(answer, last=last)
        if last:
            self._outgoing.flush(self._server.limits.hello_seconds)
        else:
            self._next_request()

    def _next_request(self) -> None:
        """Go on with another request, which has as long to come as the first one had."""
        self._protocol = self._new_protocol()
        self._outgoing.go_on(self._protocol)
        self._arrivals.next_request()
        self._asked = False
        self._spoke = len(self._arrivals) > 0
        self._came = monotonic()
        self._outgoing.end_after(self._server.limits.hello_seconds)
        self._go_on()

    def _respond(self, answer: Answer, *, last: bool = True) -> None:
        made = handshake.response(self._protocol, answer, self._server.program, last=last)
        self._protocol.send_response(made)

    @property
    def bucket(self) -> TokenBucket:
        """What the client may send: its receiver takes each message from it, and notes those that it asked for."""
        return self._arrivals.bucket

    @property
    def over(self) -> bool:
        """Whether the peer can be told nothing any more."""
        return self._eof or self._transport.is_closing()

    @property
    def lag(self) -> int:
        """The least recent ping time, in ns; 0 where none is known."""
        return self._pings.lag

    @property
    def backlog(self) -> int:
        """How many bytes wait to be read, beside those in the kernel's buffers."""
        return self._outgoing.backlog

    def send(self, *messages: bytes | str) -> bool:
        """Write messages without waiting. False, and nothing is written, where too much waits for the peer.

        Nothing is written to a connection that is closing: its receiver will be told.
        """
        return self._outgoing.send(*messages)

    def ping(self) -> None:
        """Ping the peer, or end the connection where it has not answered for too long."""
        if self._protocol.state is not State.OPEN:
            return
        now = monotonic_ns()
        if self._pings.overdue(now):
            self._protocol.fail(1011, "keepalive ping timeout")
        else:
            self._protocol.send_ping(self._pings.new(now))
        self._outgoing.flush()

    def pause_writing(self) -> None:
        self._outgoing.note(slow=True)

    def resume_writing(self) -> None:
        self._outgoing.note(slow=False)
        if self._delivery is None:
            self._go_on()

    def pause(self) -> None:
        """Give the receiver nothing until `resume`; the peer waits when some has piled up."""
        if self._delivery is not None:
            self._delivery.pause()

    def resume(self) -> None:
        """Go on giving the receiver what comes."""
        if self._delivery is not None:
            self._delivery.resume()

    def start_soon(self, job: Callable[[], Awaitable[None]]) -> None:
        """Run `job` in a task of the server's; an exception of it is logged, and ends the connection."""
        self._server.start_soon(partial(self._logged, job))

    async def _logged(self, job: Callable[[], Awaitable[None]]) -> None:
        try:
            await job()
        except Exception:
            log.exception("a connection fails", extra={"address": self.address})
            self._failed()

    def close(self, code: int, reason: str) -> None:
        """Tell the peer that it is over, and why; what it sends from now on is not given to the receiver.

        A peer that has not answered after `CLOSE_SECONDS` finds its connection reset.
        """
        if self._delivery is None:
            self._transport.abort()
            return
        self._closing = True
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, reason.encode()[:REASON_BYTES].decode(errors="ignore"))
            self._outgoing.flush()
        self._delivery.drop()
        self._go_on()

    def _failed(self) -> None:
        self.close(1011, "the server failed; its log says why")
