"""Missed results: the end of a match, told again from the store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from msgspec.structs import replace

from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import End, Error, Ready
from arena.protocol.values import Clocks
from arena.server.shell.missed_results import LOOKUP_TIMEOUT_SECONDS, MAX_QUEUED_REQUESTS, MissedResultSender
from testkit.virtual_time import CLOCK
from tests.server.matches import spec
from tests.server.shell.shells import FakeClient, ListEdge, ListStore, running, until
from tests.virtual import virtual


@asynccontextmanager
async def shell_after_match(store: ListStore) -> AsyncIterator[tuple[ListEdge, FakeClient, FakeClient]]:
    """Yield a shell on which anna and bert have played a match to its end, and know it."""
    async with running(store) as edge, anyio.create_task_group() as tasks:
        missed = MissedResultSender(lambda match: store.record(match), edge.shell, CLOCK)  # noqa: PLW0108  tests exchange it
        tasks.start_soon(missed.run)
        anna, bert = edge.connect("anna"), edge.connect("bert")
        await edge.shell.play_match(replace(spec("anna", "bert"), match="m"))
        await until(lambda: anna.all(End) and bert.all(End))
        yield edge, anna, bert
        tasks.cancel_scope.cancel()


@virtual
async def test_a_player_that_asks_is_told_the_end_again_without_clocks() -> None:
    async with shell_after_match(ListStore()) as (_, anna, _):
        anna.say(Ready("m"))
        await until(lambda: len(anna.all(End)) == 2)
        first, again = anna.all(End)
        assert again.clocks == Clocks(0, 0)
        assert (again.winner, again.reason, again.moves) == (first.winner, first.reason, first.moves)
        assert again.reason in {EndReason.LINE, EndReason.BOARD_FULL}


@pytest.mark.parametrize("match", ["m", "nothing"])
@virtual
async def test_a_stranger_is_told_that_a_match_is_none_of_its_own(match: str) -> None:
    async with shell_after_match(ListStore()) as (edge, _, _):
        carl = edge.connect("carl")
        carl.say(Ready(match))
        await until(lambda: carl.all(Error))
        (error,) = carl.all(Error)
        assert (error.code, error.match, error.fatal) == (Code.NO_SUCH_MATCH, match, False)


@virtual
async def test_a_store_that_does_not_answer_in_time_is_asked_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = ListStore()
    async with shell_after_match(store) as (_, anna, _):
        answer, asked = store.record, 0

        async def record(match: str) -> str | None:
            nonlocal asked
            asked += 1
            if asked == 1:
                await anyio.sleep(2 * LOOKUP_TIMEOUT_SECONDS)
            elif asked == 2:
                raise OSError("the disk is away")
            return await answer(match)

        store.record = record  # type: ignore[method-assign]
        anna.say(Ready("m"))
        await until(lambda: len(anna.all(End)) == 2, seconds=30)
        assert not anna.all(Error)
    assert "the store took too long to read the result of match m" in caplog.text


@virtual
async def test_a_question_that_is_asked_again_and_again_is_not_answered_each_time() -> None:
    store = ListStore()
    async with shell_after_match(store) as (_, anna, _):
        for _ in range(2 * MAX_QUEUED_REQUESTS):
            anna.say(Ready("m"))
        anna.say(Ready("another"))
        await until(lambda: anna.all(Error))
        assert len(anna.all(End)) < 20  # of 2,000 questions in some rounds


@virtual
async def test_questions_beyond_the_bound_are_dropped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = ListStore()
    async with shell_after_match(store) as (_, anna, _):
        requests: list[str] = []

        async def record(match: str) -> None:
            requests.append(match)
            await anyio.sleep(0.001)

        store.record = record  # type: ignore[method-assign]
        for number in range(MAX_QUEUED_REQUESTS + 100):
            anna.say(Ready(f"m{number}"))
        await until(lambda: len(anna.all(Error)) >= MAX_QUEUED_REQUESTS)
        assert len(requests) <= MAX_QUEUED_REQUESTS + 1
    assert "too many requests for missed results" in caplog.text
