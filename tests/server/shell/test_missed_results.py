"""Missed results: the `end` of a match, read from the store for a bot that missed it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from msgspec.structs import replace

from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import End, Error, Ready
from arena.protocol.values import Clocks
from arena.server.shell.missed_results import (
    MAX_QUEUED_RESULT_REQUESTS,
    RESULT_LOOKUP_TIMEOUT_SECONDS,
    MissedResultSender,
)
from testkit.virtual_time import VIRTUAL_CLOCK
from tests.server.matches import spec
from tests.server.shell.shells import FakeClient, ListEdge, ListStore, running, until
from tests.virtual import virtual


@asynccontextmanager
async def shell_after_match(store: ListStore) -> AsyncIterator[tuple[ListEdge, FakeClient, FakeClient]]:
    """Yield a shell after the match `m` of anna and bert, and both bots, which have received its end."""
    async with running(store) as edge, anyio.create_task_group() as tasks:
        missed = MissedResultSender(lambda match: store.record(match), edge.shell, VIRTUAL_CLOCK)  # noqa: PLW0108  tests replace `store.record`
        tasks.start_soon(missed.send_requested_results)
        anna, bert = edge.connect("anna"), edge.connect("bert")
        await edge.shell.play_match(replace(spec("anna", "bert"), match="m"))
        await until(lambda: anna.all(End) and bert.all(End))
        yield edge, anna, bert
        tasks.cancel_scope.cancel()


@virtual
async def test_a_player_gets_the_missed_end_without_clocks() -> None:
    async with shell_after_match(ListStore()) as (_, anna, _):
        anna.send(Ready("m"))
        await until(lambda: len(anna.all(End)) == 2)
        first, again = anna.all(End)
        assert again.clocks == Clocks(0, 0)
        assert (again.winner, again.reason, again.moves) == (first.winner, first.reason, first.moves)
        assert again.reason in {EndReason.LINE, EndReason.BOARD_FULL}


@pytest.mark.parametrize("match", ["m", "nothing"])
@virtual
async def test_a_bot_that_did_not_play_a_match_gets_an_error(match: str) -> None:
    async with shell_after_match(ListStore()) as (edge, _, _):
        carl = edge.connect("carl")
        carl.send(Ready(match))
        await until(lambda: carl.all(Error))
        (error,) = carl.all(Error)
        assert (error.code, error.match, error.fatal) == (ErrorCode.NO_SUCH_MATCH, match, False)


@virtual
async def test_a_lookup_that_fails_or_takes_too_long_is_repeated(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = ListStore()
    async with shell_after_match(store) as (_, anna, _):
        answer, lookup_count = store.record, 0

        async def record(match: str) -> str | None:
            nonlocal lookup_count
            lookup_count += 1
            if lookup_count == 1:
                await anyio.sleep(2 * RESULT_LOOKUP_TIMEOUT_SECONDS)
            elif lookup_count == 2:
                raise OSError("the disk is away")
            return await answer(match)

        store.record = record  # type: ignore[method-assign]
        anna.send(Ready("m"))
        await until(lambda: len(anna.all(End)) == 2, seconds=30)
        assert not anna.all(Error)
    assert "the store took too long to read the result of match m" in caplog.text


@virtual
async def test_repetitions_of_a_waiting_request_are_dropped() -> None:
    store = ListStore()
    async with shell_after_match(store) as (_, anna, _):
        for _ in range(2 * MAX_QUEUED_RESULT_REQUESTS):
            anna.send(Ready("m"))
        anna.send(Ready("another"))
        await until(lambda: anna.all(Error))
        assert len(anna.all(End)) < 20  # of 2,000 requests in several rounds


@virtual
async def test_requests_beyond_the_limit_are_dropped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = ListStore()
    async with shell_after_match(store) as (_, anna, _):
        requests: list[str] = []

        async def record(match: str) -> None:
            requests.append(match)
            await anyio.sleep(0.001)

        store.record = record  # type: ignore[method-assign]
        for number in range(MAX_QUEUED_RESULT_REQUESTS + 100):
            anna.send(Ready(f"m{number}"))
        await until(lambda: len(anna.all(Error)) >= MAX_QUEUED_RESULT_REQUESTS)
        assert len(requests) <= MAX_QUEUED_RESULT_REQUESTS + 1
    assert "too many requests for missed results" in caplog.text
