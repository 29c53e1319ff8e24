"""server.store.arena: who lives, who takes over, who is in office, and where a bot is."""

from __future__ import annotations

from functools import partial

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.events import Opened, to_journal
from arena.match.terms import to_json
from arena.server.processes.identity import this_process
from arena.server.store import arena, lease, schema
from arena.server.store.database import open_store
from arena.server.store.journal.batch import Batch, write_batch
from arena.server.store.journal.reader import events_of
from arena.server.store.journal.rows import EventRow, Rows
from arena.server.store.journal.writer import Writer, open_writer
from arena.server.store.lease import Lease, LeaseLost
from tests.server.matches import terms

MATCH = "m" * 32
ELSEWHERE = replace(this_process(), host="elsewhere", place="another machine")


async def taken(writer: Writer, name: str) -> Lease:
    return await writer.write(
        partial(lease.take, name=name, process=ELSEWHERE, seconds=lease.ARENA_SECONDS, arena=True)
    )


async def run_out(engine: AsyncEngine, name: str) -> None:
    """Let as much time pass for a server's lease as it lasts."""
    async with engine.begin() as connection:
        mine = schema.servers.c.name == name
        late = schema.servers.c.until - lease.ARENA_SECONDS
        await connection.execute(sa.update(schema.servers).where(mine).values(until=late))


def begun() -> Batch:
    """A match that begins."""
    asked = terms()
    row = {
        "match": MATCH,
        "event": "serve",
        "game": asked.game.name,
        "maxie": "anna",
        "minnie": "bert",
        "terms": to_json(asked),
        "started": "2026-11-20T12:00:00Z",
        "rated": False,
    }
    return Batch(opened=[row], rows=[EventRow(1, to_journal(1, Opened()), MATCH)])


async def write(writer: Writer, holder: Lease, batch: Batch) -> None:
    def work(connection: sa.Connection) -> None:
        lease.require(connection, holder)
        write_batch(connection, batch, Rows(holder), holder)

    await writer.write(work)


async def test_one_of_those_that_see_a_lease_run_out_takes_its_matches_and_the_holder_writes_nothing_more(
    database: str,
) -> None:
    async with open_store(database) as engine, open_writer(engine) as writer:
        north, south, west = [await taken(writer, name) for name in ("north", "south", "west")]
        await write(writer, north, begun())
        over = partial(arena.take_over, dead="north", number=north.number)
        assert await writer.write(partial(over, lease=south)) is None  # it lives
        await run_out(engine, "north")
        assert await writer.write(partial(over, lease=south)) == [MATCH]
        assert await writer.write(partial(over, lease=west)) is None
        assert await arena.whereabouts(engine, [MATCH, "unknown"]) == {MATCH: "south"}
        late = Batch(rows=[EventRow(2, to_journal(2, Opened()), MATCH)])
        with pytest.raises(LeaseLost):
            await write(writer, north, late)
        with pytest.raises(LeaseLost):
            await writer.write(partial(arena.look, lease=north, runs=True, hears=True))
        assert len(await events_of(engine, MATCH)) == 1
        await write(writer, south, late)
        assert len(await events_of(engine, MATCH)) == 2


async def test_whoever_has_lost_its_own_lease_takes_nothing_over(database: str) -> None:
    async with open_store(database) as engine, open_writer(engine) as writer:
        north, south, west = [await taken(writer, name) for name in ("north", "south", "west")]
        for name in ("north", "south"):
            await run_out(engine, name)
        assert (
            await writer.write(partial(arena.take_over, lease=west, dead="south", number=south.number)) == []
        )
        with pytest.raises(LeaseLost):
            await writer.write(partial(arena.take_over, lease=south, dead="north", number=north.number))


async def test_a_look_shows_who_lives_and_who_hears(database: str) -> None:
    async with open_store(database) as engine, open_writer(engine) as writer:
        north, south = [await taken(writer, name) for name in ("north", "south")]
        await writer.write(partial(lease.take, name="alone", process=ELSEWHERE))  # of no arena
        await writer.write(partial(arena.look, lease=north, runs=False, hears=True))
        seen = await writer.write(partial(arena.look, lease=south, runs=False, hears=False))
        assert [(each.name, each.lives, each.hears) for each in seen.neighbours] == [
            ("north", True, True),
            ("south", True, False),
        ]
        await run_out(engine, "north")
        seen = await writer.write(partial(arena.look, lease=south, runs=False, hears=False))
        assert [each.lives for each in seen.neighbours] == [False, True]
        await writer.write(partial(arena.take_over, lease=south, dead="north", number=north.number))
        seen = await writer.write(partial(arena.look, lease=south, runs=False, hears=False))
        assert [each.name for each in seen.neighbours] == ["south"]


async def test_an_office_has_one_holder_and_passes_on_when_that_is_gone(database: str) -> None:
    async with open_store(database) as engine, open_writer(engine) as writer:
        north, south = [await taken(writer, name) for name in ("north", "south")]

        async def look(holder: Lease, *, runs: bool = True) -> arena.Office:
            seen = await writer.write(partial(arena.look, lease=holder, runs=runs, hears=True))
            return seen.office

        assert await look(north, runs=False) == (0, "", 0)
        assert await look(north) == (1, "north", north.number)
        assert await look(south) == (1, "north", north.number)
        assert await look(north) == (1, "north", north.number)
        await run_out(engine, "north")
        assert await look(south) == (2, "south", south.number)
        assert (await look(south, runs=False)).server == ""  # it gives it up
        await taken(writer, "west")
        assert (await look(south)).term == 3
