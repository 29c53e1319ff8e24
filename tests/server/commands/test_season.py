"""`arena season`: closing, listing and showing a season."""

from __future__ import annotations

import json

from tests.bots.command_line import arena
from tests.server.played import MAXIE_WINS, MINNIE_WINS, events, store_matches_daily


def test_a_season_is_closed_listed_and_shown(database: str) -> None:
    def run_command(*words: str) -> tuple[int, str]:
        code, out, err = arena(*words, "--db", database)
        return code, out + err

    store_matches_daily(database, events(MAXIE_WINS))
    _, before = run_command("ratings", "--all", "--json", "-")
    code, text = run_command("season", "close", "spring", "--game", "riskless")
    assert (code, text.count("\n")) == (1, 1)
    assert "no match of riskless was rated in this season" in text
    assert run_command("season", "list", "--json", "-") == (0, "[]\n")
    code, text = run_command("season", "close", "spring")
    assert (code, text) == (0, "season spring of tictactoe is closed, and a new one has begun\n")
    assert run_command("ratings", "--all", "--json", "-") == (0, "[]\n")
    store_matches_daily(database, events(MINNIE_WINS))
    assert run_command("season", "show", "spring", "--json", "-") == (0, before)
    assert run_command("season", "show", "spring", "--game", "riskless", "--json", "-") == (0, "[]\n")
    code, text = run_command("season", "show", "spring")
    assert (code, "anna" in text) == (0, True)
    (season,) = json.loads(run_command("season", "list", "--json", "-")[1])
    assert (season["name"], season["game"]) == ("spring", "tictactoe")
    assert "spring" in run_command("season", "list")[1]
    code, text = run_command("season", "close", "spring")
    assert (code, "tictactoe already has a closed season called 'spring': choose another name" in text) == (
        1,
        True,
    )
    code, text = run_command("season", "show", "summer")
    assert (code, text) == (1, "arena: no season is called 'summer': `arena season list` shows all\n")
    assert run_command("season", "close", "spring\n")[0] == 2
