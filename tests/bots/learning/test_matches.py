from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.bots.api.bot import Bot, Clock, Ending, Resign
from arena.bots.learning.columns import RECORD_COLUMN_GETTERS, records
from arena.bots.learning.environment import make
from arena.bots.learning.matches import play_match
from arena.match.replay import verify_record
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, format_record_line
from tests.games.own import EXAMPLES


class First(Bot):
    """Bot that plays the leftmost move, and records the calls of its methods."""

    calls: list[Any]

    def prepare(self) -> None:
        self.calls = []

    def choose(self, position: Any, clock: Clock) -> Any:
        self.calls.append(self.game.ply(position))
        return self.game.moves(position)[0]

    def opponent_moved(self, move: Any, position: Any) -> None:
        self.calls.append(move)

    def ended(self, ending: Ending) -> None:
        self.calls.append(ending.plies)


class Crashes(First):
    def choose(self, position: Any, clock: Clock) -> Any:
        raise KeyError("no such thing")


class Resigns(First):
    def choose(self, position: Any, clock: Clock) -> Any:
        raise Resign("enough")


class Wrong(First):
    def choose(self, position: Any, clock: Clock) -> Any:
        return 0


class TakesTheOtherSeat(First):
    def prepare(self) -> None:
        super().prepare()
        self.match = replace(self.match, seat=self.match.seat.opponent)


class Unready(First):
    def prepare(self) -> None:
        raise OSError("no table")


def test_a_match_follows_the_rules_and_its_record_can_be_verified() -> None:
    made: list[First] = []

    class Noted(First):
        def __init__(self) -> None:
            made.append(self)

    record = play_match(Noted, Noted, "tictactoe")
    assert [each.move for each in record.moves] == [0, 1, 2, 3, 4, 5, 6]
    assert (record.result.winner, record.result.reason) == ("maxie", EndReason.LINE)
    assert verify_record(record).ply_count == 7
    assert [bot.calls for bot in made] == [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 7]]


@pytest.mark.parametrize(
    ("bot", "reason", "detail"),
    [
        (Crashes, EndReason.CRASH, "choose raised KeyError"),
        (Resigns, EndReason.RESIGNATION, "enough"),
        (Wrong, EndReason.ILLEGAL_MOVE, "illegal move"),
        (Unready, EndReason.CRASH, "prepare raised OSError: no table"),
    ],
)
def test_a_bot_that_fails_loses_as_on_a_server(bot: type[Bot], reason: EndReason, detail: str) -> None:
    record = play_match(First, bot, "tictactoe")
    assert (record.result.winner, record.result.reason) == ("maxie", reason)
    assert detail in record.result.detail


def test_a_bot_that_changes_its_facts_about_the_match_keeps_its_seat() -> None:
    record = play_match(First, TakesTheOtherSeat, "tictactoe")
    assert [each.move for each in record.moves] == [0, 1, 2, 3, 4, 5, 6]


def test_a_player_that_moves_again_is_asked_again() -> None:
    env = make(str(EXAMPLES / "dots.py"))
    record = play_match("random", "greedy", env)
    assert len(record.moves) == 12
    assert verify_record(record).ply_count == 12


def test_engines_play_from_the_opening_of_a_seed() -> None:
    env = make("riskless", map="path4")
    one, again, other = (play_match("greedy", "greedy", env, opening=3, seed=seed) for seed in (1, 1, 2))
    assert [each.move for each in one.moves] == [each.move for each in again.moves]
    assert [each.opening for each in one.moves[:4]] == [True, True, True, False]
    assert [each.move for each in one.moves[:3]] != [each.move for each in other.moves[:3]]


def test_records_are_columns(tmp_path: Path) -> None:
    matches = [play_match(First, First, game) for game in ("tictactoe", make("riskless", map="path4"))]
    file = tmp_path / "played.jsonl"
    file.write_text("".join(format_record_line(record).rstrip("\n") + "\n" for record in matches))
    table = records(file)
    assert list(table) == list(RECORD_COLUMN_GETTERS)
    assert table["game"] == ["tictactoe", "riskless"]
    assert table["map"] == [None, "path4"]
    assert table["match"] == [record.match for record in matches]
    assert table["plies"] == [len(moves) for moves in table["moves"]] == [len(ms) for ms in table["ms"]]
    assert table["winner"][0] == "maxie"
    file.write_text("nonsense\n")
    with pytest.raises(BadRecord, match="line 1"):
        records(file)
