from __future__ import annotations

import anyio
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store.aggregates.counting import refresh
from arena.server.store.arrival import let_nobody_count
from arena.server.store.database import exclusive, open_store
from arena.server.store.schema import matches
from tests.server.databases import Postgresql
from tests.server.played import MAXIE_WINS, day, events, keep


async def arrivals(engine: AsyncEngine) -> dict[str, int]:
    async with engine.connect() as connection:
        rows = (await connection.execute(sa.select(matches.c.match, matches.c.arrival))).all()
    return {row.match: row.arrival for row in rows}


async def test_each_match_that_finishes_gets_the_next_number(database: str) -> None:
    async with open_store(database) as engine:
        played = [(await keep(engine, day(9 - number), events(MAXIE_WINS))).match for number in range(4)]
        found = await arrivals(engine)
    assert sorted(found, key=lambda match: found[match]) == played
    assert len(set(found.values())) == len(played)


async def test_nobody_counts_while_a_number_is_given_that_is_not_there_yet(
    postgresql: Postgresql, postgresql_database: str
) -> None:
    """Else a match could come in with a lower number than one that is counted already."""
    counted: list[int] = []

    async def count() -> None:
        counted.append(await refresh(engine))

    async with open_store(postgresql_database) as engine:
        await keep(engine, day(1), events(MAXIE_WINS))
        async with anyio.create_task_group() as tasks, engine.begin() as one, engine.begin() as other:
            for connection in (one, other):  # beside each other they may well do so
                await connection.run_sync(let_nobody_count)
            tasks.start_soon(count)
            await anyio.sleep(0.3)
            assert counted == []
        assert counted == [1]
        async with exclusive(engine) as connection:
            assert (await connection.execute(sa.select(matches.c.counted))).scalar_one()
