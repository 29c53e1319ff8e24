"""Link of an edge process to the core. It sends messages in frames, and reports its clients again after losses."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence

from arena.clock import TimeSource
from arena.protocol.messages import Move
from arena.server.cluster.bus import Bus
from arena.server.cluster.frames import (
    DOWNWARD_DECODER,
    HEARTBEAT_NS,
    MAX_SILENCE_NS,
    REQUEST_STREAM,
    BadBusFrame,
    BusFrame,
    IncomingStream,
    core_subject,
    decode_frame,
    edge_subject,
    encode_frame,
    split_list,
)
from arena.server.core.inputs import EdgeResynced, MessageReceived
from arena.server.ports import Downward, EdgePort, Resync, Upward

log = logging.getLogger("arena.link")

MAX_RESEND_AGE_NS = 30_000_000_000
"""Maximum time for which a message waits for a core, in ns."""
MAX_RESENT_MESSAGES = 10_000
RESEND_NS = 1_000_000_000
"""Period before the core's last frame, in ns, whose messages are sent again: the core may have missed them."""
TAKEOVER_RESEND_NS = 5_000_000_000
"""Period before the last frame of an old core, in ns, whose messages are sent again to its successor.

It is longer, because the old core may have sent frames after it lost its lease.
"""
SEARCH_INTERVAL_NS = HEARTBEAT_NS // 3
"""Interval between heartbeats while no core is heard, in ns."""


class EdgeLink:
    """Link between an edge and the core that leads its shard. It is the edge's `CorePort`.

    After a loss, the edge reports its clients with `EdgeResynced`, and repeats unanswered hellos. It repeats an
    unanswered move when the core sends the turn again. So only other messages of clients are held here: those from the
    time while the core is silent, and from shortly before.
    """

    def __init__(
        self,
        bus: Bus,
        shard: str,
        edge: int,
        *,
        clock: TimeSource,
        call_soon: Callable[[Callable[[], None]], object],
    ) -> None:
        """Carry messages of the edge with number `edge`, which is random and unique in the shard.

        call_soon: calls a function after all messages that have arrived are handled, like an event loop's `call_soon`
        """
        self.number = edge
        self.subject = edge_subject(shard, edge)
        """Subject on which the edge listens."""
        self.port: EdgePort | None = None
        """Edge of this link, which answers `Resync` immediately."""
        self.fence = 0
        """Fencing number of the core; 0 before the first."""
        self.is_synced = False
        """True while the core is heard and knows the clients of this edge."""
        self.resync_count = 0
        self.dropped_count = 0
        """Number of messages that no core received in time, and that were dropped."""
        self._bus = bus
        self._clock = clock
        self._now_ns = clock.now_ns
        self._call_soon = call_soon
        self._core_subject = core_subject(shard)
        self._stream = 0
        self._resend_ns: int | None = None
        """Period before the core's last frame whose messages are sent again, in ns; None if none was missed."""
        self._sent_count = 0
        self._incoming = IncomingStream[Downward](DOWNWARD_DECODER)
        self._unsent: list[Upward] = []
        self._resend_buffer: deque[tuple[int, MessageReceived]] = deque()
        """Messages that may be sent again, with their times."""
        self._last_frame_ns = self._last_heartbeat_ns = clock.now_ns()

    def silent_ns(self) -> int:
        """Return the time since the last frame of a core, in ns; 0 while a core is heard."""
        return 0 if self.is_synced else self._now_ns() - self._last_frame_ns

    # from the edge

    def submit(self, message: Upward) -> None:
        """Send a message to the core, or hold it while there is none."""
        kind = type(message)
        if kind is MessageReceived:
            if type(message.message) is not Move:  # type: ignore[union-attr]
                self._store_for_resend(message)  # type: ignore[arg-type]
        elif kind is EdgeResynced:
            self._begin_stream(message)  # type: ignore[arg-type]
            return
        if self.is_synced:
            if not self._unsent:
                self._call_soon(self._flush)
            self._unsent.append(message)

    def _begin_stream(self, client_list: EdgeResynced) -> None:
        """Begin a stream to the core: send the list of clients, then the messages that the core may have missed."""
        if not self.fence:
            return  # a core will ask again when there is one
        self._flush()
        now, resend_ns = self._now_ns(), self._resend_ns
        resent: list[MessageReceived] = []
        if resend_ns is not None:
            oldest_ns = max(now - MAX_RESEND_AGE_NS, self._last_frame_ns - resend_ns)
            resent = [message for at, message in self._resend_buffer if at >= oldest_ns]
            self._resend_buffer = deque((now, message) for message in resent)
            self._resend_ns = None
            self._sent_count = 0
        # Otherwise the numbers continue, so that the core notices frames it missed of the last stream.
        self._stream += 1
        self._incoming = IncomingStream[Downward](DOWNWARD_DECODER)
        self._last_frame_ns = now
        self.is_synced = True
        self.resync_count += 1
        self._unsent = [client_list, *resent]
        self._flush()

    def _flush(self) -> None:
        pending, self._unsent = self._unsent, []
        if not pending or not self.is_synced:
            return
        for more, body in split_list(pending):
            self._publish(BusFrame(self.number, self.fence, self._stream, self._sent_count, more, body))
            self._sent_count += 1

    def _publish(self, frame: BusFrame) -> None:
        self._bus.publish(self._core_subject, encode_frame(frame))

    def _store_for_resend(self, message: MessageReceived) -> None:
        buffer, now = self._resend_buffer, self._now_ns()
        buffer.append((now, message))
        oldest = now - (TAKEOVER_RESEND_NS if self.is_synced else MAX_RESEND_AGE_NS)
        while buffer[0][0] < oldest or len(buffer) > MAX_RESENT_MESSAGES:
            buffer.popleft()
            self.dropped_count += not self.is_synced

    # from the core

    def receive(self, payload: bytes) -> None:
        """Handle a frame from a core."""
        try:
            frame = decode_frame(payload)
        except BadBusFrame as error:
            log.warning("edge %d: %s", self.number, error)
            return
        if frame.fence < self.fence:
            return  # from a core that lost its lease
        if frame.fence > self.fence:
            self._resync(f"core {frame.fence} leads", frame.fence, TAKEOVER_RESEND_NS)
        elif not self.is_synced:
            self._resync(f"core {frame.fence} is back", frame.fence, RESEND_NS)
        elif frame.stream == self._stream:  # otherwise it was sent before the core knew this stream
            self._handle_frame(frame)
            # Updated after `_handle_frame`, because a resync in it counts back from the previous frame.
            self._last_frame_ns = self._now_ns()

    def _handle_frame(self, frame: BusFrame) -> None:
        if frame.number == REQUEST_STREAM:
            self._resync("the core asks who is connected", frame.fence, RESEND_NS)
            return
        try:
            messages = self._incoming.receive(frame)
        except BadBusFrame as error:
            self._resync(str(error), frame.fence, None)
            return
        if not messages:
            return
        if type(messages[0]) is Resync:
            self._resync("the core has restarted", frame.fence, TAKEOVER_RESEND_NS)
            return
        self._deliver(messages)

    def _resync(self, why: str, fence: int, resend_ns: int | None) -> None:
        log.info("edge %d: %s; sending its clients", self.number, why)
        if resend_ns is not None:
            self._unsent = []  # those that must be repeated are in _held
            self.is_synced = False
        self.fence = fence
        self._resend_ns = resend_ns
        self._deliver([Resync()])

    def _deliver(self, messages: Sequence[Downward]) -> None:
        if self.port is not None:
            self.port.deliver(messages)

    # time

    async def run(self) -> None:
        """Listen and send heartbeats until cancelled."""
        await self._bus.subscribe(self.subject, self.receive)
        while True:
            wait_ns = self.heartbeat()
            await self._clock.sleep(wait_ns / 1e9)

    def heartbeat(self) -> int:
        """Send a heartbeat, and check if the core is silent. Return the time until the next call is due, in ns."""
        now = self._now_ns()
        if now - self._last_heartbeat_ns > MAX_SILENCE_NS // 2:
            self._last_frame_ns = max(
                self._last_frame_ns, now - MAX_SILENCE_NS // 2
            )  # this process was suspended, and frames may be waiting
        self._last_heartbeat_ns = now
        if self.is_synced and now - self._last_frame_ns > MAX_SILENCE_NS:
            log.warning("edge %d: the core is silent; holding messages", self.number)
            self.is_synced = False
        self._publish(BusFrame(self.number, self.fence, self._stream, self._sent_count))
        return HEARTBEAT_NS if self.is_synced else SEARCH_INTERVAL_NS
