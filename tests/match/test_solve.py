"""Solutions against plain minimax, which knows no limit."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.catalogue import make_game
from arena.games.core import AnyGame, Player
from arena.maps.setup import make_setup
from arena.match.solve import ProvenOutcome, solve
from tests.properties import examples
from tests.server.matches import PATH, game_of

TINY = PATH.to_data() | {"ply_limit": 7}
GAMES = {
    "tictactoe": game_of(),
    "riskless": make_game("riskless", TINY),
    "hexapawn": make_game("hexapawn", {"width": 3, "height": 3}),
}


def minimax(game: AnyGame, position: object) -> int:
    @cache
    def value(position: object) -> int:
        outcome = game.outcome(position)
        if outcome is not None:
            return outcome.winner.sign if outcome.winner else 0
        values = [value(game.successor(position, move)) for move in game.moves(position)]
        return max(values) if game.player(position) is Player.MAXIE else min(values)

    return value(position)


def play_moves(game: AnyGame, choices: list[int]) -> object:
    position = game.start()
    for choice in choices:
        moves = game.moves(position)
        if not moves:
            break
        position = game.successor(position, moves[choice % len(moves)])
    return position


@examples(60)
@given(st.sampled_from(sorted(GAMES)), st.lists(st.integers(0, 30), max_size=8), st.integers(1, 3000))
def test_solved_values_equal_minimax(name: str, choices: list[int], nodes: int) -> None:
    game = GAMES[name]
    position = play_moves(game, choices)
    found = solve(game, position, nodes)
    if found is not None:
        value = minimax(game, position)
        assert found == ProvenOutcome({1: Player.MAXIE, 0: None, -1: Player.MINNIE}[value])
    assert solve(game, position, nodes) == found, "the same every time"


@pytest.mark.parametrize("name", sorted(GAMES))
def test_with_enough_nodes_the_whole_game_is_solved(name: str) -> None:
    game = GAMES[name]
    assert solve(game, game.start(), 1_000_000) is not None


def test_a_near_win_needs_few_nodes() -> None:
    game = game_of()
    position = play_moves(game, [0, 2, 0, 2])  # X has a1 and b1, and is to move
    assert solve(game, position, 20) == ProvenOutcome(Player.MAXIE)


@pytest.mark.parametrize("map", ["m2", "ring:60"])
def test_a_large_game_is_given_up_and_does_not_exhaust_the_stack(map: str) -> None:
    game = make_setup("riskless", map)
    assert solve(game, game.start(), 2000) is None
