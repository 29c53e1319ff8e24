"""Frames counted by their heads: as many as there are, however the stream is cut into deliveries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from arena.server.net.frames import NOTHING, FrameCounter, FramesSeen

PLENTY = FramesSeen(10_000, 10_000, 10_000)

sizes = st.one_of(st.integers(0, 130), st.sampled_from([65_535, 65_536, 70_000]))
whole = st.tuples(st.sampled_from([Opcode.TEXT, Opcode.BINARY, Opcode.CONT]), st.just(True), sizes)
begun = st.tuples(st.sampled_from([Opcode.BINARY, Opcode.CONT]), st.just(False), sizes)
control = st.tuples(
    st.sampled_from([Opcode.PING, Opcode.PONG, Opcode.CLOSE]), st.just(True), st.integers(0, 125)
)


def wire(opcode: Opcode, fin: bool, size: int) -> bytes:
    return Frame(opcode, b"x" * size, fin=fin).serialize(mask=True)


SHORT = wire(Opcode.BINARY, True, 20)


def add(one: FramesSeen, other: FramesSeen) -> FramesSeen:
    return FramesSeen(*(a + b for a, b in zip(one, other, strict=True)))


@given(st.lists(st.one_of(whole, begun, control), max_size=12), st.data())
def test_every_frame_is_counted_once_wherever_the_stream_is_cut(
    frames: list[tuple[Opcode, bool, int]], data: st.DataObject
) -> None:
    stream = b"".join(wire(*frame) for frame in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    counter, seen = FrameCounter(), NOTHING
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        seen = add(seen, counter.look(stream[start:end], PLENTY))
    controls = sum(opcode >= Opcode.CLOSE for opcode, _, _ in frames)
    fragments = sum(not fin for _, fin, _ in frames)
    assert seen == FramesSeen(len(frames) - controls - fragments, controls, fragments)


@given(st.lists(st.one_of(whole, begun, control), max_size=6))
def test_frames_that_come_one_by_one_are_told_apart(frames: list[tuple[Opcode, bool, int]]) -> None:
    counter = FrameCounter()
    for opcode, fin, size in frames:
        frame, is_control = wire(opcode, fin, size), opcode >= Opcode.CLOSE
        message = fin and not is_control
        assert counter.is_message(frame) == (message and size < 126)
        assert not counter.is_message(frame[:-1])
        assert not counter.is_message(frame + frame)
        assert counter.look(frame, PLENTY) == FramesSeen(message, is_control, not fin)


def test_what_looks_like_a_message_inside_a_frame_is_none() -> None:
    counter = FrameCounter()
    assert counter.is_message(SHORT)
    counter.look(wire(Opcode.BINARY, True, 2 * len(SHORT))[: -len(SHORT)], PLENTY)
    assert not counter.is_message(SHORT), "it belongs to the frame before"
    assert counter.look(SHORT, PLENTY) == FramesSeen(messages=1)
    assert counter.is_message(SHORT)
    counter.look(SHORT[:1], PLENTY)
    assert not counter.is_message(SHORT)


def test_it_looks_no_further_than_there_is_too_much_of_a_kind() -> None:
    counter = FrameCounter()
    assert counter.look(1000 * SHORT, FramesSeen(5, 9, 9)) == FramesSeen(messages=6)
    counter = FrameCounter()
    pings = wire(Opcode.PING, True, 0)
    assert counter.look(SHORT + 1000 * pings, FramesSeen(9, 5, 9)) == FramesSeen(1, 6)


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_whatever_comes_is_only_counted(pieces: list[bytes]) -> None:
    counter = FrameCounter()
    for piece in pieces:
        assert min(counter.look(piece, PLENTY)) >= 0
