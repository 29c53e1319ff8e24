"""Link of a core process (which runs matches) to the edge processes (which hold connections), over the message bus.

The link sends and receives lists of messages in frames, for the shell, which runs the core."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from arena.clock import TimeSource
from arena.server.cluster.bus import Bus
from arena.server.cluster.frames import (
    HEARTBEAT_INTERVAL_NS,
    MAX_SILENCE_BEFORE_LOSS_NS,
    MESSAGES_TO_CORE_DECODER,
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
from arena.server.core.inputs import EdgeResynced, MessageReceived, TurnSent
from arena.server.ports import CorePort, EdgePort, MessageToCore, MessageToEdge

log = logging.getLogger("arena.link")


class ShellPort(CorePort, Protocol):
    """Interface of the shell, which runs the core (the state machine of an arena) and does the I/O that the core requests."""

    def attach_edge(self, edge_number: int, edge_port: EdgePort) -> None:
        """From now on, send messages for the edge (holder of connections) `edge_number` by `edge_port.deliver_from_core`."""
        ...

    def detach_edge(self, edge_number: int) -> None:
        """Forget the lost edge (process that holds connections) with number `edge_number`, and disconnect its clients."""
        ...


class LeadershipLost(Exception):
    """Raised when this core no longer leads: another core has a higher fencing token, or the bus is unavailable."""


class RemoteEdge:
    """Sender of a core's messages to an edge (holder of connections), as frames over the bus. Implements `EdgePort`."""

    def __init__(self, bus: Bus, subject: str, edge_number: int, fencing_token: int) -> None:
        """Prepare to send frames to the edge process `edge_number`, on the bus subject `subject`.

        fencing_token: number of the core's lease, which each frame contains
        """
        self.number = edge_number
        self.stream_number = 0
        """Number of the edge's current stream (run of consecutive frames); 0 before the first."""
        self.last_frame_ns = 0
        """Time of the last frame from the edge (process that holds connections), in monotonic ns."""
        self.is_synced = False
        """True once the edge (process that holds connections) has sent the list of its clients to this core."""
        self.frame_receiver = FrameReceiver[MessageToCore](MESSAGES_TO_CORE_DECODER)
        self._bus = bus
        self._subject = subject
        self._fencing_token = fencing_token
        self._sent_frame_count = 0
        self._requested_stream_number: int | None = None
        """Number of the stream that this core has asked the edge to replace; None if it has not asked since its last heartbeat."""

    def begin_two_way_stream(self, stream_number: int, first_incoming_frame_number: int) -> None:
        """Begin a new stream of frames in both directions between the core and the edge.

        stream_number                number of the stream
        first_incoming_frame_number  number of the first frame expected from the edge in this stream
        """
        self.stream_number = stream_number
        self.frame_receiver = FrameReceiver[MessageToCore](
            MESSAGES_TO_CORE_DECODER, first_incoming_frame_number
        )
        self._sent_frame_count = 0

    def deliver_from_core(self, messages: Sequence[MessageToEdge]) -> None:
        for frame in split_into_frames(messages, self._make_heartbeat_frame()):
            self._publish_frame_to_edge(frame)
            self._sent_frame_count += 1

    def send_heartbeat(self) -> None:
        """Send a heartbeat (empty frame), from which the edge learns how many frames it should have received."""
        self._publish_frame_to_edge(self._make_heartbeat_frame())
        self._requested_stream_number = None

    def _make_heartbeat_frame(self) -> BusFrame:
        return BusFrame(self.number, self._fencing_token, self.stream_number, self._sent_frame_count)

    def request_new_stream(self, stream_number: int) -> None:
        """Ask the edge process to replace stream number `stream_number` by a new one, but only once between two heartbeats."""
        if self._requested_stream_number != stream_number:
            self._requested_stream_number = stream_number
            self._publish_frame_to_edge(
                BusFrame(self.number, self._fencing_token, stream_number, NEW_STREAM_REQUEST_FRAME_NUMBER)
            )

    def _publish_frame_to_edge(self, frame: BusFrame) -> None:
        self._bus.publish(self._subject, encode_frame(frame))


class CoreSideLink:
    """Link between the shell, which runs the core, and a shard's edges (processes that hold clients' connections).

    The clocks of processes differ, so the link replaces the time at which a message arrived at an edge by the time at
    which the message arrives at the link. Durations that an edge has measured stay unchanged.
    """

    def __init__(
        self, bus: Bus, shard_name: str, fencing_token: int, shell: ShellPort, *, clock: TimeSource
    ) -> None:
        """Prepare the link of the core that leads a shard (a core with its edges).

        bus: connection to the message bus
        shard_name: name of the shard
        fencing_token: fencing token of the core: the number of its lease, which is higher after each takeover
        shell: receiver of the messages from the edges
        """
        self.edges: dict[int, RemoteEdge] = {}
        """Edges (processes that hold connections) that have sent frames to this core and are not lost, by number."""
        self.leadership_loss_reason = ""
        """Reason why this core no longer leads; empty while it leads."""
        self._bus = bus
        self.subject = make_core_subject(shard_name)
        """Bus subject on which the core receives the frames of all edges (processes that hold connections)."""
        self._shard_name = shard_name
        self._fencing_token = fencing_token
        self._shell = shell
        self._clock = clock
        self._now_ns = clock.now_ns
        self._own_heartbeat_received_ns = self._last_heartbeat_sent_ns = clock.now_ns()

    # from the edges

    def receive_frame(self, payload: bytes) -> None:
        """Handle a frame from an edge, or a heartbeat of this core or of a core that has replaced it.

        This core's own heartbeats come back over the bus, and show that the bus is available. An invalid frame is
        dropped and logged.
        """
        try:
            frame = decode_frame(payload)
        except BadBusFrame as error:
            log.warning("core %d: %s", self._fencing_token, error)
            return
        if frame.fencing_token > self._fencing_token:
            self.leadership_loss_reason = self.leadership_loss_reason or f"core {frame.fencing_token} leads"
        elif not frame.edge_number:
            if frame.fencing_token == self._fencing_token:
                self._own_heartbeat_received_ns = self._now_ns()
        else:
            self._handle_frame(frame)

    def _handle_frame(self, frame: BusFrame) -> None:
        edge = self._find_or_add_edge(frame.edge_number)
        edge.last_frame_ns = self._now_ns()
        is_new_stream = frame.stream_number > edge.stream_number
        continues_stream = (
            frame.stream_number == edge.stream_number + 1
            and frame.frame_number == edge.frame_receiver.next_frame_number
        )
        if frame.fencing_token != self._fencing_token or (
            is_new_stream and ((frame.frame_number and not continues_stream) or not frame.body)
        ):
            edge.request_new_stream(frame.stream_number)
            return
        if is_new_stream:
            edge.begin_two_way_stream(frame.stream_number, frame.frame_number)
        elif frame.stream_number < edge.stream_number:
            return
        try:
            messages = edge.frame_receiver.receive_frame(frame)
        except BadBusFrame as error:
            log.info("edge %d: %s; asking which clients it has", edge.number, error)
            edge.request_new_stream(frame.stream_number)
            return
        if messages:
            self._submit_to_shell(edge, messages)

    def _find_or_add_edge(self, edge_number: int) -> RemoteEdge:
        edge = self.edges.get(edge_number)
        if edge is None:
            subject = make_edge_subject(self._shard_name, edge_number)
            edge = self.edges[edge_number] = RemoteEdge(self._bus, subject, edge_number, self._fencing_token)
        return edge

    def _submit_to_shell(self, edge: RemoteEdge, messages: list[MessageToCore]) -> None:
        shell, now = self._shell, self._now_ns()
        for message in messages:
            if isinstance(message, MessageReceived):
                shell.submit(MessageReceived(message.client_number, message.message, now, message.elapsed_ns))
            elif isinstance(message, TurnSent):
                shell.submit(
                    TurnSent(
                        message.client_number, message.match_id, message.ply, now, message.min_round_trip_ns
                    )
                )
            else:
                if isinstance(message, EdgeResynced) and not edge.is_synced:
                    edge.is_synced = True
                    shell.attach_edge(edge.number, edge)
                shell.submit(message)

    # time

    async def run(self) -> None:
        """Receive frames and send heartbeats until cancelled. Raises LeadershipLost once this core no longer leads."""
        await self._bus.subscribe(self.subject, self.receive_frame)
        while True:
            self.send_heartbeat()
            if self.leadership_loss_reason:
                raise LeadershipLost(self.leadership_loss_reason)
            await self._clock.sleep(HEARTBEAT_INTERVAL_NS / 1e9)

    def send_heartbeat(self) -> None:
        """Send a heartbeat to each edge process and to the core itself. Report the lost edges to the shell (the core's I/O).

        Set `leadership_loss_reason` if the core no longer receives its own heartbeats. This method must be called every
        HEARTBEAT_INTERVAL_NS.
        """
        now = self._now_ns()
        if now - self._last_heartbeat_sent_ns > MAX_SILENCE_BEFORE_LOSS_NS // 2:
            # This process was suspended, so frames that arrived meanwhile may still be waiting.
            self._own_heartbeat_received_ns = max(
                self._own_heartbeat_received_ns, now - MAX_SILENCE_BEFORE_LOSS_NS // 2
            )
            for edge in self.edges.values():
                edge.last_frame_ns = max(edge.last_frame_ns, now - MAX_SILENCE_BEFORE_LOSS_NS // 2)
        self._last_heartbeat_sent_ns = now
        # The core receives its own heartbeat. If it does not, the bus is unavailable, and the edges are not lost.
        self._bus.publish(self.subject, encode_frame(BusFrame(0, self._fencing_token, 0, 0)))
        if now - self._own_heartbeat_received_ns > MAX_SILENCE_BEFORE_LOSS_NS:
            self.leadership_loss_reason = self.leadership_loss_reason or "the bus is unavailable"
            return
        for number, edge in list(self.edges.items()):
            if now - edge.last_frame_ns <= MAX_SILENCE_BEFORE_LOSS_NS:
                edge.send_heartbeat()
            elif now - self._own_heartbeat_received_ns < 2 * HEARTBEAT_INTERVAL_NS:
                log.warning("edge %d is gone", number)
                del self.edges[number]
                if edge.is_synced:
                    self._shell.detach_edge(number)
