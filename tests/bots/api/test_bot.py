from __future__ import annotations

import textwrap
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.api import bot as module
from arena.bots.api.bot import Bot, Clock, Ending, Match, SeatOutcome, assign_match, request_move
from arena.bots.engines.from_file import load_bot_class
from arena.games.core import Player
from arena.games.tictactoe import TicTacToe
from arena.protocol.codes import EndReason


def test_the_example_of_the_documentation_plays(tmp_path: Path) -> None:
    doc = module.__doc__ or ""
    example = textwrap.dedent(doc[doc.index("    from arena.bots.api.bot") : doc.index("Positions are")])
    file = tmp_path / "first.py"
    file.write_text(example)
    bot = load_bot_class(str(file))()
    assign_match(bot, Match(TicTacToe(), Player.MAXIE))
    bot.prepare()
    assert request_move(bot, bot.game.start(), Clock(1.0), Event()) == 0


def test_a_bot_that_cannot_choose_is_no_bot() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Bot()  # type: ignore[abstract]


def test_a_bot_needs_no_init_of_its_base() -> None:
    class Own(Bot):
        def __init__(self) -> None:
            self.count = 0

        def choose(self, position: Any, clock: Clock) -> Any:
            self.count += 1
            return self.stopped

    bot = Own()
    assert not bot.stopped
    assign_match(bot, Match(TicTacToe(), Player.MINNIE, threads=3))
    assert (bot.seat, bot.threads, bot.game.name, bot.thinking) == (Player.MINNIE, 3, "tictactoe", None)
    stop = Event()
    stop.set()
    assert request_move(bot, None, Clock(1.0), stop) is True


MAXIE, MINNIE = Player.MAXIE, Player.MINNIE


@pytest.mark.parametrize(
    ("winner", "reason", "maxie", "minnie"),
    [
        (MAXIE, EndReason.LINE, "won", "lost"),
        (MINNIE, EndReason.NO_SHOW, "lost", "won"),
        (None, EndReason.BOARD_FULL, "drawn", "drawn"),
        (None, EndReason.NO_SHOW, "void", "void"),
        (None, EndReason.SERVER_FAULT, "void", "void"),
        (None, None, "void", "void"),
    ],
)
def test_outcome_for_each_seat(
    winner: Player | None, reason: EndReason | None, maxie: SeatOutcome, minnie: SeatOutcome
) -> None:
    ending = Ending(winner, reason, "", 9, None)
    assert (ending.outcome_for(MAXIE), ending.outcome_for(MINNIE)) == (maxie, minnie)


def test_an_ending_as_text_has_the_detail_only_if_it_adds_something() -> None:
    assert str(Ending(MAXIE, EndReason.LINE, EndReason.LINE.meaning, 5, None)) == "line, 5 plies"
    assert str(Ending(MAXIE, EndReason.TIMEOUT, "3 ms late", 5, None)) == "timeout, 5 plies: 3 ms late"
    assert str(Ending(None, None, "nobody knows", 5, None)) == "nobody knows"


def test_the_opponent_is_the_other_name() -> None:
    assert Match(TicTacToe(), MAXIE, maxie="me", minnie="you").opponent == "you"
    assert Match(TicTacToe(), MINNIE, maxie="you", minnie="me").opponent == "you"


seconds = st.floats(0, 1e5, allow_nan=False)


def test_the_clock_runs_from_the_arrival_of_the_turn() -> None:
    clock = Clock(mine=3.0, arrived=100.0)
    assert clock.elapsed(101.5) == 1.5
    assert clock.left(101.5) == 1.5


@given(mine=seconds, arrived=seconds, now=seconds)
def test_times_are_never_negative(mine: float, arrived: float, now: float) -> None:
    clock = Clock(mine=mine, arrived=arrived)
    assert clock.elapsed(now) >= 0
    assert 0 <= clock.left(now) <= mine


@given(mine=seconds, margin=seconds)
def test_the_margin_is_not_planned_with(mine: float, margin: float) -> None:
    assert Clock(mine=mine, margin=margin).left(0.0) == Clock(mine=mine).left(0.0)
