from __future__ import annotations

from collections import Counter
from random import Random
from threading import Event
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.api.bot import Clock, Match, assign_match, request_move
from arena.bots.engines.simple import GreedyBot, RandomBot
from arena.games.core import AnyGame, Player
from arena.games.tictactoe import TicTacToe
from arena.maps.game_on_map import make_game_on_map
from tests.properties import examples

GAMES = {
    "tictactoe": make_game_on_map("tictactoe"),
    "path4": make_game_on_map("riskless", "path4"),
    "m2": make_game_on_map("riskless", "m2"),
}


def choose_move(game: AnyGame, position: Any, seed: int = 0) -> Any:
    bot = GreedyBot(seed=seed)
    assign_match(bot, Match(game, game.player(position)))
    bot.prepare()
    return request_move(bot, position, Clock(1.0), Event())


def worth(game: AnyGame, position: Any, move: Any) -> float:
    """Return the value of a move for the mover: a win, a draw, or the plain estimate of the next position."""
    after, mover = game.play(position, move), game.player(position)
    outcome = game.outcome(after)
    if outcome is None:
        return mover.sign * game.estimate(after)
    return 0 if outcome.winner is None else float("inf") if outcome.winner is mover else -float("inf")


@examples(60)
@given(st.sampled_from(sorted(GAMES)), st.integers(0, 2**32), st.integers(0, 30))
def test_the_leftmost_of_the_best_moves_is_played(name: str, seed: int, plies: int) -> None:
    game, rng = GAMES[name], Random(seed)
    position = game.start()
    for _ in range(plies):
        after = game.play(position, rng.choice(game.moves(position)))
        if game.outcome(after):
            break
        position = after
    values = [worth(game, position, move) for move in game.moves(position)]
    best = game.moves(position)[values.index(max(values))]
    assert choose_move(game, position) == best
    assert worth(game, position, choose_move(game, position, seed=1)) == max(values)


def test_with_a_seed_any_of_the_best_moves_is_played() -> None:
    game = GAMES["tictactoe"]
    position = game.play(game.start(), 4)
    taken = {choose_move(game, position, seed) for seed in range(1, 60)}
    # After the centre all four corners are worth the same.
    assert taken == {0, 2, 6, 8}
    assert choose_move(game, position) == 0


GAME = TicTacToe()


def moves(seed: int, count: int) -> list[object]:
    bot = RandomBot(seed)
    assign_match(bot, Match(GAME, Player.MAXIE))
    return [request_move(bot, GAME.start(), Clock(1.0), Event()) for _ in range(count)]


def test_a_seed_gives_the_same_moves_and_none_gives_others() -> None:
    assert moves(7, 50) == moves(7, 50)
    assert moves(7, 50) != moves(8, 50)
    assert moves(0, 50) != moves(0, 50)


def test_every_move_is_equally_likely() -> None:
    counts = Counter(moves(1, 9000))
    assert set(counts) == set(GAME.moves(GAME.start()))
    # The tolerance is five standard deviations of a count, which are about 30 each.
    assert all(abs(count - 1000) < 150 for count in counts.values())
