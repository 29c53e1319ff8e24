"""Messages on their way to their receiver: each once, whole and in order, whatever is asked of the connection meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from arena.server.net.delivery import READY_MESSAGES, Delivery


@dataclass
class Keep:
    """A receiver that keeps what it is given, with the turn of the event loop in which it was."""

    on_message: Callable[[Delivery, int], None] = lambda _delivery, _number: None
    """Called with the delivery and the number of each message."""
    messages: list[bytes | str] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    faults: list[str | None] = field(default_factory=list)
    idle: int = 0
    failed: int = 0
    turn: int = 0

    def __post_init__(self) -> None:
        self.delivery = Delivery(self, self._note_idle, self._note_failed)

    def receive(self, message: bytes | str, at: int) -> None:
        assert not self.faults, "a message after the end"
        self.messages.append(message)
        self.times.append(at)
        self.turns.append(self.turn)
        self.on_message(self.delivery, len(self.messages) - 1)

    def closed(self, fault: str | None) -> None:
        self.faults.append(fault)

    def _note_idle(self) -> None:
        self.idle += 1

    def _note_failed(self) -> None:
        self.failed += 1

    def count_turns(self) -> None:
        """Count the turns of the event loop from now on, each at its beginning."""
        self.turn += 1
        asyncio.get_running_loop().call_soon(self.count_turns)


async def turns(number: int) -> None:
    """Let the event loop have so many turns."""
    for _ in range(number):
        await asyncio.sleep(0)


def whole(data: bytes) -> Frame:
    return Frame(Opcode.BINARY, data)


steps = st.lists(
    st.sampled_from(["add", "add", "add", "give", "pause", "resume", "turn", "turn"]), max_size=40
)
inside = st.sampled_from(["nothing", "nothing", "pause", "resume", "pause and resume"])


@given(steps, st.lists(inside, max_size=40), st.one_of(st.none(), st.just("a fault")))
def test_each_message_is_given_once_and_in_order_and_none_while_it_is_paused(
    steps: list[str], inside: list[str], fault: str | None
) -> None:
    paused = False

    def meddle(delivery: Delivery, number: int) -> None:
        nonlocal paused
        assert not paused, "given while it was paused"
        what = inside[number] if number < len(inside) else "nothing"
        if "pause" in what:
            delivery.pause()
            paused = True
        if "resume" in what:
            paused = False
            delivery.resume()

    async def run() -> None:
        nonlocal paused
        keep, numbers = Keep(meddle), count()
        delivery, sent = keep.delivery, []
        for step in [*steps, "end"]:
            match step:
                case "add":
                    number = next(numbers)
                    sent.append(b"%d" % number)
                    delivery.add(whole(sent[-1]), number)
                case "give":
                    delivery.give()
                case "pause":
                    delivery.pause()
                    paused = True
                case "resume":
                    paused = False
                    delivery.resume()
                case "turn":
                    await turns(1)
                case "end":
                    delivery.finish(fault)
                    assert not (keep.faults and len(keep.messages) < len(sent)), "closed before the last"
            assert keep.messages == sent[: len(keep.messages)]
        while len(keep.messages) < len(sent) or not keep.faults:
            paused = False
            delivery.resume()
            await turns(1)
        assert keep.messages == sent
        assert keep.times == list(range(len(sent)))
        await turns(3)
        assert keep.faults == [fault], "it is told once that the connection is over"

    asyncio.run(run())


@given(st.integers(0, 30), st.lists(inside, max_size=30))
def test_of_many_messages_one_is_given_in_a_turn(many: int, inside: list[str]) -> None:
    def meddle(delivery: Delivery, number: int) -> None:
        what = inside[number] if number < len(inside) else "nothing"
        if what != "nothing":
            delivery.pause()
            delivery.resume()

    async def run() -> None:
        keep = Keep(meddle)
        keep.count_turns()
        for number in range(many):
            keep.delivery.add(whole(b"%d" % number), number)
        keep.delivery.give()
        await turns(many)
        assert len(keep.messages) == many
        assert len(set(keep.turns)) == many, "two in one turn"

    asyncio.run(run())


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=20)), min_size=1, max_size=6), st.data())
def test_fragments_make_the_message_that_they_were_cut_from(
    messages: list[tuple[bool, str]], data: st.DataObject
) -> None:
    async def run() -> None:
        keep = Keep()
        for number, (is_text, text) in enumerate(messages):
            encoded = text.encode()
            cuts = sorted(data.draw(st.lists(st.integers(0, len(encoded)), max_size=4)))
            parts = [encoded[a:b] for a, b in zip([0, *cuts], [*cuts, len(encoded)], strict=True)]
            for place, part in enumerate(parts):
                kind = Opcode.CONT if place else Opcode.TEXT if is_text else Opcode.BINARY
                keep.delivery.add(Frame(kind, part, fin=place == len(parts) - 1), 10 * number + place)
                keep.delivery.give()
        await turns(len(messages))
        assert keep.messages == [text if is_text else text.encode() for is_text, text in messages]
        assert [at // 10 for at in keep.times] == list(range(len(messages))), "the time of its last fragment"

    asyncio.run(run())


def is_text(data: bytes) -> bool:
    return data.decode(errors="replace").encode() == data


@given(st.binary(max_size=12), st.integers(0, 12))
def test_text_that_is_none_is_refused_where_its_message_ends_and_binary_never(data: bytes, cut: int) -> None:
    async def run() -> None:
        keep = Keep()
        keep.delivery.add(Frame(Opcode.BINARY, data), 0)
        keep.delivery.give()
        assert keep.messages == [data]
        keep.delivery.add(Frame(Opcode.TEXT, data[:cut], fin=False), 1)
        last = Frame(Opcode.CONT, data[cut:])
        if is_text(data):
            keep.delivery.add(last, 2)
            keep.delivery.give()
            assert keep.messages == [data, data.decode()]
        else:
            with pytest.raises(UnicodeDecodeError):
                keep.delivery.add(last, 2)
            keep.delivery.give()
            assert keep.messages == [data]

    asyncio.run(run())


@pytest.mark.parametrize("paused", [False, True])
async def test_after_a_drop_only_the_end_is_told(paused: bool) -> None:
    keep = Keep()
    for number in range(3):
        keep.delivery.add(whole(b"%d" % number), number)
    if paused:
        keep.delivery.pause()
    keep.delivery.drop()
    await turns(3)
    assert keep.messages == []
    keep.delivery.finish("a fault")
    assert keep.faults == ["a fault"]


async def test_a_drop_after_the_end_of_a_paused_connection_lets_the_end_be_told() -> None:
    keep = Keep()
    keep.delivery.pause()
    keep.delivery.add(whole(b"too late"), 1)
    keep.delivery.finish(None)
    assert keep.faults == []
    keep.delivery.drop()
    await turns(1)
    assert keep.messages == []
    assert keep.faults == [None]


async def test_it_is_told_once_when_more_may_be_parsed() -> None:
    keep = Keep()
    delivery = keep.delivery
    assert delivery.ready()
    for number in range(READY_MESSAGES):
        delivery.add(whole(b"%d" % number), number)
    assert not delivery.ready()
    delivery.give()
    await turns(READY_MESSAGES)
    assert len(keep.messages) == READY_MESSAGES
    assert keep.idle == 1
    delivery.pause()
    assert not delivery.ready()
    delivery.resume()
    assert keep.idle == 2
    delivery.give()
    assert keep.idle == 2, "nobody has asked since"


async def test_a_receiver_that_fails_is_logged_and_the_next_message_is_given(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail_first(_delivery: Delivery, number: int) -> None:
        if number == 0:
            raise ValueError("a fault of the receiver")

    keep = Keep(fail_first)
    for number in range(2):
        keep.delivery.add(whole(b"%d" % number), number)
    with caplog.at_level(logging.ERROR, "arena.connection"):
        keep.delivery.give()
        await turns(1)
    assert keep.failed == 1
    assert keep.messages == [b"0", b"1"]
    [record] = caplog.records
    assert record.exc_info is not None
    assert "a fault of the receiver" in str(record.exc_info[1])
