"""bots.engines.random_bot: legal, spread, and the same again with a seed."""

from collections import Counter
from threading import Event

from arena.bots.api.bot import Clock, Match, ask, begin
from arena.bots.engines.random_bot import RandomBot
from arena.games.core import Player
from arena.games.tictactoe import TicTacToe

GAME = TicTacToe()


def moves(seed: int, count: int) -> list[object]:
    bot = RandomBot(seed)
    begin(bot, Match(GAME, Player.MAXIE))
    return [ask(bot, GAME.start(), Clock(1.0), Event()) for _ in range(count)]


def test_a_seed_gives_the_same_moves_and_none_gives_others() -> None:
    assert moves(7, 50) == moves(7, 50)
    assert moves(7, 50) != moves(8, 50)
    assert moves(0, 50) != moves(0, 50)


def test_every_move_is_as_likely() -> None:
    counts = Counter(moves(1, 9000))
    assert set(counts) == set(GAME.moves(GAME.start()))
    # The standard deviation of each count is about 30: five of them.
    assert all(abs(count - 1000) < 150 for count in counts.values())
