from __future__ import annotations

from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store import maintenance, schema
from arena.server.store.aggregates.match_counting import count_new_matches
from arena.server.store.database import open_store
from arena.server.store.directives import issue_directive
from arena.server.store.invitations import create_invitations
from arena.server.store.journal.journal import open_journal
from arena.server.store.maintenance import PACK_SECONDS, PRUNE_SECONDS, Maintenance
from arena.server.store.pruning import Retention
from tests.hurried_clock import HurriedClock
from tests.server.databases import Postgresql
from tests.server.played import MAXIE_WINS, day, events, keep


async def looked_after(made: Maintenance, clock: HurriedClock, times: int) -> None:
    """Let it look after its store so many times."""
    done = anyio.Event()

    async def then() -> None:
        if len(clock.slept) == times:
            done.set()
            await anyio.sleep_forever()

    clock.then = then
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.run)
        await done.wait()
        tasks.cancel_scope.cancel()


async def test_finished_matches_are_packed_and_old_ones_removed(engine: AsyncEngine) -> None:
    for number in range(3):
        await keep(engine, day(1 + number), events(MAXIE_WINS))
    await count_new_matches(engine)
    clock = HurriedClock()
    async with open_journal(engine) as journal:
        await looked_after(Maintenance(engine, journal, Retention(max_matches=1), clock), clock, 1)
    async with engine.connect() as connection:
        found = (await connection.execute(sa.select(schema.records.c.whole))).scalars().all()
    assert found == [True]
    assert clock.slept == [PACK_SECONDS]


async def test_old_matches_are_removed_once_an_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[float] = []

    async def prune(*_: object) -> int:
        removed.append(clock.now())
        return 0

    monkeypatch.setattr(maintenance, "prune", prune)
    clock = HurriedClock()
    looks = round(2.5 * PRUNE_SECONDS / PACK_SECONDS)
    monkeypatch.setattr(maintenance, "pack_finished_matches", nothing)
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine, open_journal(engine) as journal:
        await looked_after(Maintenance(engine, journal, Retention(max_matches=1), clock), clock, looks)
    assert removed == [0, PRUNE_SECONDS, 2 * PRUNE_SECONDS]


async def nothing(*_: object) -> None: ...


async def test_an_archive_that_cannot_be_written_is_told_in_the_log_and_nothing_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        await keep(engine, day(1), events(MAXIE_WINS))
        await count_new_matches(engine)
        clock = HurriedClock()
        async with open_journal(engine) as journal:
            retention = Retention(max_matches=0, archive=tmp_path / "file" / "old")
            await looked_after(Maintenance(engine, journal, retention, clock), clock, 1)
        assert "finished matches stay in the store" in caplog.text
        async with engine.connect() as connection:
            assert len((await connection.execute(sa.select(schema.matches))).all()) == 1


async def test_a_store_that_is_away_is_told_in_one_line_and_tried_again(
    own_postgresql: Postgresql, caplog: pytest.LogCaptureFixture
) -> None:
    url = await anyio.to_thread.run_sync(own_postgresql.new_database)
    async with open_store(url) as engine, open_journal(engine) as journal:
        await anyio.to_thread.run_sync(own_postgresql.stop)
        clock = HurriedClock()
        with anyio.fail_after(500):
            await looked_after(Maintenance(engine, journal, clock=clock), clock, 1)
        assert "the store cannot be maintained now" in caplog.text
        await anyio.to_thread.run_sync(own_postgresql.start)


async def test_bans_and_invitations_are_deleted_once_they_have_ended(engine: AsyncEngine) -> None:
    for name, seconds in (("bert", 3600), ("carl", float("inf")), ("anna", -1)):
        await issue_directive(engine, "name", name, "enough", seconds)
        if seconds <= 3600:
            await create_invitations(engine, [name], 1, seconds)
    clock = HurriedClock()
    async with open_journal(engine) as journal:
        await looked_after(Maintenance(engine, journal, None, clock), clock, 1)
    async with engine.connect() as connection:
        banned = (await connection.execute(sa.select(schema.directives.c.subject))).scalars().all()
        invited = (await connection.execute(sa.select(schema.invitations.c.owner))).scalars().all()
    assert (sorted(banned), list(invited)) == (["bert", "carl"], ["bert"])
