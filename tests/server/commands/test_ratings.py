from __future__ import annotations

import json
import re

import anyio
import pytest
import sqlalchemy as sa

from arena.server.store import schema
from arena.server.store.database import open_store
from tests.bots.command_line import arena, fails
from tests.server.played import MAXIE_WINS, NO_SHOW, NOBODY_WINS, events, store_matches_daily


@pytest.fixture
def filled_store(database: str) -> str:
    return store_matches_daily(database, events(MAXIE_WINS), events(NOBODY_WINS), events((), NO_SHOW))


def test_the_table_has_the_ratings(filled_store: str) -> None:
    code, out, _ = arena("ratings", "--all", "--db", filled_store)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines()]
    assert code == 0
    assert rows[0][:4] == ["#", "game", "bot", "rating"]
    assert [row[:3] for row in rows[2:]] == [["1", "tictactoe", "anna"], ["2", "tictactoe", "bert"]]
    assert re.fullmatch(r"\d+ ± \d+ provisional", rows[2][3])
    assert rows[2][4:] == ["2", "1", "1", "0", "1", "0"]
    code, out, _ = arena("ratings", "--db", filled_store, "--game", "riskless", "--json", "-")
    assert (code, json.loads(out)) == (0, [])
    code, out, _ = arena("ratings", "--all", "--db", filled_store, "--game", "tictactoe", "--json", "-")
    anna, bert = json.loads(out)
    assert (anna["bot"], anna["won"], anna["drawn"], anna["forfeits"], anna["crash"]) == ("anna", 1, 1, 1, 0)
    assert anna["provisional"]
    assert anna["rating"] > 1500 > bert["rating"]


def test_recomputing_confirms_the_ratings_or_names_the_first_difference(
    filled_store: str,
) -> None:
    code, out, err = arena("ratings", "--all", "--recompute", "--db", filled_store)
    assert (code, err) == (0, "recomputed from 3 matches of the journal, with the same result\n")
    assert "anna" in out

    async def tamper() -> None:
        async with open_store(filled_store) as engine, engine.begin() as connection:
            await connection.execute(sa.update(schema.rating_steps).values(rating=2000.0))

    anyio.run(tamper)
    fails("the stored one is 2000.0000", 1, "ratings", "--recompute", "--db", filled_store)


def test_an_unknown_game_is_a_usage_error(filled_store: str) -> None:
    words = ("ratings", "--db", filled_store, "--game", "chess")
    fails("no game is called 'chess': choose from ", 2, *words)
