"""bots.review.review, its plot, and `arena replay --analyse`."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec import structs

from arena.bots.review.review import losses, review
from arena.bots.search.values import WIN
from arena.games.core import AnyGame, Player
from arena.maps.setup import make_setup
from arena.match.replay import Replay, verify
from arena.protocol.codes import EndReason
from arena.protocol.record import RecordedMove, Result
from arena.protocol.values import Thinking
from tests.match.recorded import recorded

DEPTH = 3


def minimax(game: AnyGame, position: object, depth: int, distance: int = 0) -> int:
    """The value for Maxie, as the project's contracts define it, found without the project's searches."""
    outcome = game.outcome(position)
    if outcome is not None:
        return 0 if outcome.winner is None else outcome.winner.sign * (WIN - distance)
    if depth == 0:
        return 100 * game.estimate(position)
    values = [
        minimax(game, game.successor(position, move), depth - 1, distance + 1)
        for move in game.moves(position)
    ]
    return max(values) if game.player(position) is Player.MAXIE else min(values)


def by_chance(game: AnyGame, seed: int, plies: int) -> Replay:
    """A match of moves by chance, given up after some plies."""
    chance, position = random.Random(seed), game.start()
    moves: list[RecordedMove] = []
    while len(moves) < plies and game.outcome(position) is None:
        move = chance.choice(game.moves(position))
        moves.append(RecordedMove(game.move_to_data(move), 1.0, Thinking(value=50.0 * len(moves))))
        position = game.successor(position, move)
    record, _ = recorded(game)
    outcome = game.outcome(position)
    result = Result("maxie", EndReason.RESIGNATION)
    if outcome is not None:
        winner: Any = outcome.winner.value if outcome.winner else None
        result = Result(winner, EndReason.of(outcome.word))
    return verify(structs.replace(record, moves=moves, result=result))


@pytest.mark.parametrize("engine", ["alphabeta", "minimax"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "map_"), [("tictactoe", "m2"), ("riskless", "path4")])
def test_what_a_move_gave_away_is_what_plain_minimax_says(
    name: str, map_: str, seed: int, engine: str
) -> None:
    game = make_setup(name, map_)
    played = by_chance(game, seed, 12)
    judged = list(review(played, engine, DEPTH))
    assert [each.ply for each in judged] == list(range(played.plies))
    for each in judged:
        position, after = played.positions[each.ply : each.ply + 2]
        sign = game.player(position).sign
        value = minimax(game, position, DEPTH)
        got = minimax(game, after, DEPTH - 1, 1)
        assert (each.value, each.after, each.lost) == (value, got, sign * (value - got))
        better = game.successor(position, game.move_from_text(each.better))
        assert minimax(game, better, DEPTH - 1, 1) == value
        if each.lost == 0:
            assert (each.better, each.mark) == (each.move, "")
        assert each.told == 50.0 * each.ply


def test_a_player_is_counted_apart() -> None:
    played = by_chance(make_setup("tictactoe"), 1, 4)
    assert [moves for _, moves in losses(list(review(played, "alphabeta", 2))).values()] == [2, 2]
