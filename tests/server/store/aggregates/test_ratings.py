from __future__ import annotations

import random
from collections import Counter

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.rating.glicko import GlickoRating
from arena.rating.rater import CurrentRating, Rater, RatingCategory
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.ratings import (
    RatingRow,
    add_rating_steps,
    load_cross_scores,
    load_rating_rows,
    load_rating_rows_of_bot,
    read_current_ratings,
    read_ratings_after_pruning,
    sort_rating_rows,
    store_ratings_after_pruning,
)
from arena.server.store.database import open_exclusive_transaction
from tests.server.matches import record
from tests.server.played import FAILS, MAXIE_WINS, MINNIE_WINS, NO_SHOW, NOBODY_WINS, day, events, store_match

KINDS = {
    "win": events(MAXIE_WINS),
    "loss": events(MINNIE_WINS),
    "draw": events(NOBODY_WINS),
    "void": events((4,), FAILS),
    "nobody came": events((), NO_SHOW),
    "illegal move": events((4, 4)),
}
OUTCOMES = {
    "win": ("win", "loss"),
    "loss": ("loss", "win"),
    "draw": ("draw", "draw"),
    "illegal move": ("win", "loss"),
}
"""Outcomes for Maxie and for Minnie of each kind of match that counts."""


async def test_the_stored_table_equals_a_count_of_all_matches(engine: AsyncEngine) -> None:
    chance = random.Random(1)
    scored: Counter[tuple[str, str, str]] = Counter()
    forfeits, last = Counter[str](), dict[str, str]()
    for number in range(25):
        maxie, minnie = chance.sample(["anna", "bert", "carl"], 2)
        how = chance.choice(sorted(KINDS))
        rated = chance.random() < 0.8
        await store_match(engine, day(1, number), KINDS[how], maxie=maxie, minnie=minnie, rated=rated)
        if rated:
            last |= dict.fromkeys((maxie, minnie), day(1, number))
            forfeits.update({"nobody came": [maxie, minnie], "illegal move": [minnie]}.get(how, []))
        if rated and how in OUTCOMES:
            scored[maxie, minnie, OUTCOMES[how][0]] += 1
            scored[minnie, maxie, OUTCOMES[how][1]] += 1
        if chance.random() < 0.4:
            await add_new_matches_to_aggregates(engine)
    await add_new_matches_to_aggregates(engine)
    table = await load_rating_rows(engine, "tictactoe")
    found = await load_cross_scores(engine, RatingCategory("tictactoe"), ["anna", "bert", "carl"])
    assert await load_rating_rows_of_bot(engine, "anna") == [row for row in table if row.bot == "anna"]
    assert await load_rating_rows(engine, "tictactoe", limit=2) == table[:2]
    for cross in found:
        expected = [scored[cross.bot, cross.opponent, how] for how in ("win", "draw", "loss")]
        assert [cross.wins, cross.draws, cross.losses] == expected
    for row in table:
        mine = [cross for cross in found if cross.bot == row.bot]
        assert (row.wins, row.draws, row.losses) == (
            sum(each.wins for each in mine),
            sum(each.draws for each in mine),
            sum(each.losses for each in mine),
        )
        assert row.matches == row.wins + row.draws + row.losses
        assert (row.forfeits, row.last) == (forfeits[row.bot], last[row.bot])


async def test_base_ratings_of_many_bots_are_stored_and_replaced(engine: AsyncEngine) -> None:
    keys = [(RatingCategory("tictactoe"), f"bot {number}") for number in range(505)]
    table = {key: CurrentRating(1500.0 + number, 60.0, 0.06, day(1)) for number, key in enumerate(keys)}
    async with open_exclusive_transaction(engine) as connection:
        await connection.run_sync(store_ratings_after_pruning, table)
        await connection.run_sync(
            store_ratings_after_pruning, {keys[0]: CurrentRating(1700.0, 50.0, 0.06, day(2))}
        )
        kept = await connection.run_sync(read_ratings_after_pruning)
        assert await connection.run_sync(read_current_ratings, keys) == {}
    assert kept == table | {keys[0]: CurrentRating(1700.0, 50.0, 0.06, day(2))}
    assert kept[keys[0]].to_glicko_rating() == GlickoRating(1700.0, 50.0, 0.06)


def test_equal_ratings_are_sorted_by_name() -> None:
    rows = [
        RatingRow("riskless", bot, 1500.0, 60.0, 0.06, 1, 0, 1, 0, 0, 0, day(1)) for bot in ("bert", "anna")
    ]
    assert [row.bot for row in sort_rating_rows(rows)] == ["anna", "bert"]


async def test_a_rating_step_without_that_of_the_opponent_is_refused(engine: AsyncEngine) -> None:
    async with open_exclusive_transaction(engine) as connection:
        maxie, _ = Rater().rate_match(record(), day(1))
        with pytest.raises(ValueError, match="shorter"):
            await connection.run_sync(add_rating_steps, [maxie])
