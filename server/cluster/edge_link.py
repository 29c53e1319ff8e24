"""Link of an edge process (which holds connections) to the core process (which runs matches), over the message bus.

The link sends messages in *frames*: a frame is one message of the bus, with a list of messages. When the link connects to a
core, it sends the list of the edge's clients. If frames are lost later, it sends this list again."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence

from arena.clock import TimeSource
from arena.protocol.messages import Move
from arena.server.cluster.bus import Bus
from arena.server.cluster.frames import (
    HEARTBEAT_INTERVAL_NS,
    MAX_SILENCE_BEFORE_LOSS_NS,
    MESSAGES_TO_EDGE_DECODER,
    NEW_STREAM_REQUEST_FRAME_NUMBER,
    BadBusFrame,
    BusFrame,
    FrameReceiver,
    decode_frame,
    encode_frame,
    make_core_subject,
    make_edge_subject,
    split_into_frames,
)
from arena.server.core.inputs import EdgeResynced, MessageReceived
from arena.server.ports import EdgePort, MessageToCore, MessageToEdge, RequestResync

log = logging.getLogger("arena.link")

MAX_RESENDABLE_MESSAGE_AGE_NS = 30_000_000_000
"""Maximum time for which an edge (process that holds connections) keeps a client's message while it hears no core, in ns.

Older messages are dropped.
"""
MAX_RESENDABLE_MESSAGES = 10_000
"""Maximum number of clients' messages that an edge process keeps, to send them to the core again.

The oldest are dropped first.
"""
RESEND_WINDOW_NS = 1_000_000_000
"""Time before the last frame from the core, in ns: clients' messages of this time may not have reached the core.

After messages were lost, the edge (process that holds connections) resends the clients' messages of that time and all later
ones.
"""
TAKEOVER_RESEND_WINDOW_NS = 5_000_000_000
"""Resend window (RESEND_WINDOW_NS: messages of this time are sent again) after a restart or replacement of the core, in ns.

This window is longer, because the old core may have sent its last frames after it lost its lease.
"""
HEARTBEAT_INTERVAL_WITHOUT_CORE_NS = HEARTBEAT_INTERVAL_NS // 3
"""Interval between the heartbeats of an edge process while it hears no core, in ns: short, so that a new core soon answers."""


class EdgeSideLink:
    """Link from an edge (process that holds connections) to the core process that leads its cluster. Implements `CorePort`.

    The link keeps the clients' latest messages, and resends them if messages to the core may have been lost. It does not keep
    hellos and moves, because the edge itself resends these. After a loss, the edge lists its clients in `EdgeResynced`, and
    resends unanswered hellos. It resends an unanswered move when the core sends the `turn` message again.
    """

    def __init__(
        self,
        bus: Bus,
        shard_name: str,
        edge_number: int,
        *,
        clock: TimeSource,
        call_soon: Callable[[Callable[[], None]], object],
    ) -> None:
        """Prepare the link of the edge with number `edge_number`, which is random and unique in the shard.

        A shard is a core with its edges.

        bus: connection to the message bus
        call_soon: schedules a call after the messages that have already arrived, like an event loop's `call_soon`
        """
        self.number = edge_number
        self.subject = make_edge_subject(shard_name, edge_number)
        """Bus subject on which the edge (process that holds connections) receives frames."""
        self.edge_port: EdgePort | None = None
        """Receiver of the core's messages, set by the caller. It must answer `RequestResync` at once with `EdgeResynced`."""
        self.fencing_token = 0
        """Fencing token of the core that leads; 0 before the first frame of a core."""
        self.is_synced = False
        """True while frames from the core arrive and this edge (holder of connections) has sent the core its clients."""
        self._bus = bus
        self._clock = clock
        self._now_ns = clock.now_ns
        self._call_soon = call_soon
        self._core_subject = make_core_subject(shard_name)
        self._stream_number = 0
        self._resend_window_ns: int | None = None
        """Time before the core's last frame, in ns, from which on the next stream resends messages; None to resend none.

        The value is TAKEOVER_RESEND_WINDOW_NS after the core was replaced or restarted, and otherwise RESEND_WINDOW_NS.
        """
        self._sent_frame_count = 0
        self._frame_receiver = FrameReceiver[MessageToEdge](MESSAGES_TO_EDGE_DECODER)
        self._unsent_messages: list[MessageToCore] = []
        """Messages for the next frame, which is sent once all messages that have arrived are handled."""
        self._resend_buffer: deque[tuple[int, MessageReceived]] = deque()
        """Messages that may be sent again, each paired with its time of arrival in monotonic ns."""
        self._last_frame_ns = self._last_heartbeat_sent_ns = clock.now_ns()

    def compute_core_silence_ns(self) -> int:
        """Return the time for which no core was heard, in ns: since its last frame, or since the start of the link.

        Return 0 while the link is in sync with a core (`is_synced`).
        """
        return 0 if self.is_synced else self._now_ns() - self._last_frame_ns

    # from the edge

    def submit(self, message: MessageToCore) -> None:
        """Send a message to the core. `EdgeResynced`, the list of the edge's clients, begins a new stream of messages.

        While no frames from a core arrive, keep a client's message to send it later. Drop a move, because the edge itself
        resends it. Drop messages of the edge itself, because `EdgeResynced` makes up for them.
        """
        message_type = type(message)
        if message_type is MessageReceived:
            if type(message.message) is not Move:  # type: ignore[union-attr]
                self._keep_for_resend(message)  # type: ignore[arg-type]
        elif message_type is EdgeResynced:
            self._begin_stream(message)  # type: ignore[arg-type]
            return
        if self.is_synced:
            if not self._unsent_messages:
                self._call_soon(self._send_unsent_messages)
            self._unsent_messages.append(message)

    def _begin_stream(self, resync: EdgeResynced) -> None:
        """Begin a new stream of frames: send the list of the edge's clients, then the messages that the core may lack."""
        if not self.fencing_token:
            return  # no core is known yet; the first frame from one causes a resync
        self._send_unsent_messages()
        now, resend_window_ns = self._now_ns(), self._resend_window_ns
        resent_messages: list[MessageReceived] = []
        if resend_window_ns is not None:
            oldest_ns = max(now - MAX_RESENDABLE_MESSAGE_AGE_NS, self._last_frame_ns - resend_window_ns)
            resent_messages = [message for sent_ns, message in self._resend_buffer if sent_ns >= oldest_ns]
            self._resend_buffer = deque((now, message) for message in resent_messages)
            self._resend_window_ns = None
            self._sent_frame_count = 0
        # Otherwise the numbers continue, so that the core notices if it missed frames of the last stream.
        self._stream_number += 1
        self._frame_receiver = FrameReceiver[MessageToEdge](MESSAGES_TO_EDGE_DECODER)
        self._last_frame_ns = now
        self.is_synced = True
        self._unsent_messages = [resync, *resent_messages]
        self._send_unsent_messages()

    def _send_unsent_messages(self) -> None:
        pending, self._unsent_messages = self._unsent_messages, []
        if not pending or not self.is_synced:
            return
        for frame in split_into_frames(pending, self._make_heartbeat_frame()):
            self._publish_frame_to_core(frame)
            self._sent_frame_count += 1

    def _make_heartbeat_frame(self) -> BusFrame:
        return BusFrame(self.number, self.fencing_token, self._stream_number, self._sent_frame_count)

    def _publish_frame_to_core(self, frame: BusFrame) -> None:
        self._bus.publish(self._core_subject, encode_frame(frame))

    def _keep_for_resend(self, message: MessageReceived) -> None:
        buffer, now = self._resend_buffer, self._now_ns()
        buffer.append((now, message))
        oldest_kept_ns = now - (
            TAKEOVER_RESEND_WINDOW_NS if self.is_synced else MAX_RESENDABLE_MESSAGE_AGE_NS
        )
        while buffer[0][0] < oldest_kept_ns or len(buffer) > MAX_RESENDABLE_MESSAGES:
            buffer.popleft()

    # from the core

    def receive_frame(self, payload: bytes) -> None:
        """Handle a frame from a core. Drop an invalid frame, and a frame from a core that no longer leads."""
        try:
            frame = decode_frame(payload)
        except BadBusFrame as error:
            log.warning("edge %d: %s", self.number, error)
            return
        if frame.fencing_token < self.fencing_token:
            return  # from a core that lost its lease
        if frame.fencing_token > self.fencing_token:
            self._ask_edge_to_resync(
                f"core {frame.fencing_token} leads", frame.fencing_token, TAKEOVER_RESEND_WINDOW_NS
            )
        elif not self.is_synced:
            self._ask_edge_to_resync(
                f"core {frame.fencing_token} is back", frame.fencing_token, RESEND_WINDOW_NS
            )
        elif (
            frame.stream_number == self._stream_number
        ):  # otherwise it was sent before the core knew this stream
            self._handle_frame(frame)
            # Updated after `_handle_frame`, because a resync in it counts back from the previous frame.
            self._last_frame_ns = self._now_ns()

    def _handle_frame(self, frame: BusFrame) -> None:
        if frame.frame_number == NEW_STREAM_REQUEST_FRAME_NUMBER:
            self._ask_edge_to_resync("the core asks who is connected", frame.fencing_token, RESEND_WINDOW_NS)
            return
        try:
            messages = self._frame_receiver.receive_frame(frame)
        except BadBusFrame as error:
            self._ask_edge_to_resync(str(error), frame.fencing_token, None)
            return
        if not messages:
            return
        if type(messages[0]) is RequestResync:
            self._ask_edge_to_resync("the core has restarted", frame.fencing_token, TAKEOVER_RESEND_WINDOW_NS)
            return
        self._deliver_to_edge(messages)

    def _ask_edge_to_resync(self, reason: str, fencing_token: int, resend_window_ns: int | None) -> None:
        """Ask the edge to send the list of its clients to the core, because the core may not know them.

        reason            why the core may not know the clients, for the log
        fencing_token     fencing token of the core, as received in its frame
        resend_window_ns  time before the core's last frame from which on the edge's messages to the core are sent again, in ns;
                          None to send no message again
        """
        log.info("edge %d: %s; reporting its clients to the core", self.number, reason)
        if resend_window_ns is not None:
            self._unsent_messages = []  # messages that must be repeated are in _resend_buffer
            self.is_synced = False
        self.fencing_token = fencing_token
        self._resend_window_ns = resend_window_ns
        self._deliver_to_edge([RequestResync()])

    def _deliver_to_edge(self, messages: Sequence[MessageToEdge]) -> None:
        if self.edge_port is not None:
            self.edge_port.deliver_from_core(messages)

    # time

    async def run(self) -> None:
        """Receive frames from the core and send heartbeats to it until cancelled."""
        await self._bus.subscribe(self.subject, self.receive_frame)
        while True:
            wait_ns = self.send_heartbeat_and_get_interval_ns()
            await self._clock.sleep(wait_ns / 1e9)

    def send_heartbeat_and_get_interval_ns(self) -> int:
        """Send the core a heartbeat. If no frame came from it in MAX_SILENCE_BEFORE_LOSS_NS, keep clients' messages for later.

        Return the time after which to call this again, in ns.
        """
        now = self._now_ns()
        if now - self._last_heartbeat_sent_ns > MAX_SILENCE_BEFORE_LOSS_NS // 2:
            # This process was suspended, so frames that arrived meanwhile may still be waiting.
            self._last_frame_ns = max(self._last_frame_ns, now - MAX_SILENCE_BEFORE_LOSS_NS // 2)
        self._last_heartbeat_sent_ns = now
        if self.is_synced and now - self._last_frame_ns > MAX_SILENCE_BEFORE_LOSS_NS:
            log.warning("edge %d: the core is silent; holding messages", self.number)
            self.is_synced = False
        self._publish_frame_to_core(self._make_heartbeat_frame())
        return HEARTBEAT_INTERVAL_NS if self.is_synced else HEARTBEAT_INTERVAL_WITHOUT_CORE_NS
