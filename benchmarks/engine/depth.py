"""Depth that the compiled engine and the reference engine in Python reach in one second on the map `world`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.deepening import deepen
from arena.bots.search.play import AlphaBeta, Search
from arena.bots.search.table import Table
from benchmarks.kit.measure import (
    MeasuredRatio,
    format_markdown_table,
    make_midgame_positions,
    make_riskless_game,
)
from benchmarks.kit.results import format_verdict

POSITION_COUNT = 7
SEARCH_SECONDS = 1.0
"""CPU time of each search, in seconds."""
MIN_DEPTH_GAIN_PLIES = 4
"""Promised lower bound of the plies by which the compiled search without pruning goes deeper than the reference search."""
SEARCH_TITLES = REFERENCE, EXACT, SELECTIVE = "reference, exact", "compiled, exact", "compiled, as it plays"
"""Names of the compared searches. An exact search prunes nothing beyond alpha-beta.

REFERENCE  exact search in Python
EXACT      exact search, compiled
SELECTIVE  compiled search with the further pruning that the engines use
"""


def _make_cpu_deadline_predicate() -> Callable[[], bool]:
    """Return a function that returns True once this process has used SEARCH_SECONDS of CPU time from now on."""
    deadline = time.process_time() + SEARCH_SECONDS
    return lambda: time.process_time() > deadline


def _find_last_completed_depth(reports: Any) -> int:
    return max(int(report.depth) for report in reports if report.is_depth_finished)


def run_benchmark() -> dict[str, Any]:
    """Run each of the searches SEARCH_TITLES on each position, for SEARCH_SECONDS. Return the completed depths by search."""
    board = make_riskless_game("world")
    weights = weights_for(board, "features")
    compiled_searchers = (
        Searcher(board, weights, Settings(exact=True)),
        Searcher(board, weights, Settings()),
    )
    depths: dict[str, list[int]] = {name: [] for name in SEARCH_TITLES}
    for position in make_midgame_positions(board, POSITION_COUNT):
        search: Search[Any, Any] = AlphaBeta(evaluator_for(board, "features"), table=Table())
        depths[REFERENCE].append(
            _find_last_completed_depth(deepen(board, position, search, stop=_make_cpu_deadline_predicate()))
        )
        for name, searcher in zip((EXACT, SELECTIVE), compiled_searchers, strict=True):
            searcher.warm_up()
            searcher.clear()
            depths[name].append(
                _find_last_completed_depth(searcher.deepen(position, stop=_make_cpu_deadline_predicate()))
            )
    for searcher in compiled_searchers:
        searcher.close()
    return {"depths": depths}


def format_figures(raw_data: dict[str, Any]) -> dict[str, str]:
    """Return texts with the depth reached for each position, by the name of their placeholder in RESULTS.md.

    raw_data: result of `run_benchmark`
    """
    depths = raw_data["depths"]
    exact_gain = MeasuredRatio([a - b for a, b in zip(depths[EXACT], depths[REFERENCE], strict=True)])
    selective_gain = MeasuredRatio([a - b for a, b in zip(depths[SELECTIVE], depths[EXACT], strict=True)])
    rows = [[name, ", ".join(map(str, reached))] for name, reached in depths.items()]
    rows.append([f"{EXACT}, more than {REFERENCE}", f"**{exact_gain}**"])
    rows.append([f"{SELECTIVE}, more than {EXACT}", str(selective_gain)])
    return {
        "depth.table": format_markdown_table(["search", "depth of each position"], rows),
        "depth.gain": format_verdict(
            exact_gain.format_with_range("plies more"),
            is_bound_kept=exact_gain.median >= MIN_DEPTH_GAIN_PLIES,
        ),
    }
