"""Nodes of a search to depth 8 on the map `m2`, as more and more search techniques are switched on.

The numbers are compared with plain alpha-beta and with the minimal tree, the smallest that alpha-beta can visit.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from benchmarks.kit.measure import (
    Ratio,
    format_markdown_table,
    format_short,
    make_midgame_positions,
    make_riskless,
)
from benchmarks.kit.results import format_verdict

SEARCH_DEPTH_PLIES = 8
POSITION_COUNT = 12
MIN_NODE_REDUCTION_FACTOR = 20
"""Promised lower bound of the number of nodes that plain alpha-beta visits, divided by that of a search with all techniques."""
ALL_OFF: dict[str, Any] = {
    "exact": True,
    "table": False,
    "hints": False,
    "move_scores": False,
    "null_windows": False,
}
"""Search settings that switch off all techniques beyond plain alpha-beta."""
ADDED_TECHNIQUES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("plain alpha-beta", {}),
    ("+ the game's move scores", {"move_scores": True}),
    ("+ the table's move", {"hints": True}),
    ("+ the table's values", {"table": True}),
    ("+ null windows", {"null_windows": True}),
)
"""Compared searches, each as (name, settings that it changes). A search keeps the settings of the searches before it."""


def count_minimal_tree_leaves(branching_factor: float, depth: int) -> float:
    """Return the number of leaves of the smallest tree that alpha-beta can visit (Knuth and Moore, 1975).

    branching_factor: number of moves at each node; depth: depth of the tree in plies
    """
    return float(branching_factor ** ((depth + 1) // 2) + branching_factor ** (depth // 2) - 1)


def run_benchmark() -> dict[str, Any]:
    """Search the same positions with plain alpha-beta, then with one more technique each time (ADDED_TECHNIQUES).

    Return the number of legal moves in each position, and the number of nodes of each search.
    """
    board = make_riskless("m2")
    midgame_positions = make_midgame_positions(board, POSITION_COUNT)
    weights = weights_for(board, "features")
    counts: dict[str, list[int]] = {}
    settings = dict(ALL_OFF)
    for name, added_settings in ADDED_TECHNIQUES:
        settings |= added_settings
        searcher = Searcher(board, weights, Settings(**settings))
        row = []
        for position in midgame_positions:
            searcher.clear()
            # Without the table's moves, a search gains nothing from shallower iterations, so these are not counted.
            reports = list(searcher.deepen(position, max_depth=SEARCH_DEPTH_PLIES))
            earlier_nodes = reports[-2].nodes if not settings["hints"] else 0
            row.append(reports[-1].nodes - earlier_nodes)
        counts[name] = row
        searcher.close()
    return {"moves": [len(board.moves(position)) for position in midgame_positions], "nodes": counts}


def format_figures(raw_data: dict[str, Any]) -> dict[str, str]:
    """Return texts that compare the searches of ADDED_TECHNIQUES, by the name of their placeholder in RESULTS.md.

    raw_data: result of `run_benchmark`
    """
    plain, breadths = raw_data["nodes"][ADDED_TECHNIQUES[0][0]], raw_data["moves"]
    rows = []
    for name, row in raw_data["nodes"].items():
        fewer = Ratio([first / nodes for first, nodes in zip(plain, row, strict=True)])
        minimal = Ratio(
            [n / count_minimal_tree_leaves(b, SEARCH_DEPTH_PLIES) for n, b in zip(row, breadths, strict=True)]
        )
        rows.append([name, format_short(Ratio(row).median), str(fewer), format_short(minimal.median)])
    headings = ["techniques", "nodes, median", "fewer than plain by", "of the minimal tree's leaves, median"]
    return {
        "devices.table": format_markdown_table(headings, rows),
        "devices.fewer": format_verdict(
            fewer.format_with_range("× fewer"),
            is_bound_kept=fewer.median >= MIN_NODE_REDUCTION_FACTOR,
        ),
    }
