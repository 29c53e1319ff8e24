"""What has arrived and is not parsed: counted like the library's own parser, and kept without loss."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side

from arena.server.net.arrivals import (
    CONTROL_BURST,
    CONTROLS_PER_SECOND,
    FRAGMENTS_PER_SECOND,
    KEPT_BYTES,
    MOST_FRAGMENTS,
    PIECE_BYTES,
    REQUEST_BYTES,
    Arrival,
    Arrivals,
)
from arena.server.net.frames import FramesSeen
from arena.server.net.limits import HostLimits
from arena.server.net.token_bucket import TokenBucket

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
SECOND = 1_000_000_000
BURST = 12


def unlimited() -> TokenBucket:
    return TokenBucket(1e9, 1_000_000, 0)


def wire(opcode: Opcode, data: bytes = b"", *, final: bool = True) -> bytes:
    return Frame(opcode, data, final).serialize(mask=True)


@st.composite
def message(draw: st.DrawFn) -> bytes:
    """One message in some fragments, with control frames before, between and after them."""
    parts = draw(st.lists(st.binary(max_size=300), min_size=1, max_size=3))
    controls = st.lists(st.sampled_from([Opcode.PING, Opcode.PONG]), max_size=2)
    stream = b""
    for number, part in enumerate(parts):
        stream += b"".join(wire(each, b"?") for each in draw(controls))
        stream += wire(Opcode.CONT if number else Opcode.BINARY, part, final=number == len(parts) - 1)
    return stream


@st.composite
def cuts(draw: st.DrawFn, stream: bytes) -> list[bytes]:
    """A stream, cut into deliveries in any places."""
    places = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    return [stream[start:end] for start, end in pairwise([0, *places, len(stream)]) if start < end]


def by_the_library(parser: Protocol, data: bytes) -> FramesSeen:
    """The frames that the library's own parser finds to be whole after `data`."""
    parser.receive_data(data)
    frames = [event for event in parser.events_received() if isinstance(event, Frame)]
    controls = sum(frame.opcode in (Opcode.PING, Opcode.PONG) for frame in frames)
    fragments = sum(not frame.fin for frame in frames)
    return FramesSeen(len(frames) - controls - fragments, controls, fragments)


def opened(limits: HostLimits | None = None, now: int = 0) -> Arrivals:
    """What arrives on a connection whose request has been counted and parsed."""
    arrivals = Arrivals(limits or HostLimits(message_burst=BURST), now, unlimited)
    arrivals.keep(REQUEST)
    assert arrivals.take() == REQUEST
    assert arrivals.opened(now) is Arrival.DUE
    return arrivals


@given(st.lists(message(), max_size=30).map(b"".join), st.data())
def test_an_overrun_is_found_in_the_delivery_that_ends_one_message_too_many(
    stream: bytes, data: st.DataObject
) -> None:
    arrivals, parser = opened(), Protocol(Side.SERVER)
    parsed = 0
    for piece in data.draw(cuts(stream)):
        parsed += by_the_library(parser, piece).messages
        arrival = arrivals.count(piece, 0)
        if parsed > BURST:
            assert arrival is Arrival.OVERRUN
            assert arrivals.overrun
            assert arrivals.full, "nothing more is read"
            assert not arrivals.bucket.take(SECOND), "and its receiver refuses the next, however late"
            assert arrivals.count(stream, 0) is Arrival.LATER
            return
        assert arrival in (Arrival.DUE, Arrival.LATER)
    assert not arrivals.overrun


@given(message(), st.data())
def test_what_was_parsed_waits_no_more(stream: bytes, data: st.DataObject) -> None:
    arrivals, pieces = opened(), data.draw(cuts(stream))
    for second in range(2 * BURST):
        for piece in pieces:
            assert arrivals.count(piece, second * SECOND) in (Arrival.DUE, Arrival.LATER)
        arrivals.parsed()


@given(st.lists(message(), max_size=12).map(b"".join), st.data())
def test_what_is_kept_comes_out_whole_in_small_pieces_and_the_request_by_itself(
    stream: bytes, data: st.DataObject
) -> None:
    request = REQUEST[:-2] + b"X: " + data.draw(st.integers(0, 2000)) * b"x" + b"\r\n\r\n"
    arrivals = Arrivals(HostLimits(), 0, unlimited)
    taken: list[bytes] = []
    for piece in data.draw(cuts(request + stream)):
        arrivals.keep(piece)
        while len(arrivals) and data.draw(st.booleans()):
            taken.append(arrivals.take())
    while len(arrivals):
        taken.append(arrivals.take())
    assert b"".join(taken) == request + stream
    ends = [sum(map(len, taken[: number + 1])) for number in range(len(taken))]
    assert len(request) in ends, "what follows the request is not taken with it"
    of_request = ends.index(len(request)) + 1
    assert all(0 < len(piece) <= REQUEST_BYTES for piece in taken[:of_request])
    assert all(0 < len(piece) <= PIECE_BYTES for piece in taken[of_request:])


@given(st.lists(st.binary(max_size=40), max_size=5), st.data())
def test_requests_are_taken_one_by_one(targets: list[bytes], data: st.DataObject) -> None:
    requests = [b"GET /" + each.hex().encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n" for each in targets]
    arrivals = Arrivals(HostLimits(), 0, unlimited)
    for piece in data.draw(cuts(b"".join(requests))):
        arrivals.keep(piece)
    for request in requests:
        assert arrivals.take() == request
        arrivals.next_request()
    assert not len(arrivals)


@pytest.mark.parametrize(
    ("frame", "burst", "rate"),
    [
        (wire(Opcode.PING), CONTROL_BURST, CONTROLS_PER_SECOND),
        (wire(Opcode.PONG, b"unasked"), CONTROL_BURST, CONTROLS_PER_SECOND),
        (wire(Opcode.BINARY, b"part", final=False), MOST_FRAGMENTS, FRAGMENTS_PER_SECOND),
    ],
    ids=["pings", "pongs", "fragments"],
)
@given(data=st.data())
def test_frames_that_are_no_messages_are_a_flood_from_the_first_that_is_too_many(
    frame: bytes, burst: int, rate: float, data: st.DataObject
) -> None:
    arrivals, now = opened(), 0
    allowed = float(burst)
    for count in data.draw(st.lists(st.integers(0, burst // 2), max_size=6)):
        pause = data.draw(st.integers(0, 5 * SECOND))
        now += pause
        # A second in whole ns may give a frame more or less than the same second as a fraction.
        allowed = min(burst, allowed + rate * pause / SECOND)
        if abs(allowed - count) < 0.001:
            continue
        arrival = arrivals.count(count * frame, now)
        if count > allowed:
            assert arrival is Arrival.FLOOD
            return
        assert arrival is not Arrival.FLOOD
        allowed -= count


@given(st.integers(1, 3 * CONTROL_BURST), st.data())
def test_a_flood_is_found_wherever_its_stream_is_cut(count: int, data: st.DataObject) -> None:
    arrivals, parser, seen = opened(), Protocol(Side.SERVER), 0
    for piece in data.draw(cuts(count * wire(Opcode.PING, b"anna"))):
        seen += by_the_library(parser, piece).controls
        flood = arrivals.count(piece, 0) is Arrival.FLOOD
        assert flood == (seen > CONTROL_BURST)
        if flood:
            return


def test_what_a_player_has_to_say_is_due_at_once_and_all_else_waits() -> None:
    move = wire(Opcode.BINARY, b"a move")
    assert opened().count(move, 0) is Arrival.DUE
    assert opened().count(wire(Opcode.PONG) + move, 0) is Arrival.DUE
    assert opened().count(2 * wire(Opcode.PONG), 0) is Arrival.LATER
    assert opened().count(wire(Opcode.BINARY, b"part", final=False), 0) is Arrival.LATER
    assert opened().count(wire(Opcode.BINARY, PIECE_BYTES * b"x"), 0) is Arrival.LATER
    assert opened().count(BURST // 2 * move, 0) is Arrival.LATER


def test_who_has_sent_much_waits_until_it_has_been_quiet() -> None:
    arrivals = opened(HostLimits(messages_per_second=1, message_burst=8))
    move = wire(Opcode.BINARY, b"a move")
    for _ in range(4):
        arrivals.count(move, 0)
        arrivals.parsed()
        arrivals.bucket.take(0)
    assert arrivals.count(move, 0) is Arrival.LATER
    arrivals.parsed()
    arrivals.bucket.take(0)
    assert arrivals.count(move, 10 * SECOND) is Arrival.DUE


def test_an_answer_is_known_as_such_only_where_it_was_asked_for_and_comes_alone() -> None:
    move = wire(Opcode.BINARY, b"a move")
    arrivals = opened()
    assert not arrivals.answers(move), "nobody asked"
    arrivals.bucket.allow()
    assert not arrivals.answers(2 * move)
    assert not arrivals.answers(wire(Opcode.PING))
    assert not arrivals.answers(move[:-1])
    assert arrivals.answers(move)
    arrivals.keep(move)
    assert not arrivals.answers(move), "something before it waits to be parsed"


def test_answers_that_were_asked_for_are_never_too_many() -> None:
    arrivals = opened(HostLimits(messages_per_second=0.001, message_burst=1))
    for _ in range(100):
        arrivals.bucket.allow()
    assert arrivals.count(100 * wire(Opcode.BINARY, b"a move"), 0) is not Arrival.OVERRUN


def test_no_more_is_read_while_much_is_kept() -> None:
    arrivals, full = opened(), []
    arrivals.keep((KEPT_BYTES - 1) * b"x")
    full.append(arrivals.full)
    arrivals.keep(b"x")
    full.append(arrivals.full)
    arrivals.take()
    full.append(arrivals.full)
    assert full == [False, True, False]
    assert arrivals.take_all() == (KEPT_BYTES - PIECE_BYTES) * b"x"
    assert len(arrivals) == 0


def test_what_is_due_waits_where_much_is_due_from_its_address() -> None:
    address = TokenBucket(2.0, 2, 0)
    one, other = (Arrivals(HostLimits(), 0, lambda: address) for _ in range(2))
    assert [one.waits(0), other.waits(0), one.waits(0)] == [False, False, True]
    assert [one.quick, other.quick] == [True, False]
    one.keep(b"a move")
    assert one.take() == b"a move"
    assert [one.quick, other.quick] == [False, False]
    assert not other.waits(SECOND)


def test_messages_that_come_together_count_as_so_many_of_their_address() -> None:
    address = TokenBucket(10.0, 10, 0)
    arrivals = Arrivals(HostLimits(), 0, lambda: address)
    arrivals.keep(REQUEST + 4 * wire(Opcode.BINARY, b"a move"))
    arrivals.take()
    assert arrivals.opened(0) is Arrival.DUE, "they came with the request"
    assert not arrivals.waits(0)
    assert address.left(0) == 6


def test_who_keeps_to_the_limit_is_not_cut_off_however_long_its_messages_wait() -> None:
    arrivals = opened(HostLimits(messages_per_second=10, message_burst=BURST))
    for tenth in range(200):
        arrival = arrivals.count(wire(Opcode.BINARY, b"a message"), tenth * (SECOND // 10 + 1))
        assert arrival is not Arrival.OVERRUN
