from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.leaf_counts import LeafCountComparison, compare_leaf_counts
from arena.bots.search.problem import Problem
from arena.bots.search.reports.leaves_chart import WIDTH, render_leaves_chart
from arena.games.tictactoe import TicTacToe

SVG = "{http://www.w3.org/2000/svg}"


def compare_leaves(budget: int) -> LeafCountComparison:
    game = TicTacToe()
    return compare_leaf_counts(Problem(game, evaluator_for(game)), game.start(), 4, budget)


def test_there_is_a_dot_for_every_count_and_a_name_for_every_line() -> None:
    comparison = compare_leaves(800)
    picture = ET.fromstring(render_leaves_chart(comparison, "leaves & depth"))
    assert len(list(picture.iter(f"{SVG}circle"))) == sum(
        map(len, comparison.leaf_counts_to_max_depth.values())
    )
    texts = ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]
    for name in (
        "leaves & depth",
        *(name for name, counts in comparison.leaf_counts_to_max_depth.items() if counts),
    ):
        assert texts.count(name) == 1
    assert all(0 <= float(text.get("x", -1)) < WIDTH for text in picture.iter(f"{SVG}text"))


def test_no_counts_give_no_chart() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        render_leaves_chart(compare_leaves(1), "empty")
