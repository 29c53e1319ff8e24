"""The links of one server to the others of its arena: numbered messages over a bus that may lose any of them.

Each server publishes a beat four times a second, which says how far it is with every other. Whoever sees by it that
something of a stream is missing says so with its next beat, at once, and gets it again. So a message that is lost is
late by the way of a beat, and nothing else. What was not acknowledged goes to waste only with the receiver, or when too
much of it waits: then a new stream begins, with all that there is to tell.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from time import monotonic, time_ns

import anyio

from arena.server.arena import messages
from arena.server.arena.messages import ArenaMessage, BadPacket, Beat, Line, Part
from arena.server.arena.stream import Arrived, Incoming, Outgoing
from arena.server.bus.bus import Bus, Message, Subscription

log = logging.getLogger("arena.links")

BEAT_SECONDS = 0.25
"""From one beat to the next."""
SILENT_SECONDS = 1.5
"""A server that has not been heard for so long cannot be told anything now."""
MOST_KEPT = 20_000
"""Messages that may wait for the acknowledgement of one server."""
PIECE_BYTES = 256 * 1024
"""What a packet is filled up to, and a larger message is cut into."""
AGAIN_SECONDS = 0.05
"""From one request for what is missing to the next."""

BEATS = "arena.beat"


def subject_of(server: str) -> str:
    """The subject on which a server is sent its packets: names may have characters that subjects may not."""
    return f"arena.to.{sha256(server.encode()).hexdigest()[:32]}"


class Link:
    """One server of the arena, as another sees it."""

    def __init__(self, name: str, number: int, stream: int) -> None:
        self.name = name
        self.number = number
        self.subject = subject_of(name)
        self.outgoing: Outgoing[bytes] = Outgoing(stream)
        self.incoming = Incoming()
        self.waiting: list[bytes] = []
        """What leaves with the next packet."""
        self.pieces = bytearray()
        self.heard_at = 0.0
        """When it was heard last, in monotonic seconds."""
        self.lacks = False
        """Whether something that it has sent is missing here."""
        self.asked_at = 0.0
        """When it was asked last for what is missing."""
        self.beat: Beat | None = None
        """The last beat of it."""
        self.known = False
        """Whether all has come that it had to tell at first."""

    def complete(self) -> None:
        """All has come that it had to tell at first."""
        self.known = True

    @property
    def up(self) -> bool:
        """Whether it is heard, and all that it had to tell has come."""
        return self.known and monotonic() - self.heard_at < SILENT_SECONDS


class Links:
    """All links of one server."""

    def __init__(
        self,
        bus: Bus,
        name: str,
        *,
        number: Callable[[], int],
        receive: Callable[[Link, ArenaMessage], None],
        fresh: Callable[[Link], None],
        snapshot: Callable[[], Iterable[ArenaMessage]],
        renewed: Callable[[Link], None],
        state: Callable[[], tuple[int, int, bool, bool]],
    ) -> None:
        """Tell the other servers by this bus, and hear them.

        name      the server's own
        number    says the number of its lease
        receive   is told of each message of another server, in order
        fresh     is told that a server begins to tell all anew
        snapshot  makes what a server is told first: all that there is
        renewed   told that a server is told all anew, and may have missed what it was told before
        state     says how many matches the server may have and has, whether it takes more, and whether it reaches the store
        """
        self._bus = bus
        self._name = name
        self._number = number
        self._receive = receive
        self._fresh = fresh
        self._snapshot = snapshot
        self._renewed = renewed
        self._state = state
        self._links: dict[str, Link] = {}
        self._unsent: list[Link] = []
        self._echoed = 0.0
        """When its own beat came back to it last, in monotonic seconds."""
        self._stream = time_ns()
        """The number of the stream that was begun last."""
        self._beats = 0

    @property
    def all(self) -> list[Link]:
        """The links to all servers that live."""
        return list(self._links.values())

    @property
    def hears(self) -> bool:
        """Whether what is published reaches this server, and so others."""
        return self._bus.connected and monotonic() - self._echoed < SILENT_SECONDS

    def find(self, server: str) -> Link | None:
        """The link to a server that lives."""
        return self._links.get(server)

    def follow(self, living: Mapping[str, int]) -> list[Link]:
        """Have links to these servers, by name and number, and no others; those that have ended."""
        gone = [link for link in self._links.values() if living.get(link.name) != link.number]
        for link in gone:
            del self._links[link.name]
        for name, number in living.items():
            if name not in self._links and name != self._name:
                link = self._links[name] = Link(name, number, self._next_stream())
                self._tell_all(link)
        return gone

    def _next_stream(self) -> int:
        self._stream += 1
        return self._stream

    def _tell_all(self, link: Link) -> None:
        for message in self._snapshot():
            self._add(link, messages.encode(message))

    def send(self, link: Link, message: ArenaMessage) -> None:
        """Tell one server something, at the end of this turn of the event loop."""
        self._add(link, messages.encode(message))

    def send_all(self, message: ArenaMessage) -> None:
        """Tell every other server something."""
        if self._links:
            encoded = messages.encode(message)
            for link in self._links.values():
                self._add(link, encoded)

    def _add(self, link: Link, encoded: bytes) -> None:
        if len(encoded) > PIECE_BYTES:
            for begin in range(0, len(encoded), PIECE_BYTES):
                piece = encoded[begin : begin + PIECE_BYTES]
                self._put(link, messages.encode(Part(piece, begin + PIECE_BYTES >= len(encoded))))
            return
        self._put(link, encoded)

    def _put(self, link: Link, encoded: bytes) -> None:
        link.outgoing.add(encoded)
        link.waiting.append(encoded)
        if link not in self._unsent:
            if not self._unsent:
                asyncio.get_running_loop().call_soon(self._flush)
            self._unsent.append(link)

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        for link in unsent:
            if self._links.get(link.name) is not link or not link.waiting:
                continue
            if len(link.outgoing) > max(MOST_KEPT, 2 * len(link.waiting)):
                log.warning("%s is told all anew: it has not answered for too long", link.name)
                self._begin_anew(link, kept=False)
                continue
            waiting, link.waiting = link.waiting, []
            self._publish(link, link.outgoing.sent - len(waiting) + 1, waiting)

    def _publish(self, link: Link, first: int, encoded: list[bytes]) -> None:
        begin = size = 0
        for place, each in enumerate(encoded):
            if (size and size + len(each) > PIECE_BYTES) or place - begin >= messages.MOST_MESSAGES:
                self._publish_some(link, first + begin, encoded[begin:place])
                begin, size = place, 0
            size += len(each)
        self._publish_some(link, first + begin, encoded[begin:])

    def _publish_some(self, link: Link, first: int, encoded: list[bytes]) -> None:
        made = messages.packet(self._name, self._number(), link.number, link.outgoing.stream, first, encoded)
        # What is not taken is sent again when its receiver says that it lacks it.
        self._bus.publish(link.subject, made)

    async def run(self) -> None:
        """Hear what others tell, and beat, until cancelled."""
        subscriptions: list[Subscription] = []
        try:
            subscriptions.append(await self._bus.subscribe(subject_of(self._name), self._take_packet))
            subscriptions.append(await self._bus.subscribe(BEATS, self._take_beat))
            while True:
                self._beat()
                await anyio.sleep(BEAT_SECONDS)
        finally:
            with anyio.CancelScope(shield=True):
                for subscription in subscriptions:
                    await subscription.end()

    def _beat(self) -> None:
        places, load, takes, store = self._state()
        lines = [
            Line(
                each.name,
                each.number,
                each.outgoing.stream,
                each.outgoing.sent - len(each.waiting),
                each.incoming.stream,
                each.incoming.taken,
                each.lacks,
            )
            for each in self._links.values()
        ]
        self._beats += 1
        told = Beat(self._name, self._number(), self._beats, places, load, takes, store, lines)
        self._bus.publish(BEATS, messages.beat(told))

    def _take_beat(self, message: Message) -> None:
        try:
            beat = messages.decode_beat(message.payload)
        except BadPacket as bad:
            log.warning("on %s: %s", message.subject, bad)
            return
        if beat.sender == self._name:
            if beat.number == self._number():
                self._echoed = monotonic()
            return
        link = self._links.get(beat.sender)
        if link is None or link.number != beat.number:
            return
        if link.beat is not None and beat.count <= link.beat.count:
            return
        link.heard_at, link.beat = monotonic(), beat
        for line in beat.lines:
            if line.server == self._name and line.number == self._number():
                self._take_line(link, line)

    def _take_line(self, link: Link, line: Line) -> None:
        """Send again what a server lacks, and say what is lacking of its."""
        link.outgoing.acknowledge(line.heard, line.taken)
        if line.lacks:
            self._send_again(link, line)
        link.lacks = link.incoming.lacks(line.stream, line.sent)
        if link.lacks:
            self._ask_again(link)

    def _send_again(self, link: Link, line: Line) -> None:
        out = link.outgoing
        first, kept = out.after(line.heard, line.taken)
        if first > (line.taken if line.heard == out.stream else 0) + 1:
            self._begin_anew(link, kept=True)  # it has forgotten what it had acknowledged
            return
        missing = kept[: len(kept) - len(link.waiting)]
        if missing:
            self._publish(link, first, missing)

    def _begin_anew(self, link: Link, *, kept: bool) -> None:
        """Tell a server all that there is; `kept`: and after that what it has not acknowledged."""
        before = link.outgoing.kept if kept else []
        link.outgoing = Outgoing(self._next_stream())
        link.waiting.clear()
        self._tell_all(link)
        for encoded in before:
            self._put(link, encoded)
        self._renewed(link)

    def _ask_again(self, link: Link) -> None:
        now = monotonic()
        if now - link.asked_at >= AGAIN_SECONDS:
            link.asked_at = now
            self._beat()

    def _take_packet(self, message: Message) -> None:
        try:
            packet = messages.decode_packet(message.payload)
        except BadPacket as bad:
            log.warning("on %s: %s", message.subject, bad)
            return
        link = self._links.get(packet.sender)
        if link is None or link.number != packet.number or packet.to != self._number():
            return
        link.heard_at = monotonic()
        arrived, new = link.incoming.take(packet.stream, packet.first, packet.messages)
        if arrived is Arrived.AHEAD:
            link.lacks = True
            self._ask_again(link)
            return
        if new:
            link.lacks = False
        if arrived is Arrived.FRESH:
            link.known = False
            link.pieces.clear()
            self._fresh(link)
        for each in new:
            self._hand_on(link, each)

    def _hand_on(self, link: Link, message: ArenaMessage) -> None:
        if type(message) is Part:
            link.pieces += message.piece
            if len(link.pieces) > messages.MESSAGE_BYTES:
                log.warning("%s sends a message that is too large", link.name)
                link.pieces.clear()
            elif message.last:
                whole = bytes(link.pieces)
                link.pieces.clear()
                try:
                    message = messages.decode_message(whole)
                except BadPacket as bad:
                    log.warning("from %s: %s", link.name, bad)
                    return
        if type(message) is not Part:
            try:
                self._receive(link, message)
            except Exception:
                log.exception("a message of %s was not handled", link.name)
