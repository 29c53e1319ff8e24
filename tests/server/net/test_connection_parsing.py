"""What a client sends is received as the library alone understands it, however its stream is cut into deliveries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from time import monotonic_ns

import anyio
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side, State
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from arena.server.host import Host, open_host
from arena.server.lobby.dispatch import Dispatch
from arena.server.net.connection import Connection
from arena.server.net.limits import HostLimits
from tests.properties import examples

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
class Received:
    """What came of a stream."""

    messages: list[bytes | str] = field(default_factory=list)
    close_code: int | None = None


@dataclass
class Expected:
    """What is to come of a stream."""

    messages: list[bytes | str] = field(default_factory=list)
    close_codes: set[int | None] = field(default_factory=lambda: {None})
    """Which of two faults is told depends on whether both come in one delivery."""

    def fits(self, received: Received) -> bool:
        return self.messages == received.messages and received.close_code in self.close_codes


def by_the_library(stream: bytes) -> Expected:
    """What the library makes of the stream at once; messages are put together here in another way."""
    protocol = Protocol(Side.SERVER, max_size=HostLimits().message_bytes)
    protocol.receive_data(stream)
    expected = Expected()
    opened: list[Frame] = []
    for event in protocol.events_received():
        if not isinstance(event, Frame) or event.opcode not in DATA:
            continue
        opened.append(event)
        if event.fin:
            whole = b"".join(bytes(each.data) for each in opened)
            try:
                expected.messages.append(whole.decode() if opened[0].opcode is Opcode.TEXT else whole)
            except UnicodeDecodeError:
                expected.close_codes = {1007}
                break
            opened = []
    client = Protocol(Side.CLIENT)
    client.receive_data(b"".join(protocol.data_to_send()))
    client.receive_eof()
    if protocol.state is not State.OPEN:
        expected.close_codes = expected.close_codes - {None} | {client.close_code}
    return expected


@dataclass
class Keep:
    """A receiver that keeps what it is given. It pauses after some messages, and resumes later."""

    connection: Connection
    received: Received = field(default_factory=Received)
    pausing: bool = False
    times: list[int] = field(default_factory=list)

    def receive(self, message: bytes | str, at: int) -> None:
        assert at <= monotonic_ns()
        self.received.messages.append(message)
        self.times.append(at)
        if self.pausing and len(self.received.messages) % 3 == 1:
            self.connection.pause()

            async def resume() -> None:
                await anyio.sleep(0.001)
                assert self.received.messages[-1] is message, "given while it was paused"
                self.connection.resume()

            self.connection.start_soon(resume)

    def closed(self, fault: str | None) -> None:
        self.received.messages.append(f"closed: {fault is not None}")


@dataclass
class Sent:
    """What a client sends on one connection."""

    stream: bytes
    cuts: list[int] = field(default_factory=list)
    """Where it is cut into deliveries."""
    pausing: bool = False
    """Whether its receiver pauses now and then."""


async def by_a_connection(host: Host, kept: list[Keep], sent: Sent) -> Received:
    """What the receiver of a connection is given, and how the client finds the connection closed."""
    expected = by_the_library(sent.stream)
    options = {"subprotocols": [Subprotocol(SUBPROTOCOL)], "compression": None}
    async with connect(host.url, **options) as client:  # type: ignore[arg-type]
        keep = kept[-1]
        keep.pausing = sent.pausing
        received = keep.received
        for start, end in pairwise([0, *sent.cuts, len(sent.stream)]):
            if client.state is not State.OPEN:
                break  # the server has found a fault already
            client.transport.write(sent.stream[start:end])
            await anyio.sleep(0.0005 if sent.cuts else 0)
        await until(lambda: len(received.messages) >= len(expected.messages))
        if expected.close_codes == {None}:
            await client.close()
            await until(lambda: received.messages[-1:] == ["closed: False"])
        else:
            await client.wait_closed()
            await until(lambda: received.messages[-1:] == ["closed: True"])
            received.close_code = client.close_code
        received.messages.pop()
    assert keep.times == sorted(keep.times)
    return received


def by_connections(each: list[Sent]) -> list[Received]:
    """What comes of each, on one server."""
    kept: list[Keep] = []

    def keep(connection: Connection, _dispatch: Dispatch, _limits: HostLimits) -> Keep:
        kept.append(Keep(connection))
        return kept[-1]

    async def run() -> list[Received]:
        async with open_host(receiver=keep) as host:
            return [await by_a_connection(host, kept, sent) for sent in each]

    return anyio.run(run)


async def until(done: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not done():
            await anyio.sleep(0.001)


def cut(frames: list[bytes], places: list[int], pausing: bool) -> Sent:
    stream = b"".join(frames)
    return Sent(stream, sorted(place for place in places if place < len(stream)), pausing)


sent = st.builds(
    cut, st.lists(frames, max_size=12), st.lists(st.integers(0, 1500), max_size=6), st.booleans()
)


def test_after_a_text_that_is_none_no_message_is_taken_though_it_was_parsed_already() -> None:
    def masked(opcode: Opcode, data: bytes) -> bytes:
        return wire(opcode, data, final=True, reserved=False, masked=True)

    no_text = masked(Opcode.TEXT, "é".encode()[:1])
    one, other = masked(Opcode.BINARY, b"one"), masked(Opcode.BINARY, b"other")
    fault = wire(Opcode.BINARY, b"", final=True, reserved=True, masked=True)
    for stream in (one + no_text + other, one + no_text + other + fault):
        [received] = by_connections([Sent(stream)])
        assert received.messages == [b"one"]
        assert received.close_code in {1002, 1007}


@examples(8)
@given(st.lists(sent, min_size=1, max_size=10))
def test_what_comes_in_any_deliveries_is_what_the_library_makes_of_it(each: list[Sent]) -> None:
    found = [
        (by_the_library(sent.stream), received)
        for sent, received in zip(each, by_connections(each), strict=True)
    ]
    assert [(expected, received) for expected, received in found if not expected.fits(received)] == []


def test_what_comes_in_a_flood_is_given_as_what_comes_alone() -> None:
    messages: list[bytes | str] = [b"%d" % number for number in range(500)]
    wires = [Frame(Opcode.BINARY, b"%d" % number).serialize(mask=True) for number in range(500)]
    alone = list(accumulate(len(wire) for wire in wires[:20]))[:-1]
    flood, few = by_connections([Sent(b"".join(wires)), Sent(b"".join(wires[:20]), alone)])
    assert flood.messages == messages
    assert few.messages == messages[:20]
