"""Comparison of a search that uses an option to save work with the same search without the option.

The option `take` searches only the first moves of each node, and `dynamic` searches deeper only where a position is too
unstable to estimate. (Source 000, which docs/search.md lists, calls them taketree and dynamic pruning.) Both options
change not only the work of a search but also its value, so the nodes and the values of both searches are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from arena.bots.api.engine_spec import Spec, Value
from arena.bots.review.analysis import run_reference
from arena.bots.search.monitor import Stopped
from arena.bots.search.reports.trace_text import value_text
from arena.games.core import Game

MAX_NODES = 200_000
"""Default number of nodes after which the larger of two compared searches is abandoned."""


@dataclass(frozen=True)
class Saving:
    """Comparison of a search with one that visits more nodes.

    what, whole                             descriptions of the first and the second search
    nodes, leaves, value                    results of the first search
    whole_nodes, whole_leaves, whole_value  results of the second search; None if it was abandoned
    """

    what: str
    nodes: int
    leaves: int
    value: int
    whole: str
    whole_nodes: int | None
    whole_leaves: int | None
    whole_value: int | None
    max_nodes: int = MAX_NODES
    """Number of nodes after which the second search is abandoned."""

    def describe(self) -> str:
        """Return the comparison as one line."""
        smaller_text = (
            f"{self.what}: {self.nodes:,} nodes, {self.leaves:,} estimates, {value_text(self.value)}"
        )
        if self.whole_nodes is None or self.whole_leaves is None or self.whole_value is None:
            return f"{smaller_text}. {self.whole}: more than {self.max_nodes:,} nodes"
        share = self.nodes / self.whole_nodes
        larger_text = (
            f"{self.whole_nodes:,} nodes, {self.whole_leaves:,} estimates, {value_text(self.whole_value)}"
        )
        times = f"{share:.0%} of" if share < 1 else f"{share:.1f} ×"
        return f"{smaller_text}. {self.whole}: {larger_text}. That is {times} the nodes"


def measure_savings(
    game: Game[Any, Any], position: Any, depth: int, spec: Spec, max_nodes: int = MAX_NODES
) -> Iterator[Saving]:
    """Yield a comparison for each option that changes the work of the search: one for `take`, two for `dynamic`.

    The larger of two compared searches is abandoned after `max_nodes` nodes.
    """
    take, bound = (_int_option(spec.values, option) for option in ("take", "dynamic"))
    if take:
        yield _compare_searches(
            (game, position, depth, spec, f"The first {take} moves of each node"),
            (depth, _without_option(spec, "take"), "All moves"),
            max_nodes,
        )
    if bound:
        yield _compare_searches(
            (game, position, depth, spec, f"{depth} plies, up to {depth + bound} where armies are attacked"),
            (depth, _without_option(spec, "dynamic"), f"{depth} plies everywhere"),
            max_nodes,
        )
        yield _compare_searches(
            (game, position, depth, spec, f"{depth} plies, up to {depth + bound} where armies are attacked"),
            (depth + bound, _without_option(spec, "dynamic"), f"{depth + bound} plies everywhere"),
            max_nodes,
        )


def _int_option(values: Mapping[str, Value], option: str) -> int:
    value = values.get(option, 0)
    return value if isinstance(value, int) else 0


def _without_option(spec: Spec, option: str) -> Spec:
    return replace(spec, values={**spec.values, option: 0})


def _compare_searches(
    smaller: tuple[Game[Any, Any], Any, int, Spec, str], larger: tuple[int, Spec, str], max_nodes: int
) -> Saving:
    game, position, depth, spec, what = smaller
    result, monitor = run_reference(game, position, depth, spec, tracing=False)
    deeper, whole, words = larger
    polled = 0

    def is_over_limit() -> bool:
        nonlocal polled
        polled += 1
        return polled > max_nodes

    try:
        larger_result, counts = run_reference(
            game, position, deeper, whole, tracing=False, stop=is_over_limit
        )
    except Stopped:
        return Saving(what, monitor.nodes, monitor.leaves, result.value, words, None, None, None, max_nodes)
    saving = Saving(what, monitor.nodes, monitor.leaves, result.value, words, None, None, None, max_nodes)
    return replace(
        saving, whole_nodes=counts.nodes, whole_leaves=counts.leaves, whole_value=larger_result.value
    )
