"""What holds for every form of the bus."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.server.bus.bus import (
    MAX_PAYLOAD,
    WAITING_BYTES,
    Bus,
    BusAway,
    Message,
    NoAnswer,
    NobodyListens,
    check_message,
    check_pattern,
    matches,
)
from tests.properties import examples
from tests.server.bus.buses import Join

tokens = st.sampled_from(["a", "b", "room-1", "X_2"])
subjects = st.lists(tokens, min_size=1, max_size=4).map(".".join)
patterns = st.tuples(st.lists(st.one_of(tokens, st.just("*")), min_size=1, max_size=4), st.booleans()).map(
    lambda made: ".".join([*made[0], ">"] if made[1] else made[0])
)


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not true():
            await anyio.sleep(0.001)


async def settle(bus: Bus, *, on: str) -> None:
    """Wait until what was published before has come to whom it comes."""
    got: list[Message] = []
    mark = await bus.subscribe(f"{on}.mark", got.append)
    assert bus.publish(f"{on}.mark", b"")
    await until(lambda: bool(got))
    await mark.end()


def own() -> str:
    """A token that no other test and no other example has: all are on one NATS."""
    return f"t{uuid.uuid4().hex}"


@pytest.mark.parametrize(
    ("pattern", "subject", "expected"),
    [
        ("a.b", "a.b", True),
        ("a.b", "a.c", False),
        ("a.b", "a.b.c", False),
        ("a.*", "a.b", True),
        ("a.*", "a", False),
        ("a.*", "a.b.c", False),
        ("a.>", "a.b.c", True),
        ("a.>", "a", False),
        ("*.b.>", "a.b.c", True),
        (">", "a", True),
    ],
)
def test_a_subscription_is_to_these_subjects(pattern: str, subject: str, expected: bool) -> None:
    assert matches(tuple(pattern.split(".")), tuple(subject.split("."))) is expected


@pytest.mark.parametrize(
    "bad", ["", ".", "a.", ".a", "a..b", "a b", "a\r\nPUB b 0", "a.*", ">", "ä", "a" * 256]
)
def test_what_is_no_subject_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="is no subject"):
        check_message(bad, b"")


@pytest.mark.parametrize("bad", ["", "a.>.b", "a.b*", "a..>", "a >", "a\n"])
def test_what_is_no_pattern_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="nothing that one can subscribe to"):
        check_pattern(bad)


@given(
    wanted=st.lists(patterns, min_size=1, max_size=3),
    sent=st.lists(st.tuples(subjects, st.binary(max_size=20)), max_size=12),
)
@settings(examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_every_subscription_gets_its_messages_in_their_order(
    join: Join, wanted: list[str], sent: list[tuple[str, bytes]]
) -> None:
    root = own()
    async with join() as sender, join() as reader:
        got: list[list[Message]] = [[] for _ in wanted]
        for pattern, into in zip(wanted, got, strict=True):
            await reader.subscribe(f"{root}.{pattern}", into.append)
        for subject, payload in sent:
            assert sender.publish(f"{root}.{subject}", payload)
        end: list[Message] = []
        await reader.subscribe(f"end-{root}", end.append)
        sender.publish(f"end-{root}", b"")
        await until(lambda: bool(end))
        for pattern, into in zip(wanted, got, strict=True):
            expected = [
                Message(f"{root}.{subject}", payload, "")
                for subject, payload in sent
                if matches(tuple(pattern.split(".")), tuple(subject.split(".")))
            ]
            await until(lambda into=into, expected=expected: len(into) >= len(expected))  # type: ignore[misc]
            assert into == expected
        assert sender.dropped == reader.dropped == 0


async def test_who_publishes_gets_its_own_messages_too_but_not_at_once(join: Join) -> None:
    async with join() as bus:
        got: list[Message] = []
        subject = own()
        await bus.subscribe(subject, got.append)
        assert bus.publish(subject, b"x", "answer.to")
        assert not got, "whoever publishes has not finished what it is doing"
        await until(lambda: bool(got))
        assert got == [Message(subject, b"x", "answer.to")]


async def test_nothing_comes_after_the_end_of_a_subscription(join: Join) -> None:
    async with join() as bus:
        got: list[Message] = []
        subject = own()
        ended = await bus.subscribe(subject, got.append)
        bus.publish(subject, b"before")
        await until(lambda: bool(got))
        await ended.end()
        await ended.end()
        bus.publish(subject, b"after")
        await settle(bus, on=own())
        assert [each.payload for each in got] == [b"before"]


async def test_a_handler_that_fails_gets_the_next_message_all_the_same(
    join: Join, caplog: pytest.LogCaptureFixture
) -> None:
    async with join() as bus:
        got: list[bytes] = []
        subject = own()

        def handler(message: Message) -> None:
            if message.payload == b"bad":
                raise RuntimeError("this one")
            got.append(message.payload)

        await bus.subscribe(subject, handler)
        bus.publish(subject, b"bad")
        bus.publish(subject, b"good")
        await until(lambda: bool(got))
    assert got == [b"good"]
    assert f"a message on {subject} was not handled" in caplog.text
    assert "this one" in caplog.text


async def test_a_request_is_answered_by_whoever_listens(join: Join) -> None:
    async with join() as asking, join() as answering:
        subject = own()

        def answer(asked: Message) -> None:
            answering.publish(asked.reply, asked.payload * 2)

        await answering.subscribe(f"{subject}.*", answer)
        answers: list[bytes] = []

        async def ask(number: int) -> None:
            answers.append(await asking.request(f"{subject}.{number}", b"%d" % number, 10))

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(ask, number)
        assert sorted(answers) == sorted(b"%d%d" % (number, number) for number in range(20))


async def test_a_request_that_nobody_listens_to_fails_at_once(join: Join) -> None:
    async with join() as bus:
        with anyio.fail_after(10), pytest.raises(NobodyListens):
            await bus.request(own(), b"", 60)


async def test_a_request_that_nobody_answers_fails_in_time(join: Join) -> None:
    async with join() as bus:
        subject = own()
        await bus.subscribe(subject, lambda _: None)
        with anyio.fail_after(10), pytest.raises(NoAnswer):
            await bus.request(subject, b"", 0.01)


async def test_too_long_a_message_is_refused_and_the_longest_arrives(join: Join) -> None:
    async with join() as bus:
        got: list[Message] = []
        subject = own()
        await bus.subscribe(subject, got.append)
        with pytest.raises(ValueError, match="bytes on"):
            bus.publish(subject, b"x" * (MAX_PAYLOAD + 1))
        assert bus.publish(subject, b"y" * MAX_PAYLOAD)
        await until(lambda: bool(got))
        assert [len(each.payload) for each in got] == [MAX_PAYLOAD]


async def test_a_flood_is_dropped_beyond_its_bound_and_counted(join: Join) -> None:
    async with join() as bus:
        got: list[Message] = []
        subject = own()
        await bus.subscribe(subject, got.append)
        count = 3 * WAITING_BYTES // MAX_PAYLOAD
        for _ in range(count):  # without a turn of the event loop
            bus.publish(subject, b"z" * MAX_PAYLOAD)
        await settle(bus, on=own())
        assert 0 < len(got) <= WAITING_BYTES // MAX_PAYLOAD
        assert bus.dropped == count - len(got)


async def test_a_closed_bus_takes_nothing(join: Join) -> None:
    async with join() as bus:
        subject = own()
        await bus.subscribe(subject, lambda _: None)
        await bus.close()
        assert not bus.connected
        assert not bus.publish(subject, b"")
        with pytest.raises(BusAway):
            await bus.request(subject, b"", 1)


async def test_what_was_published_before_the_end_arrives(join: Join) -> None:
    async with join() as reader:
        got: list[Message] = []
        subject = own()
        await reader.subscribe(subject, got.append)
        async with join() as sender:
            for number in range(100):
                sender.publish(subject, b"%d" % number)
        await until(lambda: len(got) == 100)
        assert [each.payload for each in got] == [b"%d" % number for number in range(100)]
