from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.record import Record
from arena.rating.glicko import GlickoRating
from arena.rating.rater import Rater, RatingCategory, RatingStep, make_rating_categories
from arena.server.store.aggregates import match_counting
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.rating_verification import make_rating_step_from_row
from arena.server.store.aggregates.ratings import (
    list_rating_categories,
    load_cross_scores,
    load_rating_rows,
    read_current_ratings,
)
from arena.server.store.database import open_query_connection, open_store
from arena.server.store.schema import rating_steps
from tests.properties import seeds
from tests.server.played import KINDS, MAXIE_WINS, MINNIE_WINS, NOBODY_WINS, day, events, store_match

FAR, LONG_AGO = "9999-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z"


async def load_steps(engine: AsyncEngine) -> list[RatingStep]:
    query = sa.select(rating_steps).order_by(
        rating_steps.c.arrival, rating_steps.c.time_control, rating_steps.c.seat
    )
    async with engine.connect() as connection:
        return [make_rating_step_from_row(row) for row in (await connection.execute(query)).all()]


def compute_steps(played: list[tuple[str, Record]]) -> list[RatingStep]:
    """Return the rating steps of these matches, rated at once in order of arrival."""
    rater = Rater()
    return [
        step
        for finished, record in played
        for category in make_rating_categories("tictactoe", "", record.time_control, 1)
        for step in rater.rate_match(record, finished, category)
    ]


@pytest.mark.parametrize("seed", seeds(3))
async def test_matches_are_rated_in_the_order_of_arrival_whatever_their_times(
    engine: AsyncEngine, seed: int
) -> None:
    chance = random.Random(seed)
    waiting: list[tuple[str, dict[str, Any]]] = []
    for number in range(24):
        maxie, minnie = chance.sample(["anna", "bert", "carl"], 2)
        how = chance.choice(KINDS)
        # Some end times are equal, and some are wrong by thousands of years.
        at = chance.choice([day(1 + chance.randrange(5), second=chance.randrange(3)), FAR, LONG_AGO])
        match: dict[str, Any] = {"maxie": maxie, "minnie": minnie, "match": f"{number:032x}"}
        time_control = chance.choice(["1+0.1", "0.1/move"])
        waiting.append((at, match | {"happened": how, "time_control": time_control}))
    chance.shuffle(waiting)
    matches: list[tuple[str, Record]] = []
    for at, match in waiting:
        matches.append((at, await store_match(engine, at, **match)))
        if chance.random() < 0.2:
            await add_new_matches_to_aggregates(engine)
            assert await load_steps(engine) == compute_steps(matches)
    await add_new_matches_to_aggregates(engine)
    assert await load_steps(engine) == compute_steps(matches)
    assert await add_new_matches_to_aggregates(engine) == 0


async def test_all_matches_of_several_transactions_are_counted(engine: AsyncEngine) -> None:
    matches = [
        (day(1), await store_match(engine, day(1), events(MAXIE_WINS)))
        for _ in range(match_counting.COUNTED_MATCHES_PER_TRANSACTION + 3)
    ]
    assert await add_new_matches_to_aggregates(engine) == len(matches)
    assert await load_steps(engine) == compute_steps(matches)


async def test_servers_that_count_concurrently_count_each_match_once(database: str) -> None:
    counts: list[int] = []

    async def count() -> None:
        async with open_store(database) as engine:
            counts.append(await add_new_matches_to_aggregates(engine))

    async with open_store(database) as engine:
        matches = [(day(1 + n), await store_match(engine, day(1 + n), events(MAXIE_WINS))) for n in range(10)]
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(count)
        assert sum(counts) == 10
        assert await load_steps(engine) == compute_steps(matches)


async def test_the_search_for_uncounted_matches_uses_their_index(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        text = str(match_counting.SELECT_UNCOUNTED_MATCHES.compile(dialect=engine.dialect))
        async with engine.connect() as connection:
            plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", (1, 0))).all()
        details = [row.detail for row in plan]
        assert details == ["SCAN matches USING INDEX ix_matches_uncounted"]


async def test_a_match_with_a_time_in_the_future_is_counted_once(engine: AsyncEngine) -> None:
    await store_match(engine, FAR, events(MAXIE_WINS))
    assert await add_new_matches_to_aggregates(engine) == 1
    for number in range(match_counting.COUNTED_MATCHES_PER_TRANSACTION + 1):
        await store_match(engine, day(1, number), events(MINNIE_WINS))
        assert await add_new_matches_to_aggregates(engine) == 1
    assert await add_new_matches_to_aggregates(engine) == 0
    (anna,) = [row for row in await load_rating_rows(engine) if row.bot == "anna"]
    assert (anna.wins, anna.losses) == (1, match_counting.COUNTED_MATCHES_PER_TRANSACTION + 1)
    assert anna.deviation < 350


async def test_each_of_many_bots_gets_its_own_rating(engine: AsyncEngine) -> None:
    names = [f"bot {number}" for number in range(12)]
    for number, (maxie, minnie) in enumerate(pairwise(names)):
        await store_match(engine, day(1, number), events(MAXIE_WINS), maxie=maxie, minnie=minnie)
    await add_new_matches_to_aggregates(engine)
    keys = [(RatingCategory("tictactoe"), name) for name in (*names, "nobody")]
    async with open_query_connection(engine) as connection:
        found = await connection.run_sync(read_current_ratings, keys)
    rows = {
        row.bot: GlickoRating(row.rating, row.deviation, row.volatility)
        for row in await load_rating_rows(engine)
    }
    assert {bot: known.to_glicko_rating() for (_, bot), known in found.items()} == rows


async def test_ratings_by_time_control_equal_those_of_a_store_without_other_matches(
    engine: AsyncEngine, other_database: str
) -> None:
    chance = random.Random(1)
    async with open_store(other_database) as other:
        for number in range(16):
            maxie, minnie = chance.sample(["anna", "bert", "carl"], 2)
            time_control = chance.choice(["1+0.1", "0.1/move"])
            how = events(chance.choice([MAXIE_WINS, MINNIE_WINS, NOBODY_WINS]))
            for each in (engine, other) if time_control == "0.1/move" else (engine,):
                await store_match(
                    each, day(1, number), how, maxie=maxie, minnie=minnie, time_control=time_control
                )
        await add_new_matches_to_aggregates(engine)
        await add_new_matches_to_aggregates(other)
        rows = await load_rating_rows(engine, "tictactoe", "", "0.1/move")
        assert rows == await load_rating_rows(other, "tictactoe")
        assert rows != await load_rating_rows(engine, "tictactoe")
        assert await load_rating_rows(engine, "tictactoe", "italy", "0.1/move") == []
        names = [row.bot for row in rows]
        of_clock = await load_cross_scores(engine, RatingCategory("tictactoe", "", "0.1/move"), names)
        assert of_clock == await load_cross_scores(other, RatingCategory("tictactoe"), names)
        listed = await list_rating_categories(engine, 5, active_since_time=LONG_AGO)
        assert {each.time_control: each.match_count for each in listed} == {
            "0.1/move": sum(row.matches for row in rows),
            "1+0.1": 32 - sum(row.matches for row in rows),
        }
        assert len(await list_rating_categories(engine, 1)) == 1
        assert await list_rating_categories(engine, 5, active_since_time=FAR) == []
