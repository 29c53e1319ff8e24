"""The connection that the journal writes with: what is done where, and what waits for what."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
import sqlalchemy as sa

from arena.server.store import sqlite
from arena.server.store.database import make_engine
from arena.server.store.journal.writer import Writer, open_writer

INSERT = "INSERT INTO numbers VALUES (?)"


@asynccontextmanager
async def numbers(file: Path, *, lasting: bool) -> AsyncIterator[Writer]:
    """A writer to a store with one table, of numbers."""
    with closing(sqlite3.connect(file)) as made:
        made.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
    engine = make_engine(f"sqlite:///{file}", lasting=lasting)
    async with open_writer(engine) as writer:
        yield writer
    await engine.dispose()


def keep(connection: sa.Connection, *, number: int) -> threading.Thread:
    """Keep a number, and tell in which thread."""
    sqlite.execute_many(connection, INSERT, [(number,)])
    return threading.current_thread()


def kept(file: Path) -> list[int]:
    """The numbers that another connection finds, in the order in which they came."""
    with closing(sqlite3.connect(file)) as other:
        return [n for (n,) in other.execute("SELECT n FROM numbers ORDER BY rowid")]


@pytest.mark.parametrize("by_driver", [True, False])
@pytest.mark.parametrize("lasting", [True, False])
async def test_only_what_waits_for_the_disk_or_takes_its_time_is_done_in_the_thread(
    tmp_path: Path, *, lasting: bool, by_driver: bool
) -> None:
    file, here = tmp_path / "a.db", threading.current_thread()
    commits: list[threading.Thread] = []

    def note(statement: str) -> None:
        if statement == "COMMIT":
            commits.append(threading.current_thread())

    def traced(connection: sa.Connection) -> threading.Thread:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        driver.set_trace_callback(note)
        return keep(connection, number=1)

    async with numbers(file, lasting=lasting) as writer:
        assert (await writer.commit(traced, by_driver=by_driver) is here) is (by_driver or not lasting)
        assert [each is here for each in commits] == [not lasting]
        assert await writer.write(partial(keep, number=2)) is not here
        with pytest.raises(sa.exc.IntegrityError):
            await writer.commit(partial(keep, number=2), by_driver=by_driver)
        await writer.commit(partial(keep, number=3), by_driver=by_driver)
    assert kept(file) == [1, 2, 3]


@pytest.mark.parametrize("by_driver", [True, False])
async def test_the_event_loop_waits_for_nobody_who_writes_the_same_file(
    tmp_path: Path, *, by_driver: bool
) -> None:
    file = tmp_path / "a.db"
    async with numbers(file, lasting=False) as writer, anyio.create_task_group() as tasks:
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute(INSERT, (7,))
            tasks.start_soon(partial(writer.commit, partial(keep, number=8), by_driver=by_driver))
            # The other one goes on by the event loop alone: it could not, were it waited for there.
            await anyio.sleep(0.01)
            other.execute("COMMIT")
    assert kept(file) == [7, 8]


async def test_a_commit_comes_after_what_the_thread_was_given_before(tmp_path: Path) -> None:
    file, may_end = tmp_path / "a.db", threading.Event()

    def slowly(connection: sa.Connection) -> None:
        keep(connection, number=2)
        assert may_end.wait(30)

    async with numbers(file, lasting=False) as writer, anyio.create_task_group() as tasks:
        tasks.start_soon(writer.write, slowly)
        await anyio.lowlevel.checkpoint()
        tasks.start_soon(partial(writer.commit, partial(keep, number=1), by_driver=True))
        await anyio.lowlevel.checkpoint()
        may_end.set()
    assert sorted(kept(file)) == [1, 2]
