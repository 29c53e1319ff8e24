"""The three traces in source 001 (docs/search.md) are reproduced line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.monitor import LeafValued, NodeLeft, SearchMonitor
from arena.bots.search.problem import Problem, SearchResult
from arena.bots.search.reports.trace_text import format_search_value, format_summary_lines, format_trace_lines
from arena.bots.search.search_values import INFINITY, WIN_VALUE
from arena.bots.search.thread_pool import ThreadPool
from arena.games.explicit import ExplicitGame
from tests.bots.search.problems import tree

PRINTED = json.loads((Path(__file__).parent / "printed_traces.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", PRINTED)
def test_printed_traces(name: str, threads: int) -> None:
    printed: dict[str, Any] = PRINTED[name]
    game = tree(printed["tree"])
    problem = Problem(game, evaluator_for(game))
    monitor = SearchMonitor(tracing=True)
    with ThreadPool(threads) as pool:
        settings = AlgorithmSettings(pool, printed["prune_percentage"] or 0.0)
        algorithm = ALGORITHMS[printed["algorithm"]]
        result = algorithm.run(problem, game.start(), printed["search_depth"], monitor, settings)
    events = monitor.events or []
    estimates = any(line.startswith("Estimating") for line in printed["trace_lines"])
    assert list(format_trace_lines(game, events, shows_estimates=estimates)) == printed["trace_lines"]
    assert (result.value, result.move) == (printed["value"], printed["move"])
    assert [game.get_node_name(e.position) for e in events if isinstance(e, LeafValued)] == printed[
        "terminals"
    ]
    assert monitor.leaves == printed["terminals_visited"]
    pruned = [game.get_node_name(e.position) for e in events if isinstance(e, NodeLeft) and e.has_cutoff]
    assert pruned == printed["pruned_nodes"]


def test_closing_lines() -> None:
    game = tree("HandoutBig")
    problem = Problem(game, evaluator_for(game))
    monitor = SearchMonitor()
    with ThreadPool(1) as pool:
        result = ALGORITHMS["alphabeta"].run(problem, game.start(), 4, monitor, AlgorithmSettings(pool))
    assert format_summary_lines(game, game.start(), result, monitor.leaves) == [
        "Therefore value of (Maxie,a) is Guess: 3, and best move is 0.",
        "Terminals visited: 6",
        "Overall choice: move 0[left]",
    ]
    leaf = ExplicitGame.from_tree({"name": "a", "value": 3})
    assert format_summary_lines(leaf, leaf.start(), SearchResult(3, None), 1)[-1] == "Overall choice: none"
    many = ExplicitGame.from_tree({"name": "a", "children": [{"name": each, "value": 1} for each in "bcde"]})
    assert format_summary_lines(many, many.start(), SearchResult(1, 3), 4)[-1] == "Overall choice: move 3"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "Guess: 3"),
        (-2, "Guess: ~2"),
        (INFINITY, "Maxie wins!"),
        (-INFINITY, "Minnie wins!"),
        (WIN_VALUE - 5, "Maxie wins in 5"),
        (1 - WIN_VALUE, "Minnie wins in 1"),
    ],
)
def test_values(value: int, text: str) -> None:
    assert format_search_value(value) == text
