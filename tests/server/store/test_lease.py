from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.referee_events import MatchOpened
from arena.processes.identity import identify_this_process
from arena.server.core.effects import DurableEffect, SaveSession
from arena.server.store import lease, schema
from arena.server.store.database import format_database_session_name, open_store
from arena.server.store.errors import StoreError
from arena.server.store.journal.changes import collect_journal_changes
from arena.server.store.journal.journal import Journal, open_journal
from arena.server.store.journal.reader import load_events_of_match
from arena.server.store.journal.restart_state import load_restart_state
from arena.server.store.lease import (
    ACQUISITION_RETRY_PAUSE_SECONDS,
    DEFAULT_LEASE_SECONDS,
    Lease,
    LeaseHeld,
    LeaseLost,
)
from arena.server.store.migrations import SCHEMA_VERSION, UnknownSchema
from tests.hurried_clock import HurriedClock
from tests.server.journals import (
    ELSEWHERE,
    MATCH,
    expire_leases,
    make_append_event,
    make_close_match,
    make_open_match,
    take_lease,
)
from tests.server.matches import record


async def read_server_row(engine: AsyncEngine, name: str) -> sa.Row[object]:
    async with engine.connect() as connection:
        return (
            await connection.execute(sa.select(schema.servers).where(schema.servers.c.name == name))
        ).one()


async def renew_all_leases(engine: AsyncEngine) -> None:
    """Change the times of all leases as a renewal does."""
    async with engine.begin() as connection:
        values = {"renewed": schema.servers.c.renewed + 1, "until": schema.servers.c.until + 1}
        await connection.execute(sa.update(schema.servers).values(values))


@asynccontextmanager
async def open_overtaken_journal(engine: AsyncEngine) -> AsyncIterator[Journal]:
    """Yield a journal with a match in progress that has lost its lease without knowing it. Its sessions stay open."""
    async with open_journal(engine) as journal:
        await journal.commit([make_open_match(), make_append_event(1)])
        await expire_leases(engine)
        async with engine.begin() as connection:
            await connection.execute(sa.update(schema.servers).values(started="then"))
        await take_lease(engine)
        yield journal


async def test_tokens_increase_and_a_stopped_server_releases_its_name_at_once(engine: AsyncEngine) -> None:
    clock = HurriedClock()
    for number in (1, 2, 3):
        async with open_journal(engine, "north", clock=clock) as journal:
            assert journal.lease[:2] == ("north", number)
            row = await read_server_row(engine, "north")
            assert (row.number, row.pid) == (number, identify_this_process().pid)
    assert ACQUISITION_RETRY_PAUSE_SECONDS not in clock.slept


async def test_a_held_name_is_refused_with_its_holder_in_one_line(engine: AsyncEngine) -> None:
    clock = HurriedClock()
    async with open_journal(engine, "north"):
        clock.then = partial(renew_all_leases, engine)
        me = identify_this_process()
        with pytest.raises(LeaseHeld) as refused:
            async with open_journal(engine, "north", clock=clock):
                pass
        known = rf"the server 'north' is running on this store already: on {me.host}, process {me.pid}, since 20\S+Z;"
        assert re.match(known, str(refused.value))
        assert "\n" not in str(refused.value)
        assert clock.time <= 2 * ACQUISITION_RETRY_PAUSE_SECONDS
        async with open_journal(engine, "south") as south:  # no process holds this name
            await south.commit([SaveSession("anna", b"another")])


async def test_the_name_of_an_ended_process_is_acquired_at_once(engine: AsyncEngine) -> None:
    clock = HurriedClock()
    await take_lease(engine, process=replace(identify_this_process(), start_ticks="1"))
    async with open_journal(engine, clock=clock) as journal:
        assert journal.lease.fencing_token == 2
    assert ACQUISITION_RETRY_PAUSE_SECONDS not in clock.slept


async def test_a_lease_that_is_not_renewed_is_acquired_after_it_expires(engine: AsyncEngine) -> None:
    clock, wanted = HurriedClock(), 3
    await take_lease(engine)

    async def expire_leases_later() -> None:
        if len(clock.slept) == wanted:
            await expire_leases(engine)

    clock.then = expire_leases_later
    async with open_journal(engine, clock=clock) as journal:
        assert journal.lease.fencing_token == 2
        assert len(clock.slept) >= wanted


@pytest.mark.parametrize("wait", [True, False])
async def test_a_lease_that_ends_far_ahead_after_a_clock_jump_is_acquired(
    engine: AsyncEngine, *, wait: bool
) -> None:
    clock = HurriedClock()
    old = await take_lease(engine)
    async with engine.begin() as connection:
        jumped = {"until": schema.servers.c.until + 1e6, "renewed": schema.servers.c.renewed + 1e6}
        await connection.execute(sa.update(schema.servers).values(jumped))
    async with open_journal(engine, clock=clock, is_standby=wait) as journal:
        assert journal.lease.fencing_token == old.fencing_token + 1
        assert (
            DEFAULT_LEASE_SECONDS
            <= clock.time
            <= DEFAULT_LEASE_SECONDS + 2 * ACQUISITION_RETRY_PAUSE_SECONDS + DEFAULT_LEASE_SECONDS / 3
        )


async def test_a_standby_waits_while_the_lease_is_renewed_and_then_takes_over(
    engine: AsyncEngine,
) -> None:
    clock, checks = HurriedClock(), 30
    old = await take_lease(engine, "north")

    async def renew_for_a_while() -> None:
        if len(clock.slept) < checks:
            await renew_all_leases(engine)
        elif len(clock.slept) == checks:
            async with engine.begin() as connection:
                await connection.execute(sa.update(schema.servers).values(until=0.0))

    clock.then = renew_for_a_while
    async with open_journal(engine, "north", is_standby=True, clock=clock, lease_seconds=2.4) as journal:
        assert journal.lease[:3] == ("north", old.fencing_token + 1, 2.4)
        assert len(clock.slept) >= checks
    assert clock.time >= checks * ACQUISITION_RETRY_PAUSE_SECONDS - 1


async def test_a_standby_acquires_a_released_name_at_once(engine: AsyncEngine) -> None:
    clock = HurriedClock()
    async with anyio.create_task_group() as tasks:
        stop = anyio.Event()

        async def run_server() -> None:
            async with open_journal(engine, "north") as journal:
                await journal.commit([make_open_match(), make_append_event(1)])
                leads.set()
                await stop.wait()
            left.set()

        async def ask_to_stop() -> None:
            if len(clock.slept) == 3:
                stop.set()
                await left.wait()

        leads, left = anyio.Event(), anyio.Event()
        tasks.start_soon(run_server)
        await leads.wait()
        clock.then = ask_to_stop
        async with open_journal(engine, "north", is_standby=True, clock=clock) as journal:
            assert journal.lease.fencing_token == 2
            assert len((await journal.load_restart_state("test")).unfinished_matches) == 1
            await journal.commit([make_append_event(2)])


async def test_a_lease_is_renewed_three_times_within_its_duration(engine: AsyncEngine) -> None:
    clock, seen = HurriedClock(), list[float]()
    enough = anyio.Event()

    async def record_renewal_time() -> None:
        seen.append((await read_server_row(engine, "north")).renewed)
        if len(seen) == 4:
            enough.set()
            await anyio.sleep_forever()

    clock.then = record_renewal_time
    async with open_journal(engine, "north", clock=clock, lease_seconds=2.4) as journal:
        await enough.wait()
        assert not journal.lease_lost.is_set()
    assert clock.slept == [pytest.approx(0.8)] * 4
    assert seen == sorted(seen)
    assert seen[0] < seen[-1]


ONE_EVENT: list[DurableEffect] = [make_append_event(2)]
ALL: list[DurableEffect] = [
    make_open_match("another"),
    SaveSession("anna", b"1"),
    make_append_event(2),
    make_close_match(record(MATCH)),
]


@pytest.mark.parametrize("effects", [ONE_EVENT, ALL], ids=["events alone", "everything"])
async def test_a_journal_that_lost_its_lease_cannot_commit(
    engine: AsyncEngine, effects: list[DurableEffect], caplog: pytest.LogCaptureFixture
) -> None:
    async with open_overtaken_journal(engine) as journal:
        with pytest.raises(LeaseLost) as lost:
            await journal.commit(effects)
        assert str(lost.value) == str(LeaseLost(Lease("", 1)))
        assert journal.lease_lost.is_set()
        assert journal.describe_outage() == str(lost.value)
        with pytest.raises(LeaseLost):
            await journal.commit([])
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened())]
        async with engine.connect() as connection:
            rows = (await connection.execute(sa.select(schema.matches))).all()
            assert [(row.match, row.finished) for row in rows] == [(MATCH, None)]
            assert not (await connection.execute(sa.select(schema.records))).all()
        assert (await load_restart_state(engine, "", None)).session_secret_hashes == {}
    assert "not released" not in caplog.text, "a lost lease need not be released"


async def test_a_journal_that_lost_its_lease_cannot_write(engine: AsyncEngine) -> None:
    async with open_overtaken_journal(engine) as journal:
        with pytest.raises(LeaseLost):
            await journal.run_in_transaction(
                lambda each: each.execute(sa.update(schema.matches).values(event="changed"))
            )
        assert journal.lease_lost.is_set()
        async with engine.connect() as connection:
            assert (await connection.execute(sa.select(schema.matches.c.event))).scalar_one() == "test"


async def test_a_renewal_notices_that_the_lease_is_lost(engine: AsyncEngine) -> None:
    clock = HurriedClock()
    async with open_journal(engine, clock=clock) as journal:
        async with engine.begin() as connection:
            await connection.execute(sa.update(schema.servers).values(number=7))
        with anyio.fail_after(500):
            await journal.lease_lost.wait()


async def break_commit(
    journal: Journal, effects: list[DurableEffect], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a commit fail as if the connection broke before anything was sent."""

    async def cut(*_given: object) -> None:
        raise ConnectionError("the line is cut")

    with monkeypatch.context() as patched, pytest.raises(StoreError, match="the line is cut"):
        patched.setattr(journal._writer, "commit", cut)
        await journal.commit(effects)


@pytest.mark.parametrize("effects", [ONE_EVENT, ALL], ids=["events alone", "everything"])
async def test_a_late_commit_of_unknown_outcome_is_refused_after_load(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch, effects: list[DurableEffect]
) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([make_open_match(), make_append_event(1)])
        before, commit = journal.lease, journal._writer.commit
        await break_commit(journal, effects, monkeypatch)
        (found,) = (await journal.load_restart_state("test")).unfinished_matches
        assert found.match_events == [(1, MatchOpened())]
        assert journal.lease.fencing_token == before.fencing_token + 1
        with pytest.raises(LeaseLost):
            await commit(collect_journal_changes(effects, before.server_name), before)
        # The same holds if the new token was stored, but its answer was lost.
        again = await journal._writer.run_in_transaction(partial(lease.reacquire_lease, lease=before))
        assert again == journal.lease
        await journal.commit([make_append_event(2, at=7)])
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened()), (7, MatchOpened())]
        await journal.load_restart_state("test")
        assert (
            journal.lease.fencing_token == before.fencing_token + 1
        )  # no outcome is unknown any more, so no new token is needed


@pytest.mark.parametrize("next_write", ["renewal", "other write"])
async def test_a_lost_answer_about_the_new_token_does_not_lose_the_lease(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch, next_write: str
) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([make_open_match(), make_append_event(1)])
        before, write = journal.lease, journal._writer.run_in_transaction

        async def lose_answer(work: Callable[[sa.Connection], Lease]) -> Lease:
            await write(work)
            raise ConnectionError("the line is cut")

        await break_commit(journal, [make_append_event(2)], monkeypatch)
        with monkeypatch.context() as patched, pytest.raises(StoreError, match="the line is cut"):
            patched.setattr(journal._writer, "run_in_transaction", lose_answer)
            await journal.load_restart_state("test")
        if next_write == "renewal":
            await journal.renew_lease()
        else:
            await journal.run_in_transaction(
                lambda each: each.execute(sa.update(schema.matches).values(event="changed"))
            )
        assert not journal.lease_lost.is_set()
        assert journal.lease.fencing_token > before.fencing_token
        await journal.load_restart_state("test")
        await journal.commit([make_append_event(2)])


async def test_a_name_is_released_after_a_cancelled_replacement_of_its_lease(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_journal(engine) as journal:
        write = journal._writer.run_in_transaction

        async def cancel_answer(work: Callable[[sa.Connection], Lease]) -> Lease:
            await write(work)
            raise asyncio.CancelledError

        await break_commit(journal, [make_open_match()], monkeypatch)
        with monkeypatch.context() as patched, pytest.raises(asyncio.CancelledError):
            patched.setattr(journal._writer, "run_in_transaction", cancel_answer)
            await journal.load_restart_state("test")
        journal._last_error = ""  # as if a renewal had begun, and ended, before the replacement
    await take_lease(engine)


async def test_a_renewal_during_load_does_not_lose_the_lease(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A renewal with the old token would fail, although this process itself has replaced the token."""
    async with open_journal(engine) as journal:
        await journal.commit([make_open_match(), make_append_event(1)])
        write, taken, answered = journal._writer.run_in_transaction, anyio.Event(), anyio.Event()

        async def answer_late(work: Callable[[sa.Connection], Lease]) -> Lease:
            found = await write(work)
            taken.set()
            await answered.wait()
            return found

        await break_commit(journal, [make_append_event(2)], monkeypatch)
        async with anyio.create_task_group() as tasks:
            with monkeypatch.context() as patched:
                patched.setattr(journal._writer, "run_in_transaction", answer_late)
                tasks.start_soon(journal.load_restart_state, "test")
                await taken.wait()
            tasks.start_soon(journal.renew_lease)
            await anyio.wait_all_tasks_blocked()
            answered.set()
        assert not journal.lease_lost.is_set()
        await journal.commit([make_append_event(2)])


@pytest.mark.parametrize("is_mid_statement", [False, True])
async def test_a_frozen_holder_in_a_transaction_loses_its_name_when_the_lease_expires(
    postgresql_database: str, is_mid_statement: bool
) -> None:
    """A session may be frozen between statements, or between the messages of one statement."""
    async with open_store(postgresql_database) as engine:
        old = await take_lease(engine)
        await expire_leases(engine)
        async with engine.connect() as still, engine.connect() as bystander:
            own_name = (await bystander.execute(sa.text("SHOW application_name"))).scalar_one()
            assert (
                own_name
                == format_database_session_name(identify_this_process())
                != format_database_session_name(ELSEWHERE)
            )
            await still.execute(
                sa.text(f"SET application_name = '{format_database_session_name(ELSEWHERE)}'")
            )
            await still.execute(sa.text("SET idle_in_transaction_session_timeout = 0"))
            await still.commit()
            await still.run_sync(lease.require_held_lease, old)
            if is_mid_statement:
                driver = (await still.get_raw_connection()).driver_connection
                assert driver is not None
                await driver.prepare("SELECT 1")
            with anyio.fail_after(500):
                new = await take_lease(engine, process=identify_this_process())
            assert new.fencing_token == old.fencing_token + 1
            with pytest.raises(sa.exc.DBAPIError):
                await still.run_sync(lease.require_held_lease, old)
            await still.invalidate()
            assert (await bystander.execute(sa.text("SELECT 1"))).scalar_one() == 1, (
                "other sessions stay open"
            )


async def test_a_name_is_acquired_even_if_sessions_cannot_be_ended(
    postgresql_database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(lease, "_END_POSTGRESQL_SESSIONS", sa.text("SELECT forbidden()"))
    async with open_store(postgresql_database) as engine:
        old = await take_lease(engine)
        await expire_leases(engine)
        assert (await take_lease(engine)).fencing_token == old.fencing_token + 1
    assert "cannot end the database sessions of the previous process" in caplog.text


async def test_the_time_of_the_database_is_in_seconds_since_1970(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        before = time.time()
        now = (
            await connection.execute(sa.select(lease.build_database_time_expression(engine.dialect.name)))
        ).scalar_one()
        assert before - 1 < now < time.time() + 1


async def test_no_lease_on_a_store_that_was_migrated_since_it_was_opened(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(schema.about.update().values(schema_version=99, program="arena 99"))
    with pytest.raises(UnknownSchema, match="it has schema 99, written by arena 99"):
        await take_lease(engine)
    async with engine.begin() as connection:
        await connection.execute(schema.about.update().values(schema_version=SCHEMA_VERSION))
    assert (await take_lease(engine)).fencing_token == 1
