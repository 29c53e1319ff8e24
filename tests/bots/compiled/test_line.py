"""bots.compiled.line: the main line of a finished search."""

from __future__ import annotations

import pytest

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators import evaluator_for
from arena.bots.search.problem import Problem
from arena.games.riskless import Riskless
from arena.maps.loader import load_map


@pytest.mark.parametrize("map", ["path4", "m1"])
def test_the_line_is_legal_and_a_whole_one_ends_in_the_value(map: str) -> None:
    game = Riskless(load_map(map))
    searcher = Searcher(game, weights_for(game, "features"), Settings(table_mb=1, exact=True))
    problem = Problem(game, evaluator_for(game, "features"))
    whole = 0
    for report in searcher.deepen(game.start(), max_depth=7):
        position = game.start()
        for move in report.line:
            position = game.play(position, move)
        assert report.line[0] == report.move
        assert len(report.line) <= max(report.depth, 1)
        if report.depth and len(report.line) == report.depth:
            whole += 1
            assert problem.expand(position, 0, report.depth).value == report.value
    searcher.close()
    assert whole >= 3
