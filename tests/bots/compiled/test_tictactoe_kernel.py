from __future__ import annotations

import random
from typing import Any

import pytest

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators import tictactoe
from arena.bots.evaluators.linear import make_linear_evaluator
from arena.games.tictactoe import TicTacToe
from tests.bots.compiled.positions import draw_random_weights, minimax

EXACT: dict[str, Any] = {"exact": True, "table_mb": 1, "split_depth": 2}


@pytest.mark.parametrize("threads", [1, 2])
def test_tictactoe(threads: int) -> None:
    game = TicTacToe()
    rng = random.Random(4)
    for _ in range(25):
        weights = draw_random_weights(rng, tictactoe.FEATURE_NAMES)
        evaluate = make_linear_evaluator(
            tictactoe.make_feature_function(game), tictactoe.FEATURE_NAMES, weights
        )
        position = game.start()
        for _ in range(rng.randint(2, 6)):
            moves = game.moves(position)
            position = game.successor(position, rng.choice(moves)) if moves else position
        if game.outcome(position):
            continue
        searcher = Searcher(game, weights, Settings(**EXACT, threads=threads))
        for report in searcher.deepen(position, max_depth=5):
            if report.depth:
                assert (report.value, report.move) == minimax(game, position, report.depth, evaluate)
        searcher.close()


def test_tictactoe_is_a_draw_and_the_search_ends_by_itself() -> None:
    game = TicTacToe()
    searcher = Searcher(game, weights_for(game, "features"), Settings(**EXACT))
    last = list(searcher.deepen(game.start()))[-1]
    searcher.close()
    assert last.value == 0
    assert last.is_depth_finished
    assert last.depth == 9
