"""`arena season` on a store."""

from __future__ import annotations

import json

import anyio

from arena.server.store.database import open_store
from tests.server.command_line import run
from tests.server.played import MAXIE_WINS, day, events, keep


def test_a_season_is_closed_listed_and_shown(database: str) -> None:
    async def fill(number: int) -> None:
        async with open_store(database) as engine:
            await keep(engine, day(number), events(MAXIE_WINS), match=f"{number:032}")

    def told(*words: str) -> tuple[int, str]:
        code, out, err = run(*words, "--db", database)
        return code, out + err

    anyio.run(fill, 1)
    _, before = told("ratings", "--all", "--json", "-")
    code, text = told("season", "close", "spring", "--game", "riskless")
    assert (code, text.count("\n")) == (1, 1)
    assert "no match of riskless was rated in this season" in text
    assert told("season", "list", "--json", "-") == (0, "[]\n")
    code, text = told("season", "close", "spring")
    assert (code, text) == (0, "season spring of tictactoe is closed, and a new one has begun\n")
    assert told("ratings", "--all", "--json", "-") == (0, "[]\n")
    anyio.run(fill, 2)
    assert told("season", "show", "spring", "--json", "-") == (0, before)
    assert told("season", "show", "spring", "--game", "riskless", "--json", "-") == (0, "[]\n")
    code, text = told("season", "show", "spring")
    assert (code, "anna" in text) == (0, True)
    (season,) = json.loads(told("season", "list", "--json", "-")[1])
    assert (season["name"], season["game"]) == ("spring", "tictactoe")
    assert "spring" in told("season", "list")[1]
    code, text = told("season", "close", "spring")
    assert (code, "tictactoe already has a closed season called 'spring': choose another name" in text) == (
        1,
        True,
    )
    code, text = told("season", "show", "summer")
    assert (code, text) == (1, "arena: no season is called 'summer': `arena season list` shows all\n")
    assert told("season", "close", "spring\n")[0] == 2
