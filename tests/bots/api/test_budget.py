"""bots.api.budget: time limits with which a bot neither loses on time nor leaves much time unused.

The tests simulate matches under the server's rules. A move is in time if the time that the server counts for it is at most
the clock plus the margin. A player who uses the margin has 0 s left, to which the increment is added.
"""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.api.bot import Clock
from arena.bots.api.budget import (
    MAX_SOFT_LIMIT_EXTENSION_SHARE,
    MIN_CLOCK_RESERVE_SECONDS,
    Budget,
    DeepeningStopRule,
    compute_clock_reserve_seconds,
    plan,
)
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map
from tests.properties import examples

clocks = st.builds(
    Clock,
    mine=st.floats(0, 86_400),
    theirs=st.floats(0, 86_400),
    increment=st.floats(0, 60),
    per_move=st.booleans(),
    margin=st.floats(0, 10),
    lag=st.floats(0, 10),
)


stalls = st.floats(0, 10)


@given(clock=clocks, plies=st.floats(0, 2000), stall=stalls)
def test_limits_are_ordered_and_inside_the_clock(clock: Clock, plies: float, stall: float) -> None:
    budget = plan(clock, plies, stall)
    assert 0 <= budget.soft <= budget.hard <= clock.mine
    assert budget.hard <= clock.mine - compute_clock_reserve_seconds(clock, stall)


@given(clock=clocks, stall=stalls)
def test_the_reserve_covers_lag_and_stalls_but_at_most_half_of_the_clock(clock: Clock, stall: float) -> None:
    kept = compute_clock_reserve_seconds(clock, stall)
    assert 0 <= kept <= clock.mine / 2
    if kept < clock.mine / 2:
        assert kept >= MIN_CLOCK_RESERVE_SECONDS
        assert kept + clock.margin >= max(2 * clock.lag, 3 * stall) - 1e-9


@given(mine=st.floats(1, 600), plies=st.floats(3, 2000))
def test_the_last_move_may_use_the_clock_and_more_plies_mean_less_for_each_move(
    mine: float, plies: float
) -> None:
    clock = Clock(mine, margin=1.0)
    last = mine - compute_clock_reserve_seconds(clock)
    assert plan(clock, 1) == Budget(last, last)
    assert plan(clock, plies + 2).soft <= plan(clock, plies).soft < last


def test_a_time_per_move_is_used_except_for_the_reserve() -> None:
    clock = Clock(mine=0.1, per_move=True, margin=0.1)
    assert plan(clock) == Budget(0.1 - MIN_CLOCK_RESERVE_SECONDS, 0.1 - MIN_CLOCK_RESERVE_SECONDS)
    assert plan(Clock(mine=5.0, per_move=True, margin=0.1)).soft == 5.0 - MIN_CLOCK_RESERVE_SECONDS


@dataclass
class Played:
    """Simulated match of one player."""

    moves: int
    flagged: bool
    """True if the player lost on time."""
    left: float
    """Seconds left on the clock at the end."""


def simulate(
    base: float,
    increment: float,
    margin: float,
    use: list[float],
    lags: list[float],
    *,
    per_move: bool = False,
) -> Played:
    """Play a match in which each move takes the time between the limits that `use` says, and a lag.

    use   for each move, its time as a fraction of the way from the soft limit (0) to the hard limit (1)
    lags  for each move, the seconds that the server counts beyond this time
    """
    clock, seen = base, [0.0]
    for number, (share, lag) in enumerate(zip(use, lags, strict=True)):
        turn = Clock(clock, increment=increment, per_move=per_move, margin=margin, lag=max(seen[-16:]))
        budget = plan(turn, max(30, 90 - 2 * number))
        spent = budget.soft + share * (budget.hard - budget.soft) + lag
        seen.append(lag)
        if spent > clock + margin:
            return Played(number, flagged=True, left=clock)
        clock = base if per_move else max(0.0, clock - spent) + increment
    return Played(len(use), flagged=False, left=clock)


shares = st.floats(0, 1)


# Without a deadline for an example, because an example simulates a whole match.
@examples(100)
@given(
    base=st.floats(0.001, 600),
    increment=st.floats(0, 10),
    margin=st.floats(0, 1),
    per_move=st.booleans(),
    data=st.data(),
)
def test_lag_within_the_margin_never_loses_on_time(
    base: float, increment: float, margin: float, per_move: bool, data: st.DataObject
) -> None:
    moves = data.draw(st.integers(1, 150))
    use = data.draw(st.lists(shares, min_size=moves, max_size=moves))
    lags = data.draw(st.lists(st.floats(0, margin), min_size=moves, max_size=moves))
    assert not simulate(base, increment, margin, use, lags, per_move=per_move).flagged


@examples(50)
@given(lags=st.lists(st.floats(0, 0.104), min_size=100, max_size=100))
def test_a_tenth_of_a_second_per_move_allows_lag_beyond_the_margin(lags: list[float]) -> None:
    """The default of `arena ladder`, 0.1/move with a margin of 100 ms, on a machine that sometimes stalls."""
    assert not simulate(0.1, 0.0, 0.1, [1.0] * 100, lags, per_move=True).flagged


@examples(50)
@given(base=st.floats(1, 600), lag=st.floats(0, 0.005))
def test_a_usual_match_uses_most_of_its_clock_and_a_long_match_does_not_run_out(
    base: float, lag: float
) -> None:
    usual = simulate(base, 0.0, 0.1, [0.3] * 40, [lag] * 40)
    assert usual.left < 0.4 * base
    long = simulate(base, 0.0, 0.1, [1.0] * 60, [lag] * 60)
    assert not long.flagged


@examples(50)
@given(base=st.floats(1, 100), increment=st.floats(0.05, 5))
def test_an_increment_is_spent_too(base: float, increment: float) -> None:
    """In a long match, the time on the clock does not grow without limit."""
    assert simulate(base, increment, 0.1, [0.5] * 400, [0.0] * 400).left < base + 15 * increment


@given(moves=st.lists(st.sampled_from("ab"), min_size=1, max_size=12), hard=st.floats(1, 5))
def test_a_search_whose_best_move_changes_continues_but_not_beyond_the_hard_limit(
    moves: list[str], hard: float
) -> None:
    rule: DeepeningStopRule[str] = DeepeningStopRule(Budget(1.0, hard))
    longest = 1.0 + MAX_SOFT_LIMIT_EXTENSION_SHARE * (hard - 1.0)
    for move in moves[:-1]:
        assert not rule.should_stop(move, 0.99)
    assert rule.should_stop(moves[-1], longest + 1e-9)


def test_a_stable_search_ends_at_the_soft_limit_and_instability_halves_with_each_depth() -> None:
    rule: DeepeningStopRule[str] = DeepeningStopRule(Budget(1.0, 2.0))
    assert rule.should_stop("a", 1.0)
    assert not rule.should_stop("b", 1.0 + MAX_SOFT_LIMIT_EXTENSION_SHARE - 0.01)
    assert rule.should_stop("b", 1.0 + MAX_SOFT_LIMIT_EXTENSION_SHARE / 2)
    assert not rule.should_stop("b", 1.0 + MAX_SOFT_LIMIT_EXTENSION_SHARE / 4 - 0.01)
    assert rule.should_stop("b", 1.0 + MAX_SOFT_LIMIT_EXTENSION_SHARE / 8)


@pytest.mark.parametrize("map", ["italy", "world", "m2", "ring:12", "path4"])
def test_a_match_is_expected_to_end_and_to_end_sooner_near_its_goal(map: str) -> None:
    game = Riskless(load_map(map))
    start, limit = game.start(), game.map.ply_limit
    expected = game.expected_plies(start)
    assert 0 < expected <= limit
    near = start._replace(armies=tuple(10 * n for n in start.armies))
    assert game.expected_plies(near) <= expected
    late = start._replace(ply=limit - 3)
    assert game.expected_plies(late) == 3


def test_the_board_of_tictactoe_fills() -> None:
    game = TicTacToe()
    assert game.expected_plies(game.position_from_text("XO.......")) == 7
