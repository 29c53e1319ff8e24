from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.api.bot import Match
from arena.bots.client.state.match_state import MAX_REMEMBERED_LAGS, MatchState
from arena.games.core import IllegalMove, Player
from arena.protocol.messages import Accepted, Move, Resign
from tests.bots.server_messages import TICTACTOE, turn


def state(seat: Player = Player.MAXIE) -> MatchState:
    return MatchState(Match(TICTACTOE, seat), TICTACTOE.start(), Resign("local"))


@st.composite
def lines(draw: st.DrawFn) -> list[Any]:
    """Return the first moves of a random match of tic-tac-toe, or all of them."""
    position, moves = TICTACTOE.start(), list[Any]()
    for _ in range(draw(st.integers(0, 9))):
        legal = TICTACTOE.moves(position)
        if not legal:
            break
        move = draw(st.sampled_from(list(legal)))
        moves.append(TICTACTOE.move_to_data(move))
        position = TICTACTOE.successor(position, move)
    return moves


@given(lines(), lines())
def test_catch_up_reaches_the_position_of_the_server_from_any_earlier_one(
    before: list[Any], now: list[Any]
) -> None:
    known, fresh = state(), state()
    known.replay_missed_moves(before)
    known.replay_missed_moves(now)
    fresh.replay_missed_moves(now)
    assert (known.position, known.moves) == (fresh.position, fresh.moves)
    assert known.moves == now


def test_moves_that_the_rules_forbid_are_an_error() -> None:
    with pytest.raises(IllegalMove):
        state().replay_missed_moves([4, 4])


@pytest.mark.parametrize(("seat", "mine", "theirs"), [(Player.MAXIE, 9.0, 8.0), (Player.MINNIE, 8.0, 9.0)])
def test_the_clock_is_in_seconds_and_the_bots_own_comes_first(
    seat: Player, mine: float, theirs: float
) -> None:
    clock = state(seat).make_clock(turn([]), 5.0)
    assert (clock.mine, clock.theirs, clock.increment, clock.arrived) == (mine, theirs, 0.1, 5.0)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=40))
def test_the_clock_has_the_largest_recent_lag(lags: list[float]) -> None:
    match = state()
    for ply, lag in enumerate(lags):
        match.clock = match.make_clock(turn([]), 100.0)
        match.move_message, match.move_chosen_at = Move("m", ply, 0), 101.0
        match.record_lag(Accepted("m", ply, 1000 * (1 + lag), 0))
        match.record_lag(Accepted("m", ply + 1, 99_999.0, 0))
    assert match.make_clock(turn([]), 200.0).lag == pytest.approx(max(lags[-MAX_REMEMBERED_LAGS:]), abs=1e-6)
