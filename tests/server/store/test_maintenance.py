from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store import schema
from arena.server.store.aggregates.match_counting import count_new_matches
from arena.server.store.database import open_store
from arena.server.store.directives import issue_directive
from arena.server.store.invitations import create_invitations
from arena.server.store.journal.journal import open_journal
from arena.server.store.maintenance import remove_old_data
from arena.server.store.pruning import Retention
from tests.server.played import MAXIE_WINS, day, events, keep


async def test_old_matches_are_removed_and_told_in_the_log(
    engine: AsyncEngine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    for number in range(3):
        await keep(engine, day(1 + number), events(MAXIE_WINS))
    await count_new_matches(engine)
    async with open_journal(engine) as journal:
        await remove_old_data(engine, journal, Retention(max_matches=1))
    async with engine.connect() as connection:
        assert len((await connection.execute(sa.select(schema.matches))).all()) == 1
    assert "2 finished matches were removed from the store" in caplog.text


async def test_an_archive_that_cannot_be_written_is_told_in_the_log_and_nothing_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        await keep(engine, day(1), events(MAXIE_WINS))
        await count_new_matches(engine)
        async with open_journal(engine) as journal:
            await remove_old_data(
                engine, journal, Retention(max_matches=0, archive=tmp_path / "file" / "old")
            )
        assert "finished matches stay in the store" in caplog.text
        async with engine.connect() as connection:
            assert len((await connection.execute(sa.select(schema.matches))).all()) == 1


async def test_bans_and_invitations_are_deleted_once_they_have_ended(engine: AsyncEngine) -> None:
    for name, seconds in (("bert", 3600), ("carl", float("inf")), ("anna", -1)):
        await issue_directive(engine, "name", name, "enough", seconds)
        if seconds <= 3600:
            await create_invitations(engine, [name], 1, seconds)
    async with open_journal(engine) as journal:
        await remove_old_data(engine, journal, None)
    async with engine.connect() as connection:
        banned = (await connection.execute(sa.select(schema.directives.c.subject))).scalars().all()
        invited = (await connection.execute(sa.select(schema.invitations.c.owner))).scalars().all()
    assert (sorted(banned), list(invited)) == (["bert", "carl"], ["bert"])
