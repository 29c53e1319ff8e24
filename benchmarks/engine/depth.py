"""Depth that the compiled engine and the reference engine in Python reach in one second on the map `world`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.deepening import deepen
from arena.bots.search.play import AlphaBeta, Search, Table
from benchmarks.kit.measure import Ratio, Section, make_middle_games, make_riskless
from benchmarks.kit.results import format_claim

POSITION_COUNT = 7
SECONDS = 1.0
MODES = REFERENCE, EXACT, SELECTIVE = "reference, exact", "compiled, exact", "compiled, as it plays"


def _make_time_limit() -> Callable[[], bool]:
    """Return a function that returns True once this process has used SECONDS of CPU time from now on."""
    end = time.process_time() + SECONDS
    return lambda: time.process_time() > end


def _completed_depth(reports: Any) -> int:
    return max(int(report.depth) for report in reports if report.finished)


def measure() -> dict[str, Any]:
    """Search each position for SECONDS in every mode of MODES. Return the completed depths by mode."""
    board = make_riskless("world")
    weights = weights_for(board, "features")
    compiled = (Searcher(board, weights, Settings(exact=True)), Searcher(board, weights, Settings()))
    depths: dict[str, list[int]] = {name: [] for name in MODES}
    for position in make_middle_games(board, POSITION_COUNT):
        search: Search[Any, Any] = AlphaBeta(evaluator_for(board, "features"), table=Table())
        depths[REFERENCE].append(_completed_depth(deepen(board, position, search, stop=_make_time_limit())))
        for name, searcher in zip((EXACT, SELECTIVE), compiled, strict=True):
            searcher.warm_up()
            searcher.clear()
            depths[name].append(_completed_depth(searcher.deepen(position, stop=_make_time_limit())))
    for searcher in compiled:
        searcher.close()
    return {"depths": depths}


def make_section(data: dict[str, Any]) -> Section:
    """Return the section of RESULTS.md with the depth reached for each position. `data`: result of `measure`."""
    depths = data["depths"]
    exact_gain = Ratio([a - b for a, b in zip(depths[EXACT], depths[REFERENCE], strict=True)])
    selective_gain = Ratio([a - b for a, b in zip(depths[SELECTIVE], depths[EXACT], strict=True)])
    rows = [[name, ", ".join(map(str, reached))] for name, reached in depths.items()]
    rows.append([f"{EXACT}, more than {REFERENCE}", f"**{exact_gain}**"])
    rows.append([f"{SELECTIVE}, more than {EXACT}", str(selective_gain)])
    return Section(
        f"Depth reached in {SECONDS:.0f} s on world",
        f"Each search gets {SECONDS:.0f} s of CPU time for each of {len(depths[EXACT])} middle-game positions, with the evaluator "
        "`features`, one thread and an empty table. The *reference* is `alphabeta` in Python with its transposition table. An "
        "*exact* search returns the same value and the same leftmost best move as minimax to the same depth.",
        ["search", "depth of each position"],
        rows,
        "Do not compare the depth of the search *as it plays* with the depth of an exact search: the search as it plays leaves out "
        "late moves, so it reaches its depth only along some lines of moves. `benchmarks.engine.strength` measures how many Elo "
        "stronger it is.",
        claims=[
            format_claim(
                f"depth of the compiled exact search in {SECONDS:.0f} s on world, compared with the reference in Python",
                "4 plies more",
                exact_gain.describe("plies more"),
                kept=exact_gain.median >= 4,
            )
        ],
    )
