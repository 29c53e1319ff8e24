"""Repeated positions, compared with a simple count."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.games.riskless import Riskless, RisklessPosition
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map
from arena.match.repetition import RepetitionCounter
from tests.games.setups import random_match
from tests.properties import examples

M1 = Riskless(load_map("m1"))


@examples(20)
@given(seed=st.integers(0, 2**32 - 1))
def test_each_position_is_counted_by_its_armies_and_its_mover(seed: int) -> None:
    positions = random_match(M1, seed).positions
    seen = RepetitionCounter(M1)
    counts = [seen.count_occurrence(position) for position in positions]
    places = [(position.armies, position.player) for position in positions]
    assert counts == [places[: ply + 1].count(place) for ply, place in enumerate(places)]


def test_the_ply_and_nothing_else_may_differ() -> None:
    start = M1.start()
    seen = RepetitionCounter(M1)
    assert seen.count_occurrence(start) == 1
    assert seen.count_occurrence(RisklessPosition(start.armies, start.player, 8)) == 2
    assert seen.count_occurrence(RisklessPosition(start.armies, start.player.opponent, 1)) == 1
    assert seen.count_occurrence(RisklessPosition(tuple(-n for n in start.armies), start.player, 0)) == 1


def test_a_game_that_only_goes_forward_has_no_recurrences() -> None:
    game = TicTacToe()
    seen = RepetitionCounter(game)
    assert [seen.count_occurrence(game.start()) for _ in range(3)] == [1, 1, 1]
