"""The compiled search finds the value and the leftmost best move of a simple minimax at every depth."""

from __future__ import annotations

import random
from typing import Any

import pytest

from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators import riskless
from arena.bots.evaluators.linear import make_linear_evaluator
from arena.bots.search.deepening import deepen
from arena.bots.search.play import AlphaBeta
from arena.games.core import Game
from arena.games.riskless import Riskless
from tests.bots.compiled.positions import draw_random_weights, make_random_map, make_random_position, minimax
from tests.properties import examples

EXACT: dict[str, Any] = {"exact": True, "table_mb": 1, "split_depth": 2}
WAYS: dict[str, dict[str, Any]] = {
    "one thread": {},
    "two threads": {"threads": 2},
    "three threads": {"threads": 3},
    "course, one thread": {"course": True, "prune": 0.3},
    "course, three threads": {"course": True, "prune": 0.3, "threads": 3},
    "course, minimax": {"course": True, "prune": 0.0, "threads": 2},
    "plain": {
        "table": False,
        "move_scores": False,
        "null_windows": False,
        "foresee": False,
    },
}


@pytest.mark.parametrize("way", WAYS)
def test_riskless_is_minimax_at_every_depth(way: str) -> None:
    rng = random.Random(way)
    for number in range(examples(120).max_examples):
        game = Riskless(make_random_map(rng, 7))
        weights = draw_random_weights(rng, riskless.FEATURE_NAMES)
        if number % 2:
            weights |= {
                "attacks": 0,
                "exposed": 0,
            }  # without these features, leaves are valued from the node above them
        evaluate = make_linear_evaluator(
            riskless.make_feature_function(game), riskless.FEATURE_NAMES, weights
        )
        searcher = Searcher(game, weights, Settings(**{**EXACT, **WAYS[way]}))
        # several positions with one table: entries of other positions must not change a value
        for _ in range(3):
            position = make_random_position(game, rng)
            for report in searcher.deepen(position, max_depth=4):
                if report.depth:
                    expected = minimax(game, position, report.depth, evaluate)
                    assert (report.value, report.move) == expected, (game.map, position, report)
                    assert report.is_depth_finished
                    assert report.line[0] == report.move
                    assert_line(game, position, report.line)
        searcher.close()


def assert_line(game: Game[Any, Any], position: Any, line: tuple[Any, ...]) -> None:
    for move in line:
        position = game.play(position, move)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_deeper_searches_agree_with_the_reference(threads: int) -> None:
    rng = random.Random(threads)
    for _ in range(6):
        game = Riskless(make_random_map(rng, 8))
        weights = draw_random_weights(rng, riskless.FEATURE_NAMES)
        evaluate = make_linear_evaluator(
            riskless.make_feature_function(game), riskless.FEATURE_NAMES, weights
        )
        position = make_random_position(game, rng)
        searcher = Searcher(game, weights, Settings(**EXACT, threads=threads))
        mine = {report.depth: report for report in searcher.deepen(position, max_depth=7)}
        for report in deepen(game, position, AlphaBeta(evaluate), max_depth=7):
            if report.depth and report.depth in mine:
                found = mine[report.depth]
                assert (found.value, found.move) == (report.value, report.move)
        searcher.close()
