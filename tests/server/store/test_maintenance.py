from __future__ import annotations

from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa

from arena.server.store import schema
from arena.server.store.aggregates.counting import refresh
from arena.server.store.database import open_store
from arena.server.store.maintenance import Maintenance
from arena.server.store.retention import Retention
from tests.server.databases import Postgresql
from tests.server.journals import playing
from tests.server.played import MAXIE_WINS, day, events, keep


async def test_what_is_finished_is_packed_and_what_is_old_is_removed(database: str) -> None:
    async with open_store(database) as engine:
        for number in range(3):
            await keep(engine, day(1 + number), events(MAXIE_WINS))
        await refresh(engine)
        async with playing(engine) as journal, anyio.create_task_group() as tasks:
            tasks.start_soon(Maintenance(engine, journal, Retention(most=1)).run)
            with anyio.fail_after(20):
                while True:
                    async with engine.connect() as connection:
                        found = (await connection.execute(sa.select(schema.records.c.whole))).scalars().all()
                    if found == [True]:
                        break
                    await anyio.sleep(0.05)
            tasks.cancel_scope.cancel()


async def test_an_archive_that_cannot_be_written_is_told_in_the_log_and_nothing_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        await keep(engine, day(1), events(MAXIE_WINS))
        await refresh(engine)
        async with playing(engine) as journal, anyio.create_task_group() as tasks:
            retention = Retention(most=0, archive=tmp_path / "file" / "old")
            tasks.start_soon(Maintenance(engine, journal, retention).run)
            with anyio.fail_after(20):
                while "finished matches stay in the store" not in caplog.text:
                    await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
        async with engine.connect() as connection:
            assert len((await connection.execute(sa.select(schema.matches))).all()) == 1


async def test_a_store_that_is_away_is_told_in_one_line_and_tried_again(
    own_postgresql: Postgresql, caplog: pytest.LogCaptureFixture
) -> None:
    url = await anyio.to_thread.run_sync(own_postgresql.new_database)
    async with open_store(url) as engine, playing(engine) as journal:
        await journal.durable(journal.keep_session("anna", b"secret"))  # now it has its connection
        await anyio.to_thread.run_sync(own_postgresql.stop)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Maintenance(engine, journal).run)
            with anyio.fail_after(20):
                while "the store is not looked after for now" not in caplog.text:
                    await anyio.sleep(0.02)
            await anyio.to_thread.run_sync(own_postgresql.start)
            tasks.cancel_scope.cancel()
