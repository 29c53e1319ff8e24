from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from arena.games.core import Player
from arena.match.events import Event, GotReady, Moved, Opened, ServerBack, TurnLeft
from arena.match.terms import from_json
from arena.server.store import schema
from arena.server.store.database import StoreError, close, make_engine, now, open_store
from arena.server.store.journal.journal import Journal, JournalFailed
from arena.server.store.journal.reader import events_of, records_of
from arena.server.store.journal.rows import NotOpen
from tests.server.databases import Postgresql
from tests.server.journals import playing
from tests.server.matches import record, terms


async def test_what_is_durable_can_be_read_from_outside(database: str) -> None:
    happened: list[tuple[int, Event]] = [
        (5, Opened()),
        (6, GotReady(Player.MAXIE)),
        (9, Moved(Player.MAXIE, 0, [1, 2])),
    ]
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        for seq, (at, event) in enumerate(happened):
            await journal.durable(journal.append("m" * 32, seq, at, event))
            async with open_store(database) as other:
                assert await events_of(other, "m" * 32) == happened[: seq + 1]
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("lasting", [True, False])
async def test_an_event_is_told_before_it_is_committed_only_where_the_store_is_thrown_away(
    tmp_path: Path, *, lasting: bool
) -> None:
    file = f"sqlite:///{tmp_path / 'a.db'}"
    async with open_store(file):
        pass  # its schema
    engine = make_engine(file, lasting=lasting)
    async with anyio.create_task_group() as tasks:
        journal, told = Journal(engine), anyio.Event()
        found: list[int] = []

        def note(error: Exception | None) -> None:
            assert error is None
            with closing(sqlite3.connect(tmp_path / "a.db")) as other:
                found.extend(row[0] for row in other.execute("SELECT count(*) FROM events"))
            told.set()

        await tasks.start(journal.run)
        await journal.durable(journal.open_match(terms(), "2026-11-20T12:00:00Z"))
        batch = journal.append("m" * 32, 1, 1, Opened(), told=note)
        assert not found, "it is told in a turn of its own"
        await told.wait()
        assert found == [1 if lasting else 0]
        await journal.durable(batch)
        assert await events_of(engine, "m" * 32) == [(1, Opened())]
        tasks.cancel_scope.cancel()
    await close(engine)


async def test_what_nobody_waits_for_is_written_all_the_same(tmp_path: Path) -> None:
    file = f"sqlite:///{tmp_path / 'a.db'}"
    async with open_store(file):
        pass
    engine = make_engine(file, lasting=False)
    async with anyio.create_task_group() as tasks:
        journal = Journal(engine)
        await tasks.start(journal.run)
        await journal.durable(journal.open_match(terms(), "2026-11-20T12:00:00Z"))
        journal.append("m" * 32, 1, 1, Opened(), told=lambda _error: None)
        with anyio.fail_after(10):
            while not await events_of(engine, "m" * 32):
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    await close(engine)


async def test_a_store_that_is_thrown_away_and_has_failed_is_waited_for_until_it_works_again(
    tmp_path: Path,
) -> None:
    file = f"sqlite:///{tmp_path / 'a.db'}"
    async with open_store(file):
        pass
    engine = make_engine(file, lasting=False)
    async with anyio.create_task_group() as tasks:
        journal, errors = Journal(engine), list[Exception | None]()
        await tasks.start(journal.run)
        with pytest.raises(JournalFailed):
            await journal.durable(journal.append("no such match", 1, 1, Opened(), told=errors.append))
        assert errors == [None], "nobody could know"
        with pytest.raises(JournalFailed):
            await journal.durable(journal.append("no such match", 1, 1, Opened(), told=errors.append))
        await checkpoint()
        assert type(errors[1]) is NotOpen
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        await journal.durable(journal.append("m" * 32, 1, 1, Opened(), told=errors.append))
        await checkpoint()
        assert errors[2:] == [None]
        tasks.cancel_scope.cancel()
    await close(engine)


async def test_what_comes_while_a_commit_is_under_way_shares_the_next(database: str) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        batches = [journal.append("m" * 32, seq, seq, Opened()) for seq in range(50)]
        assert len({id(batch) for batch in batches}) == 1
        tasks.start_soon(journal.run)
        await journal.durable(batches[-1])
        assert len(await events_of(engine, "m" * 32)) == 50
        tasks.cancel_scope.cancel()


async def test_a_batch_that_fails_says_so_and_the_next_goes_on(database: str) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        with pytest.raises(JournalFailed):
            await journal.durable(journal.append("no such match", 0, 0, Opened()))
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        await journal.durable(journal.append("m" * 32, 0, 0, Opened()))
        tasks.cancel_scope.cancel()


async def test_what_a_failed_batch_held_is_not_in_the_match_when_it_is_over(database: str) -> None:
    async with open_store(database) as engine, playing(engine) as journal:
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        await journal.durable(journal.append("m" * 32, 1, 1, Opened()))
        journal.append("m" * 32, 2, 2, GotReady(Player.MAXIE))
        with pytest.raises(JournalFailed, match="no match 'no such match' is in progress on this server"):
            await journal.durable(journal.append("no such match", 1, 0, Opened()))
        await journal.durable(journal.close_match(record("m" * 32)))
        assert await events_of(engine, "m" * 32) == [(1, Opened())]


async def test_a_turn_and_the_event_that_ends_it_are_one_row(database: str) -> None:
    moved = Moved(Player.MAXIE, 0, [1, 2])
    async with open_store(database) as engine, playing(engine) as journal:
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        await journal.durable(journal.append("m" * 32, 1, 1, Opened()))
        await journal.durable(journal.append("m" * 32, 3, 9, moved, (7, TurnLeft(0, 5))))
        await journal.durable(journal.close_match(record("m" * 32)))
        async with engine.connect() as connection:
            query = sa.select(schema.events.c.seq).order_by(schema.events.c.seq)
            assert (await connection.execute(query)).scalars().all() == [1, 3]
        assert await events_of(engine, "m" * 32) == [(1, Opened()), (7, TurnLeft(0, 5)), (9, moved)]


async def test_a_match_goes_on_in_the_journal_of_the_next_run_and_of_the_one_after(database: str) -> None:
    async with open_store(database) as engine:
        async with playing(engine) as journal:
            journal.open_match(terms(), "2026-11-20T12:00:00Z")
            await journal.durable(journal.append("m" * 32, 1, 1, Opened()))
        for seq in (2, 3):
            async with playing(engine) as journal:
                await journal.durable(journal.append("m" * 32, seq, seq, ServerBack()))
        async with playing(engine) as journal:
            # as when its next batch failed: the match is void, and all that is left is its end
            await journal.durable(journal.close_match(record("m" * 32)))
        assert await events_of(engine, "m" * 32) == [(1, Opened()), (2, ServerBack()), (3, ServerBack())]


async def test_two_journals_on_one_store_do_not_touch_each_others_matches(database: str) -> None:
    async with open_store(database) as engine, open_store(database) as other:
        async with playing(engine, "north") as north, playing(other, "south") as south:
            both = {"n" * 32: north, "s" * 32: south}
            for match, journal in both.items():
                journal.open_match(replace(terms(), match=match), "2026-11-20T12:00:00Z")
            for seq in range(1, 50):
                for match, journal in both.items():
                    await journal.durable(journal.append(match, seq, seq, Opened()))
            await north.durable(north.close_match(record("n" * 32)))
            await south.durable(south.append("s" * 32, 50, 50, Opened()))
        assert [at for at, _ in await events_of(engine, "n" * 32)] == list(range(1, 50))
        assert [at for at, _ in await events_of(engine, "s" * 32)] == list(range(1, 51))


async def test_drain_waits_for_all_that_was_appended(database: str) -> None:
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        await journal.drain()
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        journal.append("m" * 32, 0, 0, Opened())
        await journal.drain()
        assert len(await events_of(engine, "m" * 32)) == 1
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("turns", range(5))
async def test_drain_waits_for_what_is_being_committed(database: str, turns: int) -> None:
    async with open_store(database) as engine, playing(engine) as journal:
        await journal.durable(journal.open_match(terms(), "2026-11-20T12:00:00Z"))
        batch = journal.append("m" * 32, 1, 0, Opened())
        for _ in range(turns):
            await checkpoint()
        await journal.drain()
        assert batch.done.is_set()
        assert await events_of(engine, "m" * 32) == [(0, Opened())]


async def test_the_end_of_a_match_keeps_its_record_and_when_it_was(database: str) -> None:
    before = now()
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        journal.open_match(replace(terms(), rated=True), "2026-11-20T12:00:00Z")
        finished = record("m" * 32, moves=[4, 0])
        await journal.durable(journal.close_match(finished))
        assert await records_of(engine, "test") == [finished]
        async with engine.connect() as connection:
            row = (await connection.execute(sa.select(schema.matches))).one()
        assert row.rated
        assert before <= row.finished <= now()
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("game", ["tictactoe", "riskless"])
async def test_the_terms_of_a_match_come_back_as_they_were(database: str, game: str) -> None:
    given = terms("3+0.5", game=game, margin=70, ready=900, grace=800)
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        await journal.durable(journal.open_match(given, "2026-11-20T12:00:00Z"))
        async with engine.connect() as connection:
            found = from_json((await connection.execute(sa.select(schema.matches.c.terms))).scalar_one())
        tasks.cancel_scope.cancel()
    assert found.game.setup() == given.game.setup()
    assert replace(found, game=given.game) == given


async def test_the_journal_goes_on_after_the_database_has_thrown_it_out(postgresql_database: str) -> None:
    async with open_store(postgresql_database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        await journal.durable(journal.open_match(terms(), "2026-11-20T12:00:00Z"))
        async with open_store(postgresql_database) as other, other.connect() as connection:
            await connection.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        with pytest.raises(JournalFailed):
            await journal.durable(journal.append("m" * 32, 0, 0, Opened()))
        await journal.durable(journal.append("m" * 32, 0, 0, Opened()))
        assert await events_of(engine, "m" * 32) == [(0, Opened())]
        tasks.cancel_scope.cancel()


async def test_the_journal_goes_on_after_the_database_was_down(own_postgresql: Postgresql) -> None:
    url = await anyio.to_thread.run_sync(own_postgresql.new_database)
    async with open_store(url) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        await journal.durable(journal.open_match(terms(), "2026-11-20T12:00:00Z"))
        await anyio.to_thread.run_sync(own_postgresql.stop)
        for seq in range(3):
            with pytest.raises(JournalFailed):
                await journal.durable(journal.append("m" * 32, seq, 0, Opened()))
        await anyio.to_thread.run_sync(own_postgresql.start)
        await journal.durable(journal.append("m" * 32, 3, 0, Opened()))
        assert await events_of(engine, "m" * 32) == [(0, Opened())]
        tasks.cancel_scope.cancel()


async def test_a_match_that_ended_while_the_database_was_down_is_kept_whole_when_it_is_back(
    own_postgresql: Postgresql,
) -> None:
    url = await anyio.to_thread.run_sync(own_postgresql.new_database)
    async with open_store(url) as engine, playing(engine) as journal:
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        for seq in (1, 2):
            await journal.durable(journal.append("m" * 32, seq, seq, Opened()))
        await anyio.to_thread.run_sync(own_postgresql.stop)
        for _ in range(2):
            with pytest.raises(JournalFailed):
                await journal.durable(journal.close_match(record("m" * 32)))
        await anyio.to_thread.run_sync(own_postgresql.start)
        for _ in range(2):  # whoever was not told that it is kept, keeps it again
            await journal.durable(journal.close_match(record("m" * 32)))
            assert await events_of(engine, "m" * 32) == [(1, Opened()), (2, Opened())]


async def test_nobody_waits_for_a_journal_that_could_not_be_opened(own_postgresql: Postgresql) -> None:
    url = await anyio.to_thread.run_sync(own_postgresql.new_database)
    async with open_store(url) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        refused = anyio.Event()

        async def write() -> None:
            with pytest.raises(StoreError):
                await journal.write(lambda connection: None)
            refused.set()

        tasks.start_soon(write)
        await anyio.wait_all_tasks_blocked()
        await anyio.to_thread.run_sync(own_postgresql.stop)
        with pytest.raises((OSError, sa.exc.SQLAlchemyError)):
            await journal.run()
        with anyio.fail_after(10):
            await refused.wait()


async def test_a_crowd_of_writers_keeps_nothing_urgent_waiting_and_comes_on_in_its_order(
    database: str,
) -> None:
    done: list[int] = []
    crowd, hurried = range(30), [100, 101, 102]

    async def write(number: int) -> None:
        await journal.write(lambda connection: connection.execute(sa.select(1)), urgent=number in hurried)
        done.append(number)

    async with open_store(database) as engine, anyio.create_task_group() as running:
        journal = Journal(engine)
        await running.start(journal.run)
        async with anyio.create_task_group() as tasks:
            for number in (*crowd, *hurried):
                tasks.start_soon(write, number)  # they begin in this order, in one turn of the event loop
        running.cancel_scope.cancel()
    assert [each for each in done if each in crowd] == list(crowd)
    assert [each for each in done if each in hurried] == hurried
    # What is under way is waited for, and one of the crowd that was about to be.
    assert done.index(hurried[0]) <= 2
    assert done.index(hurried[-1]) <= 4
