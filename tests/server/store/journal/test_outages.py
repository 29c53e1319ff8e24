"""Outages of the store: commits can be repeated, and `Journal.describe_outage` gives the reason without a query."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.clock import MONOTONIC_CLOCK
from arena.match.referee_events import MatchOpened
from arena.server.core.effects import DurableEffect
from arena.server.store import schema
from arena.server.store.database import open_store
from arena.server.store.errors import describe_database_error, is_transient_error
from arena.server.store.journal import journal as journal_module
from arena.server.store.journal.changes import collect_journal_changes
from arena.server.store.journal.journal import Journal, StoreUnavailable, open_journal
from arena.server.store.journal.postgresql_writer import open_postgresql_writer
from arena.server.store.journal.reader import load_events_of_match
from tests.full_disk import limit_file_size
from tests.server.databases import Postgresql
from tests.server.journals import MATCH, make_append_event, make_close_match, make_open_match
from tests.server.matches import record

SLOW = "the store has not answered for 1 s"


@pytest.fixture(autouse=True)
def shorten_slow_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report an unanswered commit as an outage after a second, not three."""
    monkeypatch.setattr(journal_module, "STORE_UNAVAILABLE_AFTER_SECONDS", 1.0)


@asynccontextmanager
async def open_playing_journal(engine: AsyncEngine, lease_seconds: float = 10.0) -> AsyncIterator[Journal]:
    """Yield a journal with a match in progress."""
    async with open_journal(engine, lease_seconds=lease_seconds) as journal:
        await journal.commit([make_open_match(), make_append_event(1)])
        assert journal.describe_outage() == ""
        yield journal


async def commit_until_success(journal: Journal, effects: Sequence[DurableEffect]) -> int:
    """Repeat a commit until it succeeds, as the shell does, and return the number of attempts."""
    attempts = 1
    with anyio.fail_after(500):
        while True:
            try:
                await journal.commit(effects)
            except StoreUnavailable as error:
                reason = str(error)
                attempts += 1
            else:
                return attempts
            assert "\n" not in reason
            assert journal.describe_outage() == f"the store fails: {reason}"
            await anyio.sleep(0.05)


async def wait_for_outage(journal: Journal) -> str:
    """Wait for an outage, and return its reason."""
    with anyio.fail_after(500):
        while not journal.describe_outage():
            await anyio.sleep(0.05)
    return journal.describe_outage()


async def test_commits_retried_while_the_database_was_down_become_durable(
    own_postgresql: Postgresql,
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_store(url) as engine, open_playing_journal(engine) as journal:
        await asyncio.to_thread(own_postgresql.stop)
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await journal.commit([make_append_event(2)])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(commit_until_success, journal, [make_append_event(2)])
            await asyncio.to_thread(own_postgresql.start)
        assert journal.describe_outage() == ""
        await asyncio.to_thread(own_postgresql.stop)
        with pytest.raises(StoreUnavailable):
            await journal.commit([make_append_event(3), make_close_match(record(MATCH))])
        await asyncio.to_thread(own_postgresql.start)
        for _ in range(2):
            await commit_until_success(journal, [make_append_event(3), make_close_match(record(MATCH))])
        assert await load_events_of_match(engine, MATCH) == [(seq, MatchOpened()) for seq in (1, 2, 3)]


async def test_commits_continue_after_the_database_has_ended_all_sessions(postgresql_database: str) -> None:
    async with open_store(postgresql_database) as engine, open_playing_journal(engine) as journal:
        async with open_store(postgresql_database) as other, other.connect() as connection:
            await connection.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        assert await commit_until_success(journal, [make_append_event(2)]) <= 2
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened()), (2, MatchOpened())]


async def test_no_confirmed_event_is_lost_or_doubled_if_the_database_is_killed_repeatedly(
    own_postgresql: Postgresql,
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    confirmed = 1
    async with (
        open_store(url) as engine,
        open_playing_journal(engine) as journal,
        anyio.create_task_group() as tasks,
    ):

        async def write() -> None:
            nonlocal confirmed
            while True:
                await commit_until_success(journal, [make_append_event(confirmed + 1)])
                confirmed += 1

        tasks.start_soon(write)
        for _ in range(3):
            before = confirmed
            with anyio.fail_after(500):
                while confirmed < before + 5:
                    await anyio.sleep(0.001)
            await asyncio.to_thread(own_postgresql.kill)
            await asyncio.to_thread(own_postgresql.start)
        tasks.cancel_scope.cancel()
    async with open_store(url) as engine:
        times = [at for at, _ in await load_events_of_match(engine, MATCH)]
    assert times[:confirmed] == list(range(1, confirmed + 1))
    assert len(times) - confirmed in (0, 1), (
        "at most the last event may be durable without having been confirmed"
    )


class InterruptedCall(NamedTuple):
    """Awaitable for a coroutine that calls `interrupt` once, when it goes on after its nth wait (from 1)."""

    coroutine: Coroutine[Any, Any, object]
    wait_number: int
    interrupt: Callable[[], None]

    def __await__(self) -> Generator[Any, None, bool]:
        """Return True if the coroutine waited so often."""
        steps = self.coroutine.__await__()
        for waits in count():
            if waits == self.wait_number:
                self.interrupt()
            try:
                future = next(steps)
            except StopIteration:
                return waits >= self.wait_number
            yield future
        raise AssertionError


async def test_a_connection_abandoned_at_any_point_of_a_transaction_counts_as_an_outage(
    postgresql_database: str,
) -> None:
    """The driver has errors of its own for a connection that is closed between two of its messages."""
    async with (
        open_store(postgresql_database) as engine,
        open_playing_journal(engine) as journal,
        open_postgresql_writer(engine, 100, MONOTONIC_CLOCK) as writer,
    ):

        def revoke_tokens(connection: sa.Connection) -> None:
            never = sa.delete(schema.tokens).where(schema.tokens.c.name == sa.bindparam("no_token"))
            connection.execute(never, [{"no_token": "a"}, {"no_token": "b"}])

        def commit(*effects: DurableEffect) -> Awaitable[None]:
            return writer.commit(collect_journal_changes(effects, journal.lease.server_name), journal.lease)

        transactions: list[Callable[[], Any]] = [
            lambda: commit(make_append_event(2)),
            lambda: writer.run_in_transaction(revoke_tokens),
            lambda: commit(make_append_event(2), make_close_match(record(MATCH))),
        ]
        for transaction in transactions:
            outages: list[Exception] = []
            for wait_number in count(1):
                writer.fail_pending_calls()  # the next transaction opens a new connection
                try:
                    if not await InterruptedCall(transaction(), wait_number, writer.fail_pending_calls):
                        break
                except Exception as error:  # noqa: BLE001
                    outages.append(error)
            assert len(outages) >= 2
            assert [each for each in outages if not is_transient_error(each)] == []
            assert "NoneType" not in " ".join(str(describe_database_error(each)) for each in outages)
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened()), (2, MatchOpened())]


async def test_an_error_of_an_operation_on_a_closed_connection_is_no_outage(postgresql_database: str) -> None:
    """The shell would repeat it without end."""

    def operation(connection: sa.Connection) -> None:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.terminate()  # as the database does, not the writer
        raise AttributeError("a mistake in the operation")

    async with (
        open_store(postgresql_database) as engine,
        open_postgresql_writer(engine, 100, MONOTONIC_CLOCK) as writer,
    ):
        with pytest.raises(AttributeError, match="a mistake"):
            await writer.run_in_transaction(operation)


async def test_a_commit_waits_for_a_frozen_database(
    own_postgresql: Postgresql,
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with (
        open_store(url) as engine,
        open_playing_journal(engine) as journal,
        anyio.create_task_group() as tasks,
    ):
        with own_postgresql.frozen():
            tasks.start_soon(journal.commit, [make_append_event(2)])
            assert await wait_for_outage(journal) == SLOW
    async with open_store(url) as engine:
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened()), (2, MatchOpened())]


async def test_an_unanswered_commit_fails_and_load_decides_its_outcome(
    own_postgresql: Postgresql,
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_store(url) as engine, open_playing_journal(engine, lease_seconds=0.9) as journal:
        with own_postgresql.frozen(), anyio.fail_after(500), pytest.raises(StoreUnavailable):
            await journal.commit([make_append_event(2)])
        with anyio.fail_after(500):
            (found,) = (await journal.load_restart_state("test")).unfinished_matches
            seq = len(found.match_events) + 1
            await commit_until_success(journal, [make_append_event(seq, at=77)])
        assert await load_events_of_match(engine, MATCH) == [*found.match_events, (77, MatchOpened())]


async def test_an_unavailable_database_is_noticed_without_any_match(own_postgresql: Postgresql) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_store(url) as engine, open_playing_journal(engine, lease_seconds=0.9) as journal:
        await asyncio.to_thread(own_postgresql.stop)
        assert (await wait_for_outage(journal)).startswith("the store fails: ")
        await asyncio.to_thread(own_postgresql.start)
        with anyio.fail_after(500):
            while journal.describe_outage():
                await anyio.sleep(0.05)


async def test_commits_retried_while_the_disk_was_full_become_durable(tmp_path: Path) -> None:
    async with (
        open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine,
        open_playing_journal(engine) as journal,
    ):
        everything: list[DurableEffect] = [make_append_event(2), make_close_match(record(MATCH))]
        event: list[DurableEffect] = [make_append_event(2)]
        with limit_file_size(4096):
            for effects in (event, everything):
                with pytest.raises(StoreUnavailable):
                    await journal.commit(effects)
            assert journal.describe_outage().startswith("the store fails: ")
        await journal.commit(everything)
        assert journal.describe_outage() == ""
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened()), (2, MatchOpened())]


async def test_a_file_that_another_process_keeps_locked_is_only_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.server.store.sqlite.ENABLE_BUSY_WAIT_SQL", "PRAGMA busy_timeout=50")
    async with (
        open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine,
        open_playing_journal(engine) as journal,
    ):
        async with engine.connect() as connection:
            await connection.exec_driver_sql("BEGIN IMMEDIATE")
            event: list[DurableEffect] = [make_append_event(2)]
            for effects in (event, [*event, make_close_match(record(MATCH))]):
                with pytest.raises(StoreUnavailable, match="has kept the file locked"):
                    await journal.commit(effects)
            await connection.rollback()
        await journal.commit([make_append_event(2)])


async def test_a_journal_closed_during_an_outage_logs_that_its_lease_is_not_released(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine,
        open_playing_journal(engine) as journal,
    ):
        with limit_file_size(4096), pytest.raises(StoreUnavailable):
            await journal.commit([make_append_event(2)])
        why = journal.describe_outage()
        assert why
    assert f"the lease is not released, and expires by itself: {why}" in caplog.messages
