from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.server.store import match_packing, schema, tokens
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.rating_verification import verify_ratings
from arena.server.store.database import open_store, redirect_transactions
from arena.server.store.finished_matches import load_record_line
from arena.server.store.journal.reader import find_matches_by_id_prefix, load_events_of_match
from arena.server.store.match_packing import pack_finished_matches
from arena.server.store.personal_data import forget_name, rename_in_store
from arena.server.web.match_log import load_match_log
from testkit.stored_records import load_event_records
from tests.server.played import KINDS, MAXIE_WINS, day, events, store_match


async def count_rows(connection: AsyncConnection, table: sa.Table) -> int:
    return (await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one()


async def test_a_match_reads_the_same_before_and_after_it_is_packed(engine: AsyncEngine) -> None:
    kinds = [*KINDS, events((4, 4))]

    async def read_everything(engine: AsyncEngine) -> list[object]:
        return [
            (
                await load_events_of_match(engine, match.match),
                await load_record_line(engine, match.match),
                [each.terms.match for each in await find_matches_by_id_prefix(engine, match.match)],
                await load_match_log(engine, match.match),
            )
            for match in matches
        ] + [await load_event_records(engine, "test")]

    matches = [await store_match(engine, day(1), kind) for kind in kinds]
    await add_new_matches_to_aggregates(engine)
    before = await read_everything(engine)
    assert await pack_finished_matches(engine) == len(kinds)
    async with engine.connect() as connection:
        assert await count_rows(connection, schema.events) == 0
        terms = (await connection.execute(sa.select(schema.matches.c.terms))).scalars().all()
        assert terms == [""] * len(kinds)
    assert await read_everything(engine) == before
    assert (await verify_ratings(engine)).imported_match_count == 0
    assert await pack_finished_matches(engine) == 0


async def test_matches_in_progress_are_not_packed(engine: AsyncEngine) -> None:
    unfinished = await store_match(engine, day(1), events((4,)))
    async with engine.begin() as connection:
        await connection.execute(sa.delete(schema.records))
        await connection.execute(sa.update(schema.matches).values(finished=None, arrival=None))
    await store_match(engine, day(1), events(MAXIE_WINS))
    before = await load_events_of_match(engine, unfinished.match)
    assert await pack_finished_matches(engine) == 1
    assert await load_events_of_match(engine, unfinished.match) == before != []


async def test_matches_are_packed_in_several_transactions(
    engine: AsyncEngine,
) -> None:
    for _ in range(match_packing.PACKED_MATCHES_PER_TRANSACTION + 2):
        await store_match(engine, day(1), events(MAXIE_WINS))
    sizes = []

    async def write(operation: Callable[[sa.Connection], Any]) -> Any:
        async with engine.begin() as connection:
            packed = await connection.run_sync(operation)
            sizes.append(await count_rows(connection, schema.events))
            return packed

    assert (
        await pack_finished_matches(redirect_transactions(engine, write))
        == match_packing.PACKED_MATCHES_PER_TRANSACTION + 2
    )
    assert len(sizes) == 2
    assert sizes[0] > sizes[1] == 0


async def test_two_servers_that_pack_the_same_match_lose_nothing(database: str) -> None:
    async with open_store(database) as engine, open_store(database) as other:
        match = await store_match(engine, day(1), events(MAXIE_WINS))
        before = await load_events_of_match(engine, match.match)

        async def write(operation: Callable[[sa.Connection], Any]) -> Any:
            """Write after the other server has packed the match, which this one has already read."""
            assert await pack_finished_matches(other) == 1
            async with engine.begin() as connection:
                return await connection.run_sync(operation)

        assert await pack_finished_matches(redirect_transactions(engine, write)) == 1
        assert await load_events_of_match(engine, match.match) == before


@pytest.mark.parametrize(
    "change", [partial(rename_in_store, new_name="wolf", transfers_ban=True), forget_name]
)
async def test_a_name_changed_while_a_match_is_packed_does_not_come_back(
    engine: AsyncEngine, change: Callable[[AsyncEngine, str], Awaitable[Any]]
) -> None:
    await store_match(engine, day(1), events(MAXIE_WINS), maxie="anna")
    await store_match(engine, day(1), events(MAXIE_WINS), maxie="carl")
    await tokens.create_token(engine, "anna", "bot", "ada")
    once = iter([change])

    async def write(operation: Callable[[sa.Connection], Any]) -> Any:
        for each in once:
            await each(engine, "anna")
        async with engine.begin() as connection:
            return await connection.run_sync(operation)

    assert await pack_finished_matches(redirect_transactions(engine, write)) == 2
    lines = await load_event_records(engine, "test")
    assert not any("anna" in str(each) for each in lines)
    assert sum("carl" in str(each) for each in lines) == 1
    async with engine.connect() as connection:
        assert await count_rows(connection, schema.events) == 0
        wholes = await connection.execute(sa.select(schema.records.c.whole))
        assert wholes.scalars().all() == [True, True]
