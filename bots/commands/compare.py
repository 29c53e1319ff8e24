"""`arena analyse --compare`: count the leaves that each algorithm visits, and show the counts as tables and as a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.leaf_counts import (
    METHODS_WITH_REACHED_DEPTHS,
    LeafCountComparison,
    ReachedDepths,
    compare_leaf_counts,
)
from arena.bots.search.problem import Problem
from arena.bots.search.reports.leaves_chart import REFERENCE_CURVES, render_leaves_chart
from arena.console import CommandError, out, print_table, write_json, write_text
from arena.games.core import Game


def print_leaf_counts(
    game: Game[Any, Any],
    position: Any,
    max_depth: int,
    max_leaves: int,
    svg_file: Path | None,
    json_file: Path | None,
) -> None:
    """Count the leaves that each algorithm visits from a position, and print, draw or write the counts.

    max_depth   maximum depth, in plies
    max_leaves  maximum number of leaves per search; an algorithm is not counted at depths where its search needs more
    svg_file    file for the plot; None for no plot
    json_file   file for the counts as JSON; None for no file

    Raises CommandError if no algorithm finishes depth 1 with `max_leaves` leaves, or a file cannot be written.
    """
    problem = Problem(game, evaluator_for(game))
    comparison = compare_leaf_counts(problem, position, max_depth, max_leaves)
    if comparison.max_reached_depth == 0:
        raise CommandError(f"--budget: {max_leaves} leaves are not enough for depth 1; give more")
    reached_depths = comparison.list_reached_depths()
    if svg_file is not None:
        map_text = f" on {map_name}" if (map_name := game.setup().get("map")) else ""
        write_text(render_leaves_chart(comparison, f"Leaves by depth: {game.name}{map_text}"), svg_file)
    if json_file is not None:
        write_json(_make_json_fields(comparison, reached_depths), json_file)
    if "-" in (str(json_file), str(svg_file)):
        return
    _print_leaves_by_depth(comparison)
    _print_reached_depths(reached_depths)


def _make_json_fields(comparison: LeafCountComparison, reached_depths: list[ReachedDepths]) -> dict[str, Any]:
    depths = range(1, comparison.max_reached_depth + 1)
    return {
        "budget": comparison.max_leaves,
        "leaves": [
            {
                "depth": depth,
                **{
                    name: counts[depth - 1]
                    for name, counts in comparison.leaf_counts_to_max_depth.items()
                    if len(counts) >= depth
                },
                "q": round(comparison.compute_branching_factor(depth) or 0, 3),
                **{
                    name: comparison.compute_expected_leaf_count(depth, exponent_factor)
                    for exponent_factor, name in REFERENCE_CURVES
                },
            }
            for depth in depths
        ],
        "depth_in_equal_leaves": [
            {"leaves": depths.leaf_count, **depths.depth_by_method, "ideal": depths.ideal_depth}
            for depths in reached_depths
        ],
    }


def _print_leaves_by_depth(comparison: LeafCountComparison) -> None:
    depths = range(1, comparison.max_reached_depth + 1)
    rows = [
        [name, *(f"{count:,}" for count in counts), *("·" for _ in depths[len(counts) :])]
        for name, counts in comparison.leaf_counts_to_max_depth.items()
    ]
    rows.append(["q", *(f"{comparison.compute_branching_factor(depth) or 0:.2f}" for depth in depths)])
    for exponent_factor, name in REFERENCE_CURVES:
        rows.append(
            [
                name,
                *(
                    f"{comparison.compute_expected_leaf_count(depth, exponent_factor) or 0:,}"
                    for depth in depths
                ),
            ]
        )
    out.print("Leaves by depth p", style="bold")
    print_table({"p": "left", **dict.fromkeys(map(str, depths), "right")}, rows)
    out.print(
        f"·: depth p takes more than {comparison.max_leaves:,} leaves, or every match ends before it.\n"
        "ordered, sorted and table deepen iteratively: the leaves of all depths up to p count.\n"
        "For sorted and table, positions that are estimated only to sort moves count too.\n"
        "q: the p-th root of minimax's leaves. Where minimax has no number, q is that of its last depth.\n"
    )


def _print_reached_depths(reached_depths: list[ReachedDepths]) -> None:
    out.print("Depth reached in equal leaves", style="bold")
    rows = [
        [
            f"{depths.leaf_count:,}",
            *(str(depths.depth_by_method[name]) for name in METHODS_WITH_REACHED_DEPTHS),
            "·" if depths.ideal_depth is None else str(depths.ideal_depth),
        ]
        for depths in reached_depths
    ]
    print_table(dict.fromkeys(("leaves", *METHODS_WITH_REACHED_DEPTHS, "ideal"), "right"), rows)
    out.print("ideal: alpha-beta in perfect order on a tree of q moves at every node (Knuth and Moore).")
