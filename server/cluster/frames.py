"""Frames (parts of message streams) between edge and core processes: encoding, bus subjects, and splitting of long lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from arena.protocol.moves import MovesSnapshot
from arena.server.cluster.bus import MAX_PAYLOAD_BYTES
from arena.server.ports import MessageToCore, MessageToEdge

HEARTBEAT_INTERVAL_NS = 300_000_000
"""Interval between the heartbeats (empty frames) of an edge (holds connections) or a core (runs matches), in ns."""
MAX_SILENCE_BEFORE_LOSS_NS = 4 * HEARTBEAT_INTERVAL_NS
"""Time without a frame, in ns, after which an edge (holds connections) and a core (runs matches) regard each other as lost."""
NEW_STREAM_REQUEST_FRAME_NUMBER = -1
"""Value of `BusFrame.frame_number` with which a core asks an edge for a new stream (run of numbered frames)."""
MAX_FRAME_BODY_BYTES = MAX_PAYLOAD_BYTES - 256
"""Maximum size of a frame's body, in bytes. It leaves room for the frame's other fields within MAX_PAYLOAD_BYTES."""
MAX_MESSAGE_LIST_BYTES = 64 << 20
"""Maximum size of an encoded list of messages that spans several frames, in bytes. Receivers refuse a larger list."""

MessageT = TypeVar("MessageT")


class BusFrame(Struct, frozen=True, array_like=True, gc=False):
    """Numbered part of a stream of messages between an edge (process that holds connections) and a core (that runs matches)."""

    edge_number: int
    """Number of the edge (process that holds connections); 0 in the heartbeats that a core sends to itself."""
    fencing_token: int
    """Fencing token (lease number) of the core that sends or should receive the frame; 0 while the edge knows no core."""
    stream_number: int
    """Number of the edge's stream, a run of consecutive frames. Whenever the edge begins a new stream, it adds one to the number."""
    frame_number: int
    """Sequence number of the frame among its sender's frames in the stream, from 0; or NEW_STREAM_REQUEST_FRAME_NUMBER.

    A heartbeat has the number of its sender's next frame. If an edge begins a new stream because it missed a frame, it
    continues its own numbers, so that the core can still notice a lost frame of the edge.
    """
    is_continued: bool = False
    """True if the list of messages continues in the next frame."""
    body: bytes = b""
    """Encoded list of messages, or a part of it. Empty in a heartbeat."""


class BadBusFrame(ValueError):
    """Raised for an invalid frame, or if earlier frames are missing; the message is a one-line reason."""


def make_core_subject(shard_name: str) -> str:
    """Return the bus subject on which the edges of a shard (a core, and edges that hold connections) publish to the core."""
    return f"arena.{_encode_subject_part(shard_name)}.core"


def make_edge_subject(shard_name: str, edge_number: int) -> str:
    """Return the bus subject on which the core of a shard (a core, and edges that hold connections) publishes to one edge."""
    return f"arena.{_encode_subject_part(shard_name)}.edge.{edge_number}"


def _encode_subject_part(shard_name: str) -> str:
    """Encode a shard's name as one part of a subject. Different names give different parts."""
    return (
        "-"
        if not shard_name
        else "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in shard_name)
    )


_bus_message_encoder = msgspec.msgpack.Encoder(enc_hook=MovesSnapshot.encode_hook)
_bus_frame_decoder = msgspec.msgpack.Decoder(BusFrame)
MESSAGES_TO_CORE_DECODER: msgspec.msgpack.Decoder[list[MessageToCore]] = msgspec.msgpack.Decoder(
    list[MessageToCore]
)
MESSAGES_TO_EDGE_DECODER: msgspec.msgpack.Decoder[list[MessageToEdge]] = msgspec.msgpack.Decoder(
    list[MessageToEdge]
)
"""Decoder of messages from a core (runs matches) to an edge (holds connections). MESSAGES_TO_CORE_DECODER: the inverse."""


def encode_frame(frame: BusFrame) -> bytes:
    """Encode a frame in msgpack, as it is published on the bus."""
    return _bus_message_encoder.encode(frame)


def decode_frame(payload: bytes) -> BusFrame:
    """Decode a frame. Raises BadBusFrame for bytes that are not a frame."""
    try:
        return _bus_frame_decoder.decode(payload)
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadBusFrame(f"not a frame: {error}") from None


def split_into_frames(
    messages: Sequence[MessageToCore] | Sequence[MessageToEdge], heartbeat_frame: BusFrame
) -> Iterator[BusFrame]:
    """Encode a list of messages, and yield the frames that send it.

    heartbeat_frame: heartbeat (empty frame) that the sender would send now; the first yielded frame gets the same number
    """
    body = _bus_message_encoder.encode(messages)
    for index, start in enumerate(range(0, len(body), MAX_FRAME_BODY_BYTES)):
        end = start + MAX_FRAME_BODY_BYTES
        yield BusFrame(
            heartbeat_frame.edge_number,
            heartbeat_frame.fencing_token,
            heartbeat_frame.stream_number,
            heartbeat_frame.frame_number + index,
            end < len(body),
            body[start:end],
        )


class FrameReceiver(Generic[MessageT]):
    """Receiver of one sender's frames in one stream, which joins the lists of messages that span several frames."""

    def __init__(self, decoder: msgspec.msgpack.Decoder[list[MessageT]], first_frame_number: int = 0) -> None:
        """Prepare to receive the frames of one stream, from number `first_frame_number` on.

        decoder  decoder of the messages in the frames: MESSAGES_TO_CORE_DECODER or MESSAGES_TO_EDGE_DECODER
        """
        self.next_frame_number = first_frame_number
        """Expected number of the next frame."""
        self._decoder = decoder
        self._partial_list = b""
        """Parts received so far of a list that spans several frames; empty if no list is incomplete."""

    def receive_frame(self, frame: BusFrame) -> list[MessageT]:
        """Return the list of messages that a frame completes.

        The list is empty for a heartbeat, for a repeated frame, and for a frame whose list continues in the next one.

        Raises BadBusFrame if earlier frames are missing, or if the list is invalid or larger than MAX_MESSAGE_LIST_BYTES.
        """
        if frame.frame_number < self.next_frame_number:
            return []
        if frame.frame_number > self.next_frame_number:
            raise BadBusFrame(
                f"{frame.frame_number - self.next_frame_number} frames of the stream are missing"
            )
        if not frame.body:
            return []
        self.next_frame_number += 1
        body = self._partial_list + frame.body if self._partial_list else frame.body
        if frame.is_continued:
            if len(body) > MAX_MESSAGE_LIST_BYTES:
                raise BadBusFrame(
                    f"a list of messages may have at most {MAX_MESSAGE_LIST_BYTES} bytes, but this one has {len(body)} or more"
                )
            self._partial_list = body
            return []
        self._partial_list = b""
        try:
            return self._decoder.decode(body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise BadBusFrame(f"the body of a frame is not a list of messages: {error}") from None
