from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.clock import TimeSource
from arena.games.core import Player
from arena.match.referee_events import (
    MatchOpened,
    MoveReceived,
    PlayerReady,
    RefereeEvent,
    ServerRecovered,
    TurnStarted,
    decode_journal_row,
)
from arena.server.core.effects import DeleteSession, DurableEffect, SaveSession
from arena.server.store import schema
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import (
    create_or_migrate_store,
    format_current_time,
    make_engine,
    open_engine,
    open_store,
)
from arena.server.store.journal.journal import STORE_UNAVAILABLE_AFTER_SECONDS, Journal, open_journal
from arena.server.store.journal.postgresql_writer import BLOCK_MATCH_COUNTING_SQL
from arena.server.store.journal.reader import load_events_of_match
from arena.server.store.journal.sqlite_writer import WriterThread
from arena.server.store.lease import Lease
from testkit.stored_records import load_event_records
from tests.server.databases import Postgresql
from tests.server.journals import MATCH, make_append_event, make_close_match, make_open_match
from tests.server.matches import record
from tests.server.played import MAXIE_WINS, day, events, store_match


async def test_a_commit_is_visible_to_others_at_once(database: str) -> None:
    happened: list[tuple[int, RefereeEvent]] = [
        (1, MatchOpened()),
        (5, PlayerReady(Player.MAXIE)),
        (9, MoveReceived(Player.MAXIE, 0, {"deep": [1, "two", None, 2.5, 'a "quote" \0 é']})),
    ]
    async with open_store(database) as engine, open_journal(engine) as journal:
        await journal.commit([make_open_match()])
        for seq, (at, event) in enumerate(happened):
            await journal.commit([make_append_event(seq, event, at=at)])
            async with open_store(database) as other:
                assert await load_events_of_match(other, MATCH) == happened[: seq + 1]


async def test_events_of_many_matches_are_committed_together(engine: AsyncEngine) -> None:
    matches = [f"match {number}" for number in range(20)]
    async with open_journal(engine) as journal:
        await journal.commit(
            [
                effect
                for each in matches
                for effect in (make_open_match(each), make_append_event(1, match=each))
            ]
        )
        for seq in (2, 3):
            await journal.commit([make_append_event(seq, match=each) for each in matches])
        await journal.commit([])
        for each in matches:
            assert await load_events_of_match(engine, each) == [(seq, MatchOpened()) for seq in (1, 2, 3)]
        await journal.commit([make_append_event(seq, match=matches[0]) for seq in range(4, 1_205)])
        assert await load_events_of_match(engine, matches[0]) == [
            (seq, MatchOpened()) for seq in range(1, 1_205)
        ]


async def test_a_failed_commit_stores_nothing_and_the_next_one_succeeds(
    engine: AsyncEngine,
) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([make_open_match(), make_append_event(1)])
        async with engine.begin() as connection:
            await connection.execute(sa.text("DROP TABLE records"))
        with pytest.raises(Exception, match="records"):
            await journal.commit(
                [make_append_event(2), SaveSession("anna", b"1"), make_close_match(record(MATCH))]
            )
        assert "records" in journal.describe_outage()
        assert await load_stored_events(engine) == [(1, MatchOpened())]
        assert (await journal.load_restart_state(None)).session_secret_hashes == {}
        await journal.commit([make_append_event(2, ServerRecovered())])
        assert journal.describe_outage() == ""
        assert await load_stored_events(engine) == [(1, MatchOpened()), (2, ServerRecovered())]


class SilentWriter:
    """Writer whose commits wait until `answer` is set."""

    def __init__(self) -> None:
        self.answer = anyio.Event()

    async def commit(self, *_: object) -> None:
        await self.answer.wait()


async def test_an_unanswered_commit_is_reported_as_an_outage(tmp_path: Path) -> None:
    passed = 0.0
    writer = SilentWriter()
    journal = Journal(
        make_engine(f"sqlite:///{tmp_path / 'arena.db'}"),
        writer,  # type: ignore[arg-type]
        Lease("north", 1),
        TimeSource(lambda: round(passed * 1e9)),
        lambda _seconds: None,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(journal.commit, [])
        await checkpoint()
        passed = STORE_UNAVAILABLE_AFTER_SECONDS - 0.01
        assert journal.describe_outage() == ""
        passed = STORE_UNAVAILABLE_AFTER_SECONDS + 4
        assert journal.describe_outage() == "the store has not answered for 7 s"
        writer.answer.set()
    assert journal.describe_outage() == ""


async def load_stored_events(engine: AsyncEngine) -> list[tuple[int, RefereeEvent]]:
    async with engine.connect() as connection:
        rows = (
            await connection.execute(sa.select(schema.events.c.event).order_by(schema.events.c.seq))
        ).scalars()
        return [timed for text in rows for timed in decode_journal_row(text)]


async def test_a_repeated_commit_changes_nothing(engine: AsyncEngine) -> None:
    """A commit is repeated if its first attempt raised an exception, but was durable."""
    first: list[DurableEffect] = [
        make_open_match("a"),
        make_open_match("b"),
        make_append_event(1, match="a"),
        make_append_event(1, match="b"),
        SaveSession("anna", b"1"),
    ]
    second: list[DurableEffect] = [
        make_append_event(3, MoveReceived(Player.MAXIE, 0, 4), match="a", turn=(2, TurnStarted(0))),
        DeleteSession("anna"),
    ]
    third: list[DurableEffect] = [
        make_append_event(4, match="a"),
        make_close_match(record("a")),
        make_append_event(2, match="b"),
    ]
    async with open_journal(engine) as journal:
        for effects in (first, second, third):
            for _ in range(3):
                await journal.commit(effects)
        assert len(await load_events_of_match(engine, "a")) == 4
        assert await load_events_of_match(engine, "b") == [(1, MatchOpened()), (2, MatchOpened())]
        assert await load_event_records(engine, "test") == [record("a")]
        async with engine.connect() as connection:
            arrivals = (await connection.execute(sa.select(schema.matches.c.arrival))).scalars().all()
        assert set(arrivals) == {1, None}
        assert (await journal.load_restart_state("test")).session_secret_hashes == {}


async def test_a_turn_and_its_move_are_stored_in_one_row(engine: AsyncEngine) -> None:
    moved = MoveReceived(Player.MAXIE, 0, [1, 2])
    async with open_journal(engine) as journal:
        await journal.commit([make_open_match(), make_append_event(1)])
        await journal.commit([make_append_event(3, moved, at=9, turn=(7, TurnStarted(0, 5)))])
        await journal.commit([make_close_match(record(MATCH))])
        async with engine.connect() as connection:
            query = sa.select(schema.events.c.seq).order_by(schema.events.c.seq)
            assert (await connection.execute(query)).scalars().all() == [1, 3]
        assert await load_events_of_match(engine, MATCH) == [
            (1, MatchOpened()),
            (7, TurnStarted(0, 5)),
            (9, moved),
        ]


async def test_two_servers_on_one_store_do_not_change_each_others_matches(database: str) -> None:
    async with open_store(database) as engine, open_store(database) as other:
        async with open_journal(engine, "north") as north, open_journal(other, "south") as south:
            both = {"n" * 32: north, "s" * 32: south}
            for match, journal in both.items():
                await journal.commit([make_open_match(match)])
            for seq in range(1, 20):
                for match, journal in both.items():
                    await journal.commit([make_append_event(seq, match=match)])
            await south.commit(
                [make_append_event(20, match="n" * 32), make_close_match(record("n" * 32))]
            )  # the match of another server
            await north.commit([make_close_match(record("n" * 32))])
            await south.commit([make_append_event(20, match="s" * 32)])
        assert [at for at, _ in await load_events_of_match(engine, "n" * 32)] == list(range(1, 20))
        assert [at for at, _ in await load_events_of_match(engine, "s" * 32)] == list(range(1, 21))


async def test_a_match_deleted_from_the_store_does_not_delay_others(engine: AsyncEngine) -> None:
    async with open_journal(engine) as journal:
        await journal.commit(
            [
                make_open_match("a"),
                make_open_match("b"),
                make_append_event(1, match="a"),
                make_append_event(1, match="b"),
            ]
        )
        async with engine.begin() as connection:
            number = sa.select(schema.matches.c.number).where(schema.matches.c.match == "a").scalar_subquery()
            await connection.execute(sa.delete(schema.events).where(schema.events.c.number == number))
            await connection.execute(sa.delete(schema.matches).where(schema.matches.c.match == "a"))
        await journal.commit([make_append_event(2, match="a"), make_append_event(2, match="b")])
        await journal.commit([make_append_event(3, match="a")])
        await journal.commit([make_close_match(record("a")), make_close_match(record("b"))])
        assert (await load_events_of_match(engine, "a"), len(await load_events_of_match(engine, "b"))) == (
            [],
            2,
        )
        assert await load_event_records(engine, "test") == [record("b")]


async def test_a_finished_match_gets_no_more_events(engine: AsyncEngine) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([make_open_match(), make_append_event(1), make_close_match(record(MATCH))])
        await journal.commit([make_append_event(2)])
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened())]


async def test_the_end_of_a_match_stores_its_record_and_time(engine: AsyncEngine) -> None:
    before = format_current_time()
    async with open_journal(engine) as journal:
        finished = record(MATCH, moves=[4, 0])
        await journal.commit([make_open_match(rated=True), make_close_match(finished, rated=True)])
        assert await load_event_records(engine, "test") == [finished]
        async with engine.connect() as connection:
            row = (await connection.execute(sa.select(schema.matches))).one()
        assert row.rated
        assert before <= row.finished <= format_current_time()


async def test_finished_matches_get_consecutive_arrival_numbers(engine: AsyncEngine) -> None:
    names = [f"match {number}" for number in range(6)]
    async with open_journal(engine) as journal:
        await journal.commit([make_open_match(each) for each in names])
        await journal.commit([make_close_match(record(each)) for each in names[:3]])
        for each in names[3:]:
            await journal.commit([make_close_match(record(each))])
        async with engine.connect() as connection:
            query = sa.select(schema.matches.c.match).order_by(schema.matches.c.arrival)
            assert (await connection.execute(query)).scalars().all() == names


async def test_the_duration_of_each_commit_is_observed(engine: AsyncEngine) -> None:
    durations: list[float] = []
    async with open_journal(engine, observe_commit_seconds=durations.append) as journal:
        for seq in range(3):
            commit = asyncio.create_task(journal.commit([make_append_event(seq)]))
            await asyncio.sleep(0)
            assert journal.is_committing()
            await commit
            assert not journal.is_committing()
    assert len(durations) == 3
    assert min(durations) > 0


WRITE_COUNT = 200


async def test_queued_writes_run_between_commits_and_do_not_delay_them(
    engine: AsyncEngine,
) -> None:
    done: list[object] = []

    async def write(number: int) -> None:
        assert (
            await journal.run_in_transaction(
                lambda connection: connection.execute(sa.select(sa.literal(number))).scalar_one()
            )
            == number
        )
        done.append(number)

    async with open_journal(engine) as journal:
        await journal.commit([make_open_match()])
        async with anyio.create_task_group() as tasks:
            for number in range(WRITE_COUNT):
                tasks.start_soon(write, number)
            await checkpoint()
            for seq in (1, 2, 3):
                await journal.commit([make_append_event(seq)])
                done.append("commit")
    assert [each for each in done if each != "commit"] == list(range(WRITE_COUNT))
    # A commit waits for at most one of the writes.
    assert done.index("commit") < WRITE_COUNT / 2


async def test_a_failed_write_changes_nothing(engine: AsyncEngine) -> None:
    def fails(connection: sa.Connection) -> None:
        connection.execute(sa.update(schema.matches).values(event="changed"))
        raise ValueError("no")

    async with open_journal(engine) as journal:
        await journal.commit([make_open_match()])
        with pytest.raises(ValueError, match="no"):
            await journal.run_in_transaction(fails)
        await journal.commit([make_append_event(1)])
        async with engine.connect() as connection:
            assert (await connection.execute(sa.select(schema.matches.c.event))).scalar_one() == "test"


async def test_a_cancelled_commit_is_stored_as_a_whole_or_not_at_all(engine: AsyncEngine) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([make_open_match()])
        for seq in range(1, 6):
            with anyio.CancelScope() as scope:
                asyncio.get_running_loop().call_soon(scope.cancel)
                await journal.commit([make_append_event(seq), SaveSession("anna", bytes([seq]))])
        await journal.commit([make_append_event(6), SaveSession("anna", b"\6")])
        assert (await journal.load_restart_state("test")).session_secret_hashes == {"anna": b"\6"}
        assert (await load_events_of_match(engine, MATCH))[-1] == (6, MatchOpened())


# SQLite: thread or event loop


@asynccontextmanager
async def open_sqlite_store(file: Path, *, durable: bool) -> AsyncIterator[AsyncEngine]:
    async with open_engine(f"sqlite:///{file}", is_durable=durable) as engine:
        await create_or_migrate_store(engine)
        yield engine


@pytest.mark.parametrize("durable", [True, False])
async def test_durable_commits_run_in_the_thread_and_temporary_ones_in_the_event_loop(
    tmp_path: Path, *, durable: bool
) -> None:
    threads: set[str] = set()
    async with (
        open_sqlite_store(tmp_path / "a.db", durable=durable) as engine,
        open_journal(engine) as journal,
    ):

        def trace(connection: sa.Connection) -> None:
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.set_trace_callback(lambda _statement: threads.add(threading.current_thread().name))

        await journal.run_in_transaction(trace)
        threads.clear()
        await journal.commit([make_open_match()])
        await journal.commit([make_append_event(1)])
        await journal.commit([make_append_event(2), make_close_match(record(MATCH))])
    here = threading.current_thread().name
    assert threads == {"arena-writer"} if durable else here in threads


async def test_the_event_loop_does_not_wait_for_another_writer_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    async with open_sqlite_store(file, durable=False) as engine, open_journal(engine) as journal:
        await journal.commit([make_open_match()])
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            both: list[list[DurableEffect]] = [
                [make_append_event(1)],
                [make_append_event(2), make_close_match(record(MATCH))],
            ]
            for effects in both:
                async with anyio.create_task_group() as tasks:
                    other.execute("BEGIN IMMEDIATE")
                    tasks.start_soon(journal.commit, effects)
                    # The other connection commits in the event loop, so a commit that blocked the loop would never end.
                    await anyio.sleep(0.01)
                    other.execute("COMMIT")
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened()), (2, MatchOpened())]


async def test_calls_run_in_order_in_one_thread_and_raise_in_the_waiting_task() -> None:
    done: list[tuple[int, str]] = []

    def call(number: int) -> int:
        done.append((number, threading.current_thread().name))
        if number == 7:
            raise ValueError("seven")
        return number * number

    worker = WriterThread("a-worker")
    calls = [worker.run_in_thread(lambda number=number: call(number)) for number in range(20)]  # type: ignore[misc]
    calls[3].cancel()  # it runs nevertheless, and its result is dropped
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert worker.undelivered_call_count == 0
    worker.close()
    assert done == [(number, "a-worker") for number in range(20)]
    assert isinstance(results[3], asyncio.CancelledError)
    assert isinstance(results[7], ValueError)
    assert [each for each in results if isinstance(each, int)] == [
        n * n for n in range(20) if n not in (3, 7)
    ]
    assert "a-worker" not in {each.name for each in threading.enumerate()}


# PostgreSQL: arrival numbers


async def test_counting_waits_for_transactions_that_assign_arrival_numbers(
    postgresql: Postgresql, postgresql_database: str
) -> None:
    """Otherwise a match could appear with a lower arrival number than matches that are already counted."""
    counts: list[int] = []

    async def count() -> None:
        counts.append(await add_new_matches_to_aggregates(engine))

    async with open_store(postgresql_database) as engine:
        await store_match(engine, day(1), events(MAXIE_WINS))
        async with anyio.create_task_group() as tasks, engine.begin() as one, engine.begin() as other:
            for connection in (one, other):  # both may hold this lock at the same time
                await connection.exec_driver_sql(BLOCK_MATCH_COUNTING_SQL)
            tasks.start_soon(count)
            with anyio.fail_after(500):
                while not await is_anyone_waiting_for_lock(one):
                    await anyio.sleep(0.01)
            assert counts == []
        assert counts == [1]


async def is_anyone_waiting_for_lock(connection: AsyncConnection) -> bool:
    """Return True if any transaction in the database of `connection` waits for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    await connection.execute(sa.text("SELECT pg_stat_clear_snapshot()"))
    return bool((await connection.execute(sa.text(waiting))).scalar_one())
