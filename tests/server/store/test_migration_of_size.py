"""A store of the schema before, taken up: what was in it is told as before."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.rating.steps import RatingStep
from arena.server.store import migrations, schema
from arena.server.store.aggregates.counting import refresh
from arena.server.store.aggregates.recompute import recompute
from arena.server.store.aggregates.standings import standings
from arena.server.store.archive import export_lines
from arena.server.store.compaction import compact
from arena.server.store.database import make_engine, open_store
from arena.server.store.journal.reader import events_of
from arena.server.store.journal.recovery import unfinished
from arena.server.store.packing import record_in
from arena.server.store.queries import Queries
from tests.server.played import (
    KINDS,
    MAXIE_WINS,
    day,
    events,
    keep,
)

OLD = (
    "number",
    "match",
    "event",
    "game",
    "maxie",
    "minnie",
    "terms",
    "started",
    "rated",
    "finished",
    "counted",
    "server",
)


async def fill(engine: AsyncEngine, *, waiting: bool) -> None:
    """Matches of every kind, rated and not, counted; one in progress, and one that waits to be counted."""
    for number in range(18):
        await keep(
            engine,
            day(1 + number),
            KINDS[number % len(KINDS)],
            match=f"{number:032}",
            maxie=("anna", "carl")[number % 2],
            rated=number % 4 != 3,
            event=("one", "two")[number % 2],
        )
    await refresh(engine)
    if waiting:
        # It finished before others that were counted.
        await keep(engine, day(2, second=30), events(MAXIE_WINS), match="w" * 32)
    await keep(engine, day(20), events((4, 0)), match="p" * 32)
    async with engine.begin() as connection:
        mine = schema.matches.c.match == "p" * 32
        its = sa.select(schema.matches.c.number).where(mine).scalar_subquery()
        await connection.execute(sa.delete(schema.records).where(schema.records.c.number == its))
        await connection.execute(sa.update(schema.matches).where(mine).values(finished=None, arrival=None))


async def write_old(engine: AsyncEngine, old: AsyncEngine) -> None:
    """Write what is in a store into an empty one as the schema before had it."""
    async with engine.connect() as connection:
        query = sa.select(schema.matches, schema.records.c.packed).outerjoin(schema.records)
        matches = (await connection.execute(query.order_by(schema.matches.c.number))).all()
        rows = [dict(row) for row in (await connection.execute(sa.select(schema.events))).mappings()]
        names = RatingStep.__struct_fields__
        steps = [
            {name: row[name] for name in names}
            for row in (await connection.execute(sa.select(schema.rating_steps))).mappings()
        ]

    def write(connection: Connection) -> None:
        command.upgrade(migrations.configuration(connection), "0002")
        connection.execute(sa.text("UPDATE about SET schema_version = 2"))
        tables = sa.MetaData()
        tables.reflect(connection)
        kept: list[dict[str, Any]] = [
            {name: getattr(row, name) for name in OLD}
            | {
                "record": None if row.packed is None else record_in(row.packed),
                "counted": row.counted and row.rated,
            }
            for row in matches
        ]
        connection.execute(sa.insert(tables.tables["matches"]), kept)
        if connection.dialect.name == "postgresql":
            numbers = "SELECT setval(pg_get_serial_sequence('matches', 'number'), max(number)) FROM matches"
            connection.execute(sa.text(numbers))
        connection.execute(sa.insert(tables.tables["events"]), rows)
        connection.execute(sa.insert(tables.tables["rating_steps"]), steps)

    async with old.begin() as connection:
        await connection.run_sync(write)


async def told(engine: AsyncEngine) -> list[object]:
    """All that the page and the commands tell of finished matches."""
    queries = Queries(engine)
    return [
        [line async for line in export_lines(engine)],
        await standings(engine),
        await queries.rated(),
        *[await queries.event(event) for event in ("one", "two")],
        *[await queries.bot(bot) for bot in ("anna", "bert", "carl")],
        await queries.match_list(None, 50, "", ""),
        [await events_of(engine, f"{number:032}") for number in range(18)],
        (await recompute(engine)).matches,
        [(each.terms.match, each.events) for each in await unfinished(engine, "test")],
    ]


@pytest.mark.parametrize("waiting", [pytest.param(False, marks=pytest.mark.soak), True])
async def test_a_store_of_the_schema_before_tells_the_same(
    database: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    *,
    waiting: bool,
) -> None:
    caplog.set_level(logging.WARNING, "arena.schema")
    async with open_store(f"sqlite:///{tmp_path / 'new.db'}") as engine:
        await fill(engine, waiting=waiting)
        old = make_engine(database)
        await write_old(engine, old)
        await old.dispose()
        async with open_store(database) as upgraded:
            assert await told(upgraded) == await told(engine)
            for each in (engine, upgraded):
                assert await refresh(each) == int(waiting)
                assert await compact(each) == 18 + waiting
            assert await told(upgraded) == await told(engine)
            # It counts on in the order in which matches come in.
            await keep(upgraded, day(1), events(MAXIE_WINS))
            assert await refresh(upgraded) == 1
            assert (await recompute(upgraded)).matches == (await recompute(engine)).matches + 1
    assert caplog.messages == [
        f"bringing the store to schema 4: all {18 + waiting} finished matches are packed"
    ]
