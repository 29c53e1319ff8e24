"""What a player sends is understood as the library understands it, also where the guard reads it by itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side
from websockets.typing import Subprotocol

from protocol.messages import SUBPROTOCOL
from server.host import open_host
from server.lobby.dispatch import Dispatch
from server.net.connection import GuardedConnection
from server.net.limits import HostLimits

DATA = {Opcode.BINARY, Opcode.TEXT, Opcode.CONT}


def wire(opcode: Opcode, data: bytes, final: bool, reserved: bool, masked: bool) -> bytes:
    """A frame, also one that no client may send."""
    frame = bytearray(Frame(opcode, data, final or opcode not in DATA).serialize(mask=masked))
    frame[0] |= 0x40 * reserved
    return bytes(frame)


often = st.sampled_from([True] * 12 + [False])
frames = st.builds(
    wire,
    st.sampled_from([Opcode.BINARY] * 4 + [Opcode.TEXT, Opcode.CONT, Opcode.PING, Opcode.PONG]),
    st.text(max_size=125).map(lambda text: text.encode()[:125]),
    st.sampled_from([True] * 4 + [False]),
    often.map(lambda usual: not usual),
    often,
)


@dataclass
class Understood:
    """What came of some deliveries."""

    messages: list[bytes] = field(default_factory=list)
    """Binary messages that are one frame, and the first frames of others."""
    close_code: int | None = None
    parsed: int = field(default=0, compare=False)
    """Deliveries that the library was given."""


def by_the_library(deliveries: list[bytes]) -> Understood:
    protocol = Protocol(Side.SERVER, max_size=HostLimits().message_bytes)
    for delivery in deliveries:
        protocol.receive_data(delivery)
    messages = [
        bytes(event.data)
        for event in protocol.events_received()
        if isinstance(event, Frame) and event.opcode is Opcode.BINARY
    ]
    return Understood(messages, protocol.close_sent.code if protocol.close_sent else None)


def by_the_guard(deliveries: list[bytes]) -> Understood:
    understood = Understood()

    def listen(message: bytes) -> bool:
        understood.messages.append(message)
        return True

    async def serve_one(connection: GuardedConnection, _dispatch: Dispatch, _limits: HostLimits) -> None:
        connection.listener = listen
        connection.bucket.asked = 1_000_000
        receive = connection.protocol.receive_data

        def parse(data: bytes | bytearray) -> None:
            understood.parsed += 1
            receive(data)

        connection.protocol.receive_data = parse  # type: ignore[method-assign]
        for delivery in deliveries:
            connection.data_received(delivery)
            while connection._unparsed:  # in a lane
                await anyio.sleep(0.001)
            # what the listener is not given is read by a task
            while len(connection.recv_messages.frames):
                frame = await connection.recv_messages.frames.get()
                if frame.opcode is Opcode.BINARY:
                    understood.messages.append(bytes(frame.data))
        connection.protocol.receive_data = receive  # type: ignore[method-assign]
        sent = connection.protocol.close_sent
        understood.close_code = sent.code if sent else None

    async def run() -> None:
        async with (
            open_host(serve_one=serve_one) as host,
            connect(host.url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None) as client,
        ):
            await client.wait_closed()

    anyio.run(run)
    return understood


@settings(max_examples=60, deadline=None)
@given(st.lists(frames, max_size=12))
def test_the_guard_hears_what_the_library_would(deliveries: list[bytes]) -> None:
    assert by_the_guard(deliveries) == by_the_library(deliveries)


@given(st.lists(st.binary(min_size=1, max_size=125), min_size=1, max_size=5))
@settings(max_examples=20, deadline=None)
def test_short_messages_are_heard_without_the_library_after_the_first(messages: list[bytes]) -> None:
    understood = by_the_guard([Frame(Opcode.BINARY, each).serialize(mask=True) for each in messages])
    assert understood.messages == messages
    assert understood.parsed == 1
