from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from arena.bots.api.bot import Bot, Clock, Ending, Match, Thinking
from arena.bots.client.local_match import LocalMatch
from arena.clock import MONOTONIC_CLOCK
from arena.games.core import IllegalMove, Player
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.match.replay import verify_record
from arena.protocol.adjudication import DEFAULT_ADJUDICATION
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo, EnginesBySeat
from arena.protocol.record import format_record_line, parse_record_line
from arena.protocol.timecontrol import TimeControl
from tests.server.matches import PATH

GAME = TicTacToe()


class Rightmost(Bot):
    """Bot that plays the last legal move, and stores the calls of its methods."""

    def __init__(self) -> None:
        self.clocks: list[Clock] = []
        self.replies: list[Any] = []
        self.ending: Ending | None = None

    def choose(self, position: Any, clock: Clock) -> Any:
        self.clocks.append(clock)
        self.thinking = Thinking(depth=1, value=0.5)
        return self.game.moves(position)[-1]

    def opponent_moved(self, move: Any, position: Any) -> None:
        self.replies.append(move)

    def ended(self, ending: Ending) -> None:
        self.ending = ending


def local(seat: Player = Player.MINNIE, tc: str = "10+1") -> tuple[LocalMatch, Rightmost]:
    bot = Rightmost()
    return LocalMatch(lambda: bot, Match(GAME, seat, time_control=TimeControl.parse(tc))), bot


def test_a_whole_match_and_its_record() -> None:
    match, bot = local()
    for cell in (0, 1, 2):
        match.play_move(cell)
        if GAME.outcome(match.position) is None:
            match.play_bot_move()
    match.end_and_close_bot()
    assert match.moves == [0, 8, 1, 7, 2]
    assert bot.replies == [0, 1]
    assert bot.ending is not None
    assert (bot.ending.winner, bot.ending.reason, bot.ending.plies) == (Player.MAXIE, EndReason.LINE, 5)
    record = parse_record_line(format_record_line(match.to_record()))
    assert verify_record(record).positions[-1] == match.position
    assert record.moves[1].thinking is not None
    assert record.moves[0].thinking is None
    assert record.time_control == "10+1"
    assert record.engines is None


@pytest.mark.parametrize("seat", Player)
def test_the_record_names_the_engine_of_the_bots_seat(seat: Player) -> None:
    mine = EngineInfo("rightmost", {}, 2)
    match = LocalMatch(Rightmost, Match(GAME, seat), mine)
    match.resign(seat)
    expected = EnginesBySeat(maxie=mine) if seat is Player.MAXIE else EnginesBySeat(minnie=mine)
    assert match.to_record().engines == expected


def test_the_clock_follows_the_time_control() -> None:
    match, bot = local(tc="600+300")
    for cell in (0, 1):
        match.play_move(cell)
        match.play_bot_move()
    first, second = bot.clocks
    assert (first.mine, first.increment, first.per_move) == (600.0, 300.0, False)
    assert 600.0 < second.mine <= 900.0
    match, bot = local(tc="0.5/move")
    for cell in (0, 1):
        match.play_move(cell)
        match.play_bot_move()
    assert [clock.mine for clock in bot.clocks] == [0.5, 0.5]
    assert bot.clocks[0].per_move


def test_undo_takes_back_the_answer_too() -> None:
    match, _ = local()
    assert not match.undo()
    match.play_move(0)
    match.play_bot_move()
    match.play_move(1)
    match.play_bot_move()
    assert match.undo()
    assert match.moves == [0, 8]
    assert match.position == GAME.play(GAME.play(GAME.start(), 0), 8)
    assert match.undo()
    assert (match.moves, match.position) == ([], GAME.start())
    assert not match.undo()


def test_undo_gives_the_time_back() -> None:
    match, bot = local()
    for _ in range(2):
        match.play_move(0)
        match.play_bot_move()
        assert match.undo()
    assert [clock.mine for clock in bot.clocks] == [10.0, 10.0]


def test_nobody_loses_on_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        MONOTONIC_CLOCK, "now_ns", count(step=60 * 10**9).__next__
    )  # each reading is a minute later
    match, bot = local(tc="10+1")
    for cell in (0, 1):
        match.play_move(cell)
        match.play_bot_move()
    assert match.result is None
    assert [(clock.mine, clock.theirs) for clock in bot.clocks] == [(10.0, 1.0), (1.0, 1.0)]
    assert all(move.ms >= 60_000 for move in match.to_record().moves)


def test_undo_leaves_the_bots_first_move() -> None:
    match, _ = local(Player.MAXIE)
    match.play_bot_move()
    assert not match.undo()
    match.play_move(0)
    match.play_bot_move()
    assert match.undo()
    assert match.moves == [8]


def test_a_resignation_is_on_the_record() -> None:
    match, bot = local()
    match.play_move(0)
    match.resign(Player.MAXIE)
    match.end_and_close_bot()
    assert match.to_record().result.reason is EndReason.RESIGNATION
    assert match.to_record().result.winner == "minnie"
    assert bot.ending is not None
    assert bot.ending.outcome_for(Player.MINNIE) == "won"


def test_an_illegal_move_changes_nothing() -> None:
    match, _ = local()
    match.play_move(0)
    with pytest.raises(IllegalMove, match="a1 is taken by X"):
        match.play_move(0)
    assert match.moves == [0]


def test_an_unfinished_match_has_no_winner(tmp_path: Path) -> None:
    match, bot = local()
    match.end_and_close_bot()
    assert bot.ending is not None
    assert bot.ending.outcome_for(Player.MINNIE) == "void"


CIRCLES = Riskless(
    replace(PATH, territory_cap=1, armies_to_win=4, ply_limit=200, start=(1, 0, 0, -1))
)  # the positions repeat while both players move to and fro


class Wanderer(Bot):
    """Bot that moves to and fro between the territories 3 and 2."""

    def choose(self, position: Any, clock: Clock) -> Any:
        move = (3, 2) if position.ply % 4 == 1 else (2, 3)
        return move if move in self.game.moves(position) else self.game.moves(position)[0]


def wander(match: LocalMatch) -> None:
    """Move to and fro between the territories 0 and 1 until the match is over, or for 40 plies."""
    while match.result is None and len(match.moves) < 40:
        match.play_move((0, 1) if len(match.moves) % 4 == 0 else (1, 0))
        if match.result is None:
            match.play_bot_move()


def test_a_position_that_comes_up_for_the_third_time_is_a_draw_that_can_be_taken_back() -> None:
    match = LocalMatch(Wanderer, Match(CIRCLES, Player.MINNIE), adjudication=DEFAULT_ADJUDICATION)
    wander(match)
    assert match.result is not None
    assert match.result.ended_by_repetition
    record = parse_record_line(format_record_line(match.to_record()))
    assert record.adjudication == DEFAULT_ADJUDICATION
    assert verify_record(record).ply_count == len(match.moves) < 40
    assert match.undo()
    assert match.moves == [tuple(each.move) for each in record.moves[: len(match.moves)]]
    wander(match)
    assert len(match.moves) == len(record.moves)
    match.end_and_close_bot()


def test_without_adjudication_the_match_continues() -> None:
    match = LocalMatch(Wanderer, Match(CIRCLES, Player.MINNIE))
    wander(match)
    assert (match.result, len(match.moves)) == (None, 40)
    match.end_and_close_bot()
