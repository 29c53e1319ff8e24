"""`arena analyse --compare`: number of leaves that each algorithm visits, as tables and as a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from arena.bots.evaluators import evaluator_for
from arena.bots.search.effort import TWICE, Comparison, Reach, compare
from arena.bots.search.problem import Problem
from arena.bots.search.reports.leaves_chart import POWERS, plot_svg
from arena.console import CommandError, out, write_json, write_text
from arena.games.core import Game


def compare_command(
    game: Game[Any, Any], position: Any, depth: int, budget: int, svg: Path | None, json: Path | None
) -> None:
    """Count the leaves, print both tables, and draw the plot. Raises CommandError."""
    problem = Problem(game, evaluator_for(game))
    comparison = compare(problem, position, depth, budget)
    if comparison.deepest == 0:
        raise CommandError(f"--budget: {budget} leaves are not enough for depth 1")
    reaches = comparison.reaches()
    if svg is not None:
        place = f" on {map_name}" if (map_name := game.setup().get("map")) else ""
        write_text(plot_svg(comparison, f"Leaves by depth: {game.name}{place}"), svg)
    if json is not None:
        write_json(_json_rows(comparison, reaches), json)
    if "-" in (str(json), str(svg)):
        return
    _print_leaves(comparison)
    _print_reaches(reaches)


def _json_rows(comparison: Comparison, reaches: list[Reach]) -> dict[str, Any]:
    depths = range(1, comparison.deepest + 1)
    return {
        "budget": comparison.budget,
        "leaves": [
            {
                "depth": depth,
                **{
                    name: counts[depth - 1]
                    for name, counts in comparison.bounded_leaves.items()
                    if len(counts) >= depth
                },
                "q": round(comparison.breadth(depth) or 0, 3),
                **{name: comparison.expected(depth, share) for share, name in POWERS},
            }
            for depth in depths
        ],
        "depth_in_equal_leaves": [
            {"leaves": each.leaves, **each.reached, "ideal": each.ideal} for each in reaches
        ],
    }


def _print_leaves(comparison: Comparison) -> None:
    depths = range(1, comparison.deepest + 1)
    out.print("Leaves by depth p", style="bold")
    table = _new_table("p", *(str(depth) for depth in depths))
    for name, counts in comparison.bounded_leaves.items():
        table.add_row(name, *(f"{count:,}" for count in counts), *("·" for _ in depths[len(counts) :]))
    table.add_section()
    table.add_row("q", *(f"{comparison.breadth(depth) or 0:.2f}" for depth in depths))
    for share, name in POWERS:
        table.add_row(name, *(f"{comparison.expected(depth, share) or 0:,}" for depth in depths))
    _print_full_width(table)
    out.print(
        f"·: more than {comparison.budget:,} leaves, or the game ends before. ordered, sorted and table deepen,\n"
        "so all their depths count; sorted and table also count what they estimate only to sort.\n"
        "q: the p-th root of minimax's leaves, beyond its reach the last one.\n"
    )


def _print_reaches(reaches: list[Reach]) -> None:
    out.print("Depth reached in equal leaves", style="bold")
    table = _new_table("leaves", *TWICE, "ideal")
    for each in reaches:
        table.add_row(
            f"{each.leaves:,}",
            *(str(each.reached[name]) for name in TWICE),
            "·" if each.ideal is None else str(each.ideal),
        )
    _print_full_width(table)
    out.print("ideal: alpha-beta in perfect order on a tree of q moves at every node (Knuth and Moore).")


def _new_table(first: str, *others: str) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column(first, no_wrap=True)
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _print_full_width(table: Table) -> None:
    """Print `table` at its full width, so that a narrow terminal or a pipe does not cut off numbers."""
    Console(width=1000).print(table)
