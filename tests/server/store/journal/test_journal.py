"""A journal makes durable what the core decides: all of a commit or nothing of it, once, and without blocking anybody."""

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
    decode_from_journal,
)
from arena.server.core.effects import DeleteSession, DurableEffect, SaveSession
from arena.server.store import schema
from arena.server.store.aggregates.match_counting import count_new_matches
from arena.server.store.database import (
    close_engine,
    format_current_time,
    make_engine,
    open_store,
    prepare_store,
)
from arena.server.store.journal.journal import SLOW_SECONDS, Journal, open_journal
from arena.server.store.journal.postgresql_writer import LOCK_OUT_COUNTING
from arena.server.store.journal.reader import load_events_of_match
from arena.server.store.journal.sqlite_writer import WriterThread
from arena.server.store.lease import Lease
from testkit.stored import load_records
from tests.server.databases import Postgresql
from tests.server.journals import MATCH, ends, happens, opens
from tests.server.matches import record
from tests.server.played import MAXIE_WINS, day, events, keep


async def test_a_commit_is_visible_to_others_at_once(database: str) -> None:
    happened: list[tuple[int, RefereeEvent]] = [
        (1, MatchOpened()),
        (5, PlayerReady(Player.MAXIE)),
        (9, MoveReceived(Player.MAXIE, 0, {"deep": [1, "two", None, 2.5, 'a "quote" \0 é']})),
    ]
    async with open_store(database) as engine, open_journal(engine) as journal:
        await journal.commit([opens()])
        for seq, (at, event) in enumerate(happened):
            await journal.commit([happens(seq, event, at=at)])
            async with open_store(database) as other:
                assert await load_events_of_match(other, MATCH) == happened[: seq + 1]


async def test_a_commit_of_many_matches_is_one_transaction(engine: AsyncEngine) -> None:
    matches = [f"match {number}" for number in range(20)]
    async with open_journal(engine) as journal:
        await journal.commit([effect for each in matches for effect in (opens(each), happens(1, match=each))])
        for seq in (2, 3):
            await journal.commit([happens(seq, match=each) for each in matches])
        await journal.commit([])
        for each in matches:
            assert await load_events_of_match(engine, each) == [(seq, MatchOpened()) for seq in (1, 2, 3)]
        await journal.commit([happens(seq, match=matches[0]) for seq in range(4, 1_205)])
        assert await load_events_of_match(engine, matches[0]) == [
            (seq, MatchOpened()) for seq in range(1, 1_205)
        ]


async def test_nothing_of_a_commit_that_fails_is_there_and_the_next_one_goes_well(
    engine: AsyncEngine,
) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([opens(), happens(1)])
        async with engine.begin() as connection:
            await connection.execute(sa.text("DROP TABLE records"))
        with pytest.raises(Exception, match="records"):
            await journal.commit([happens(2), SaveSession("anna", b"1"), ends(record(MATCH))])
        assert "records" in journal.describe_outage()
        assert await events_of_open(engine) == [(1, MatchOpened())]
        assert (await journal.load(None)).sessions == {}
        await journal.commit([happens(2, ServerRecovered())])
        assert journal.describe_outage() == ""
        assert await events_of_open(engine) == [(1, MatchOpened()), (2, ServerRecovered())]


class Silent:
    """A writer of a store that does not answer."""

    def __init__(self) -> None:
        self.answer = anyio.Event()

    async def commit(self, *_: object) -> None:
        await self.answer.wait()


async def test_a_store_that_does_not_answer_is_told_after_a_while(tmp_path: Path) -> None:
    passed = 0.0
    silent = Silent()
    journal = Journal(
        make_engine(f"sqlite:///{tmp_path / 'arena.db'}"),
        silent,  # type: ignore[arg-type]
        Lease("north", 1),
        TimeSource(lambda: round(passed * 1e9)),
        lambda _seconds: None,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(journal.commit, [])
        await checkpoint()
        passed = SLOW_SECONDS - 0.01
        assert journal.describe_outage() == ""
        passed = SLOW_SECONDS + 4
        assert journal.describe_outage() == "the store has not answered for 7 s"
        silent.answer.set()
    assert journal.describe_outage() == ""


async def events_of_open(engine: AsyncEngine) -> list[tuple[int, RefereeEvent]]:
    async with engine.connect() as connection:
        rows = (
            await connection.execute(sa.select(schema.events.c.event).order_by(schema.events.c.seq))
        ).scalars()
        return [timed for text in rows for timed in decode_from_journal(text)]


async def test_a_commit_that_is_tried_again_changes_nothing(engine: AsyncEngine) -> None:
    """The first attempt was durable but appeared to fail."""
    first: list[DurableEffect] = [
        opens("a"),
        opens("b"),
        happens(1, match="a"),
        happens(1, match="b"),
        SaveSession("anna", b"1"),
    ]
    second: list[DurableEffect] = [
        happens(3, MoveReceived(Player.MAXIE, 0, 4), match="a", turn=(2, TurnStarted(0))),
        DeleteSession("anna"),
    ]
    third: list[DurableEffect] = [happens(4, match="a"), ends(record("a")), happens(2, match="b")]
    async with open_journal(engine) as journal:
        for effects in (first, second, third):
            for _ in range(3):
                await journal.commit(effects)
        assert len(await load_events_of_match(engine, "a")) == 4
        assert await load_events_of_match(engine, "b") == [(1, MatchOpened()), (2, MatchOpened())]
        assert await load_records(engine, "test") == [record("a")]
        async with engine.connect() as connection:
            arrivals = (await connection.execute(sa.select(schema.matches.c.arrival))).scalars().all()
        assert set(arrivals) == {1, None}
        assert (await journal.load("test")).sessions == {}


async def test_a_turn_and_the_event_that_ends_it_are_one_row(engine: AsyncEngine) -> None:
    moved = MoveReceived(Player.MAXIE, 0, [1, 2])
    async with open_journal(engine) as journal:
        await journal.commit([opens(), happens(1)])
        await journal.commit([happens(3, moved, at=9, turn=(7, TurnStarted(0, 5)))])
        await journal.commit([ends(record(MATCH))])
        async with engine.connect() as connection:
            query = sa.select(schema.events.c.seq).order_by(schema.events.c.seq)
            assert (await connection.execute(query)).scalars().all() == [1, 3]
        assert await load_events_of_match(engine, MATCH) == [
            (1, MatchOpened()),
            (7, TurnStarted(0, 5)),
            (9, moved),
        ]


async def test_two_names_on_one_store_do_not_touch_each_others_matches(database: str) -> None:
    async with open_store(database) as engine, open_store(database) as other:
        async with open_journal(engine, "north") as north, open_journal(other, "south") as south:
            both = {"n" * 32: north, "s" * 32: south}
            for match, journal in both.items():
                await journal.commit([opens(match)])
            for seq in range(1, 20):
                for match, journal in both.items():
                    await journal.commit([happens(seq, match=match)])
            await south.commit([happens(20, match="n" * 32), ends(record("n" * 32))])  # it is none of its own
            await north.commit([ends(record("n" * 32))])
            await south.commit([happens(20, match="s" * 32)])
        assert [at for at, _ in await load_events_of_match(engine, "n" * 32)] == list(range(1, 20))
        assert [at for at, _ in await load_events_of_match(engine, "s" * 32)] == list(range(1, 21))


async def test_a_match_that_is_taken_out_of_the_store_holds_up_no_other(engine: AsyncEngine) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([opens("a"), opens("b"), happens(1, match="a"), happens(1, match="b")])
        async with engine.begin() as connection:
            number = sa.select(schema.matches.c.number).where(schema.matches.c.match == "a").scalar_subquery()
            await connection.execute(sa.delete(schema.events).where(schema.events.c.number == number))
            await connection.execute(sa.delete(schema.matches).where(schema.matches.c.match == "a"))
        await journal.commit([happens(2, match="a"), happens(2, match="b")])
        await journal.commit([happens(3, match="a")])
        await journal.commit([ends(record("a")), ends(record("b"))])
        assert (await load_events_of_match(engine, "a"), len(await load_events_of_match(engine, "b"))) == (
            [],
            2,
        )
        assert await load_records(engine, "test") == [record("b")]


async def test_a_match_that_is_over_gets_no_event_any_more(engine: AsyncEngine) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([opens(), happens(1), ends(record(MATCH))])
        await journal.commit([happens(2)])
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened())]


async def test_the_end_of_a_match_keeps_its_record_and_when_it_was(engine: AsyncEngine) -> None:
    before = format_current_time()
    async with open_journal(engine) as journal:
        finished = record(MATCH, moves=[4, 0])
        await journal.commit([opens(rated=True), ends(finished, rated=True)])
        assert await load_records(engine, "test") == [finished]
        async with engine.connect() as connection:
            row = (await connection.execute(sa.select(schema.matches))).one()
        assert row.rated
        assert before <= row.finished <= format_current_time()


async def test_each_match_that_finishes_gets_the_next_number_of_arrival(engine: AsyncEngine) -> None:
    names = [f"match {number}" for number in range(6)]
    async with open_journal(engine) as journal:
        await journal.commit([opens(each) for each in names])
        await journal.commit([ends(record(each)) for each in names[:3]])
        for each in names[3:]:
            await journal.commit([ends(record(each))])
        async with engine.connect() as connection:
            query = sa.select(schema.matches.c.match).order_by(schema.matches.c.arrival)
            assert (await connection.execute(query)).scalars().all() == names


async def test_the_duration_of_each_commit_is_observed(engine: AsyncEngine) -> None:
    durations: list[float] = []
    async with open_journal(engine, observe_seconds=durations.append) as journal:
        for seq in range(3):
            commit = asyncio.create_task(journal.commit([happens(seq)]))
            await asyncio.sleep(0)
            assert journal.is_committing()
            await commit
            assert not journal.is_committing()
    assert len(durations) == 3
    assert min(durations) > 0


MAX_BATCH = 200


async def test_other_work_is_done_between_commits_and_a_crowd_of_it_holds_none_up(
    engine: AsyncEngine,
) -> None:
    done: list[object] = []

    async def write(number: int) -> None:
        assert (
            await journal.write(
                lambda connection: connection.execute(sa.select(sa.literal(number))).scalar_one()
            )
            == number
        )
        done.append(number)

    async with open_journal(engine) as journal:
        await journal.commit([opens()])
        async with anyio.create_task_group() as tasks:
            for number in range(MAX_BATCH):
                tasks.start_soon(write, number)
            await checkpoint()
            for seq in (1, 2, 3):
                await journal.commit([happens(seq)])
                done.append("commit")
    assert [each for each in done if each != "commit"] == list(range(MAX_BATCH))
    # Of the crowd one at a time is before a commit on SQLite, and beside it on PostgreSQL.
    assert done.index("commit") < MAX_BATCH / 2


async def test_other_work_that_fails_changes_nothing(engine: AsyncEngine) -> None:
    def fails(connection: sa.Connection) -> None:
        connection.execute(sa.update(schema.matches).values(event="changed"))
        raise ValueError("no")

    async with open_journal(engine) as journal:
        await journal.commit([opens()])
        with pytest.raises(ValueError, match="no"):
            await journal.write(fails)
        await journal.commit([happens(1)])
        async with engine.connect() as connection:
            assert (await connection.execute(sa.select(schema.matches.c.event))).scalar_one() == "test"


async def test_a_commit_whose_task_is_cancelled_is_whole_or_not_there(engine: AsyncEngine) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([opens()])
        for seq in range(1, 6):
            with anyio.CancelScope() as scope:
                asyncio.get_running_loop().call_soon(scope.cancel)
                await journal.commit([happens(seq), SaveSession("anna", bytes([seq]))])
        await journal.commit([happens(6), SaveSession("anna", b"\6")])
        assert (await journal.load("test")).sessions == {"anna": b"\6"}
        assert (await load_events_of_match(engine, MATCH))[-1] == (6, MatchOpened())


# SQLite: what is done where


@asynccontextmanager
async def stored(file: Path, *, durable: bool) -> AsyncIterator[AsyncEngine]:
    engine = make_engine(f"sqlite:///{file}", durable=durable)
    try:
        await prepare_store(engine)
        yield engine
    finally:
        await close_engine(engine)


@pytest.mark.parametrize("durable", [True, False])
async def test_the_event_loop_never_waits_for_the_disk_and_a_store_that_is_thrown_away_needs_no_thread(
    tmp_path: Path, *, durable: bool
) -> None:
    threads: set[str] = set()
    async with stored(tmp_path / "a.db", durable=durable) as engine, open_journal(engine) as journal:

        def trace(connection: sa.Connection) -> None:
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.set_trace_callback(lambda _statement: threads.add(threading.current_thread().name))

        await journal.write(trace)
        threads.clear()
        await journal.commit([opens()])
        await journal.commit([happens(1)])
        await journal.commit([happens(2), ends(record(MATCH))])
    here = threading.current_thread().name
    assert threads == {"arena-writer"} if durable else here in threads


async def test_the_event_loop_waits_for_nobody_who_writes_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    async with stored(file, durable=False) as engine, open_journal(engine) as journal:
        await journal.commit([opens()])
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            both: list[list[DurableEffect]] = [[happens(1)], [happens(2), ends(record(MATCH))]]
            for effects in both:
                async with anyio.create_task_group() as tasks:
                    other.execute("BEGIN IMMEDIATE")
                    tasks.start_soon(journal.commit, effects)
                    # The other one goes on by the event loop alone: it could not, were it waited for there.
                    await anyio.sleep(0.01)
                    other.execute("COMMIT")
        assert await load_events_of_match(engine, MATCH) == [(1, MatchOpened()), (2, MatchOpened())]


async def test_calls_are_done_in_order_in_one_thread_and_raise_where_they_are_waited_for() -> None:
    done: list[tuple[int, str]] = []

    def call(number: int) -> int:
        done.append((number, threading.current_thread().name))
        if number == 7:
            raise ValueError("seven")
        return number * number

    worker = WriterThread("a-worker")
    calls = [worker.call(lambda number=number: call(number)) for number in range(20)]  # type: ignore[misc]
    calls[3].cancel()  # it is done all the same, and nobody is told
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert worker.undelivered_count == 0
    worker.close()
    assert done == [(number, "a-worker") for number in range(20)]
    assert isinstance(results[3], asyncio.CancelledError)
    assert isinstance(results[7], ValueError)
    assert [each for each in results if isinstance(each, int)] == [
        n * n for n in range(20) if n not in (3, 7)
    ]
    assert "a-worker" not in {each.name for each in threading.enumerate()}


# PostgreSQL: nobody counts while a number is given


async def test_nobody_counts_while_a_number_of_arrival_is_given_that_is_not_there_yet(
    postgresql: Postgresql, postgresql_database: str
) -> None:
    """Else a match could come in with a lower number than one that is counted already."""
    counts: list[int] = []

    async def count() -> None:
        counts.append(await count_new_matches(engine))

    async with open_store(postgresql_database) as engine:
        await keep(engine, day(1), events(MAXIE_WINS))
        async with anyio.create_task_group() as tasks, engine.begin() as one, engine.begin() as other:
            for connection in (one, other):  # beside each other they may well do so
                await connection.exec_driver_sql(LOCK_OUT_COUNTING)
            tasks.start_soon(count)
            with anyio.fail_after(500):
                while not await somebody_waits(one):
                    await anyio.sleep(0.01)
            assert counts == []
        assert counts == [1]


async def somebody_waits(connection: AsyncConnection) -> bool:
    """Return True if a transaction of this database waits for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    await connection.execute(sa.text("SELECT pg_stat_clear_snapshot()"))
    return bool((await connection.execute(sa.text(waiting))).scalar_one())
