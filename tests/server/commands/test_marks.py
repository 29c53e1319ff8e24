from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from io import StringIO

import pytest

from arena.console import CommandError
from arena.protocol.codes import EndReason
from arena.protocol.record import Result
from arena.protocol.values import Players, Seat
from arena.rating.rater import FinishedMatch
from arena.rating.standings import StandingsRow, make_standings_from_counts
from arena.server.commands.marks import make_grading_table_rows
from tests.bots.command_line import arena, fails
from tests.server.played import MAXIE_WINS, NO_SHOW, events, store_matches_daily


@pytest.fixture
def filled_store(database: str) -> str:
    return store_matches_daily(database, events(MAXIE_WINS), events(MAXIE_WINS), events((), NO_SHOW))


def test_marks_are_ranks_points_and_elo_against_the_anchor(filled_store: str) -> None:
    words = ("marks", "--event", "test", "--against", "bert", "--db", filled_store)
    result = arena(*words, "--csv", "-")
    assert result.code == 0, result
    rows = list(csv.DictReader(StringIO(result.stdout)))
    assert [(row["rank"], row["bot"], row["points"], row["games"]) for row in rows] == [
        ("1", "anna", "2", "3"),
        ("2", "bert", "0", "3"),
    ]
    assert float(rows[0]["elo"]) > 0 == float(rows[1]["elo"])
    assert 0.5 < float(rows[0]["above"]) < 1
    before = arena(*words, "--json", "-")
    assert [row["forfeits"] for row in json.loads(before.stdout)] == [1, 1]
    assert "anna" in arena(*words).stdout
    assert arena("store", "prune", "--keep", "1", "--db", filled_store).code == 0
    assert arena(*words, "--json", "-") == before, "pruning does not change marks"
    fails("'eve' has played no match of the event", 1, *words[:4], "eve", *words[5:])
    fails("event 'tea' does not exist, or has no finished matches", 1, "marks", "--event", "tea", *words[3:])


def row_of(names: str, results: Sequence[tuple[str, str, Seat | None]]) -> list[StandingsRow]:
    scores = [
        (FinishedMatch("", "tictactoe", Players(a, b), Result(won, EndReason.LINE)), 1)
        for a, b, won in results
    ]
    return make_standings_from_counts(list(names), scores)


def test_more_wins_against_the_anchor_raise_the_probability_of_being_above_it() -> None:
    won: list[tuple[str, str, Seat | None]] = [("x", "a", "maxie"), ("y", "a", "maxie")]
    losses: list[tuple[str, str, Seat | None]] = [("x", "a", "minnie"), ("y", "a", "minnie")]
    results = won[:1] * 9 + losses[:1] + won[1:] * 5 + losses[1:] * 5
    found = {each.bot: each for each in make_grading_table_rows(row_of("axy", results), "a")}
    assert found["x"].likelihood_of_superiority > 0.95 > found["y"].likelihood_of_superiority
    assert found["y"].likelihood_of_superiority == pytest.approx(0.5, abs=0.05)
    assert (found["a"].elo, found["a"].elo_error, found["a"].likelihood_of_superiority) == (0, 0, 0.5)
    with pytest.raises(CommandError):
        make_grading_table_rows(row_of("axy", results), "z")
