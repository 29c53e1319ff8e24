"""The solver's steps find the known results of other games."""

from concurrent.futures import ThreadPoolExecutor

from arena.games.core import MAXIE, MINNIE
from arena.games.hexapawn import Hexapawn
from arena.games.tictactoe import TicTacToe
from arena.solved.solved_value import SolvedResult, SolvedValue
from tests.lab.solving.graph_space import solve_game


def test_tictactoe_is_a_draw() -> None:
    with ThreadPoolExecutor(1) as workers:
        solution = solve_game(TicTacToe(), workers)
    assert len(solution) == 5478, "the positions that can be reached"
    game = TicTacToe()
    assert solution[game.start()] == SolvedValue(SolvedResult.DRAW, None)
    over = [game.outcome(position) for position in solution]
    assert sum(each is not None and each.winner is MAXIE for each in over) == 626
    assert sum(each is not None and each.winner is MINNIE for each in over) == 316
    assert sum(each is not None and each.winner is None for each in over) == 16


def test_hexapawn_is_lost_for_the_first_player_as_gardner_found() -> None:
    game = Hexapawn()
    with ThreadPoolExecutor(1) as workers:
        solution = solve_game(game, workers)
    assert solution[game.start()] == SolvedValue(SolvedResult.LOSS, 6)
