from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from io import StringIO

import anyio
import pytest

from arena.console import CommandError
from arena.protocol.codes import EndReason
from arena.protocol.record import Result
from arena.protocol.values import Players, Seat
from arena.rating.rater import FinishedMatch
from arena.rating.standings import StandingsRow, make_standings_from_counts
from arena.server.commands.marks import make_marks
from arena.server.store.database import open_store
from tests.server.command_line import run
from tests.server.played import MAXIE_WINS, NO_SHOW, day, events, keep


@pytest.fixture
def filled_store(database: str) -> str:
    async def fill() -> None:
        async with open_store(database) as engine:
            for number, how in enumerate([events(MAXIE_WINS), events(MAXIE_WINS), events((), NO_SHOW)]):
                await keep(engine, day(1 + number), how, match=f"{number:032}")

    anyio.run(fill)
    return database


def test_marks_are_ranks_points_and_elo_against_the_anchor(filled_store: str) -> None:
    event = "test"
    code, out, err = run("marks", "--event", event, "--against", "bert", "--csv", "-", "--db", filled_store)
    assert code == 0, err
    rows = list(csv.DictReader(StringIO(out)))
    assert [(row["rank"], row["bot"], row["points"], row["games"]) for row in rows] == [
        ("1", "anna", "2", "3"),
        ("2", "bert", "0", "3"),
    ]
    assert float(rows[0]["elo"]) > 0 == float(rows[1]["elo"])
    assert 0.5 < float(rows[0]["above"]) < 1
    code, out, _ = run("marks", "--event", event, "--against", "bert", "--json", "-", "--db", filled_store)
    assert [row["forfeits"] for row in json.loads(out)] == [1, 1]
    code, out, _ = run("marks", "--event", event, "--against", "bert", "--db", filled_store)
    assert "anna" in out
    code, _, err = run("marks", "--event", event, "--against", "eve", "--db", filled_store)
    assert (code, "'eve' has played no match of the event" in err) == (1, True)
    code, _, err = run("marks", "--event", "tea", "--against", "eve", "--db", filled_store)
    assert (code, "event 'tea' has no finished matches" in err) == (1, True)


def test_marks_stay_when_matches_are_removed(filled_store: str) -> None:
    words = ("marks", "--event", "test", "--against", "bert", "--json", "-", "--db", filled_store)
    before = run(*words)[:2]
    assert run("store", "prune", "--keep", "1", "--db", filled_store)[0] == 0
    assert run(*words)[:2] == before


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
    found = {each.bot: each for each in make_marks(row_of("axy", results), "a")}
    assert found["x"].above > 0.95 > found["y"].above
    assert found["y"].above == pytest.approx(0.5, abs=0.05)
    assert (found["a"].elo, found["a"].error, found["a"].above) == (0, 0, 0.5)
    with pytest.raises(CommandError):
        make_marks(row_of("axy", results), "z")
