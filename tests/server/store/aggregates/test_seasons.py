from __future__ import annotations

import random
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.rating.rater import RatingCategory
from arena.server.store.accounts import load_accounts
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.rating_verification import verify_ratings
from arena.server.store.aggregates.ratings import (
    RatingRow,
    load_cross_scores,
    load_rating_rows,
    load_rating_rows_of_bot,
)
from arena.server.store.aggregates.season_closing import close_season
from arena.server.store.aggregates.seasons import load_seasons
from arena.server.store.database import open_store, run_in_transaction
from arena.server.store.errors import OperationRefused
from arena.server.store.match_search import load_head_to_head_scores
from arena.server.store.pruning import Retention, prune_matches
from arena.server.store.queries import load_rating_tables
from arena.server.store.schema import matches
from arena.server.store.schema import standings as standings_table
from tests.server.played import MAXIE_WINS, MINNIE_WINS, NOBODY_WINS, day, events, store_match

NAMES = ["anna", "bert", "carl"]


async def close_current_season(engine: AsyncEngine, name: str, game: str | None = None) -> list[str]:
    return await run_in_transaction(engine, partial(close_season, season_name=name, game_name=game))


async def store_random_matches(chance: random.Random, days: range, *engines: AsyncEngine) -> None:
    """Store a random match for each day in `days`, the same matches in all stores."""
    for number in days:
        maxie, minnie = chance.sample(NAMES, 2)
        how = events(chance.choice([MAXIE_WINS, MINNIE_WINS, NOBODY_WINS]))
        for engine in engines:
            await store_match(engine, day(number), how, maxie=maxie, minnie=minnie, match=f"{number:032}")


async def store_riskless_rating(engine: AsyncEngine) -> None:
    """Store a rating of anna for Riskless, without a match."""
    row = RatingRow("riskless", "anna", 1500.0, 60.0, 0.06, 1, 0, 1, 0, 0, 0, day(1))
    named = {name: getattr(row, name) for name in RatingRow.__struct_fields__}
    async with engine.begin() as connection:
        await connection.execute(sa.insert(standings_table).values(**named))


async def test_a_new_season_starts_without_ratings_and_the_closed_one_keeps_its_tables(
    engine: AsyncEngine, other_database: str
) -> None:
    chance = random.Random(1)
    async with open_store(other_database) as other:
        await store_random_matches(chance, range(1, 12), engine)
        await add_new_matches_to_aggregates(engine)
        before, crossed = (
            await load_rating_rows(engine),
            await load_cross_scores(engine, RatingCategory("tictactoe"), NAMES),
        )
        of_clock = await load_rating_rows(engine, "tictactoe", "", "1+0.1")
        assert await close_current_season(engine, "spring") == ["tictactoe"]
        assert await load_rating_rows(engine) == []
        assert await load_rating_rows(engine, season="spring") == before
        assert (await load_accounts(engine, "", ["anna"]))["anna"].ratings == {}
        await store_random_matches(chance, range(12, 24), engine, other)
        await add_new_matches_to_aggregates(engine)
        await add_new_matches_to_aggregates(other)
        now = await load_rating_rows(engine)
        assert now == await load_rating_rows(other)
        assert await load_rating_rows(engine, "tictactoe", "", "1+0.1") == await load_rating_rows(
            other, "tictactoe", "", "1+0.1"
        )
        assert await load_rating_rows(engine, season="spring") == before
        assert await load_rating_rows(engine, "tictactoe", "", "1+0.1", "spring") == of_clock
        tables = await load_rating_tables(engine, season="spring")
        assert tables.rating_rows == before
        assert {(each.bot, each.opponent): each for each in tables.cross_scores_by_game["tictactoe"]} == {
            (each.bot, each.opponent): each for each in crossed
        }
        assert [each.time_control for each in tables.categories] == ["1+0.1"]
        mine = await load_cross_scores(engine, RatingCategory("tictactoe", season=2), NAMES)
        assert mine == await load_cross_scores(other, RatingCategory("tictactoe"), NAMES)
        assert await load_rating_rows_of_bot(engine, "anna") == [row for row in now if row.bot == "anna"]
        ratings = {row.bot: row.rating for row in now}
        (anna,) = (await load_accounts(engine, "", ["anna"]))["anna"].ratings.values()
        assert anna.rating == ratings["anna"]
        (score,) = await load_head_to_head_scores(engine, "anna", "bert")
        both = [each for each in (*crossed, *mine) if (each.bot, each.opponent) == ("anna", "bert")]
        assert len(both) == 2
        assert (score.wins, score.losses) == (
            sum(each.wins for each in both),
            sum(each.losses for each in both),
        )


async def test_uncounted_matches_belong_to_the_closed_season(
    engine: AsyncEngine,
) -> None:
    for number in range(3):
        await store_match(engine, day(1 + number), events(MAXIE_WINS), match=f"{number:032}")
    await close_current_season(engine, "spring")
    assert [row.matches for row in await load_rating_rows(engine, season="spring")] == [3, 3]
    assert await add_new_matches_to_aggregates(engine) == 0


async def test_ratings_of_all_seasons_are_recomputed_also_after_matches_are_removed(
    engine: AsyncEngine,
) -> None:
    chance = random.Random(2)
    await store_random_matches(chance, range(1, 9), engine)
    await close_current_season(engine, "spring")
    await store_random_matches(chance, range(9, 17), engine)
    await add_new_matches_to_aggregates(engine)
    assert (await verify_ratings(engine)).match_count == 16
    for kept in (12, 5, 0):
        before = await load_rating_rows(engine, season="spring"), await load_rating_rows(engine)
        await prune_matches(engine, Retention(max_matches=kept))
        assert (await verify_ratings(engine)).match_count == kept
        assert (await load_rating_rows(engine, season="spring"), await load_rating_rows(engine)) == before
    await store_random_matches(chance, range(17, 21), engine)
    await add_new_matches_to_aggregates(engine)
    assert (await verify_ratings(engine)).match_count == 4


async def test_a_season_of_one_game_or_of_all_is_closed_under_a_new_name(engine: AsyncEngine) -> None:
    with pytest.raises(OperationRefused, match="no match was rated in this season"):
        await close_current_season(engine, "spring")
    await store_match(engine, day(1), events(MAXIE_WINS))
    await add_new_matches_to_aggregates(engine)
    await store_riskless_rating(engine)
    assert await close_current_season(engine, "spring", "riskless") == ["riskless"]
    assert [row.game for row in await load_rating_rows(engine)] == ["tictactoe"] * 2
    with pytest.raises(OperationRefused, match="no match of riskless was rated in this season"):
        await close_current_season(engine, "summer", "riskless")
    assert await close_current_season(engine, "spring") == ["tictactoe"], (
        "no match of riskless was rated in its new season"
    )
    assert {row.game for row in await load_rating_rows(engine, season="spring")} == {
        "riskless",
        "tictactoe",
    }
    await store_match(engine, day(2), events(MAXIE_WINS))
    with pytest.raises(OperationRefused, match="tictactoe already has a closed season called 'spring'"):
        await close_current_season(engine, "spring")
    assert [each.name for each in (await load_seasons(engine)).list_seasons_latest_first()] == [
        "spring",
        "spring",
    ]


async def test_a_season_that_cannot_be_stored_for_all_games_is_not_closed(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        for number in range(3):
            await store_match(engine, day(1 + number), events(MAXIE_WINS), match=f"{number:032}")
        await store_riskless_rating(engine)
        async with engine.begin() as connection:
            await connection.exec_driver_sql(
                "CREATE TRIGGER broken BEFORE INSERT ON seasons WHEN NEW.game = 'tictactoe'"
                " BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
            )
        with pytest.raises(sa.exc.IntegrityError, match="the disk is full"):
            await close_current_season(engine, "spring")
        assert (await load_seasons(engine)).list_seasons_latest_first() == []
        async with engine.connect() as connection:
            counted = sa.select(sa.func.count()).where(matches.c.counted)
            assert await connection.scalar(counted) == 0, "the matches must not be counted either"
        await add_new_matches_to_aggregates(engine)
        assert [row.matches for row in await load_rating_rows(engine, "tictactoe")] == [3, 3]


CLOSE_AND_KILL = """
import itertools, os, shutil, signal, sys
from functools import partial
from pathlib import Path

import anyio
import sqlalchemy as sa

from arena.server.store.aggregates.season_closing import close_season
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import open_store, run_in_transaction

async def close(file, last):
    done = itertools.count(1)
    async with open_store(f"sqlite:///{file}") as engine:
        def step(*told):
            if next(done) == last:
                os.kill(os.getpid(), signal.SIGKILL)
        sa.event.listen(engine.sync_engine, "before_cursor_execute", step)
        sa.event.listen(engine.sync_engine, "commit", step)
        await add_new_matches_to_aggregates(engine)
        await run_in_transaction(engine, partial(close_season, season_name="spring"))

folder, code = Path(sys.argv[1]), -9
for last in itertools.count(1):
    file = shutil.copy(folder / "arena.db", folder / f"{last}.db")
    child = os.fork()
    if not child:
        anyio.run(close, file, last)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != -9:
        sys.exit(code)
"""
"""Program that closes a season in copies of a store, and is killed before a later statement or commit in each copy."""


@pytest.mark.slow
async def test_a_kill_during_the_closing_leaves_the_season_open_or_closed(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        await store_match(engine, day(1), events(MAXIE_WINS), match=f"{1:032}")
        await add_new_matches_to_aggregates(engine)
        await store_riskless_rating(engine)
        await store_match(engine, day(2), events(MINNIE_WINS), match=f"{2:032}")
    await anyio.run_process([sys.executable, "-c", CLOSE_AND_KILL, str(tmp_path)])
    files = sorted(tmp_path.glob("*[0-9].db"), key=lambda file: int(file.stem))
    assert len(files) > 10
    async with open_store(f"sqlite:///{files[-1]}") as engine:
        closed = await load_rating_rows(engine, season="spring")
    assert [(row.game, row.matches) for row in closed] == [("riskless", 1)] + [("tictactoe", 2)] * 2
    kinds = set()
    for file in files:
        async with open_store(f"sqlite:///{file}") as engine:
            names = [each.name for each in (await load_seasons(engine)).closed_seasons]
            kinds.add(len(names))
            await add_new_matches_to_aggregates(engine)
            assert names in ([], ["spring", "spring"])
            assert (await load_rating_rows(engine), await load_rating_rows(engine, season="spring")) == (
                ([], closed) if names else (closed, [])
            )
    assert kinds == {0, 2}
