"""Measurement of the work that the options `take` and `dynamic` save in a reference search.

With `take`, only the first moves of each node are searched. With `dynamic`, the search goes deeper only where a position is
too unstable to estimate. (Source 000, which docs/search.md lists, calls them taketree and dynamic pruning.) Both options
also change the value of a search. Therefore a search with the option is compared with one without, by nodes and by value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from arena.bots.api.engine_spec import Spec
from arena.bots.review.analysis import SearchTooLarge, run_reference_search
from arena.bots.search.reports.trace_text import format_search_value
from arena.games.core import Game

MAX_SEARCHED_NODES = 200_000
"""Default node limit of the search without the option, which is compared with the search with it."""


@dataclass(frozen=True)
class Saving:
    """Comparison of a search that uses an option to save work with the same search without the option.

    what, nodes, leaves, value                     description and results of the search with the option
    whole, whole_nodes, whole_leaves, whole_value  the same for the other search; results are None if it was abandoned
    """

    what: str
    nodes: int
    leaves: int
    value: int
    whole: str
    whole_nodes: int | None
    whole_leaves: int | None
    whole_value: int | None
    max_nodes: int = MAX_SEARCHED_NODES
    """Node limit of the search without the option, beyond which that search is abandoned."""

    def describe_savings(self) -> str:
        """Return the comparison as one line."""
        smaller_text = (
            f"{self.what}: {self.nodes:,} nodes, {self.leaves:,} estimates, {format_search_value(self.value)}"
        )
        if self.whole_nodes is None or self.whole_leaves is None or self.whole_value is None:
            return f"{smaller_text}. {self.whole}: more than {self.max_nodes:,} nodes"
        ratio = self.nodes / self.whole_nodes
        larger_text = f"{self.whole_nodes:,} nodes, {self.whole_leaves:,} estimates, {format_search_value(self.whole_value)}"
        ratio_text = f"{ratio:.0%} of" if ratio < 1 else f"{ratio:.1f} ×"
        return f"{smaller_text}. {self.whole}: {larger_text}. That is {ratio_text} the nodes"


def measure_node_savings(
    game: Game[Any, Any], position: Any, depth: int, spec: Spec, max_nodes: int = MAX_SEARCHED_NODES
) -> Iterator[Saving]:
    """Yield comparisons of a search with the same search without its option `take` or `dynamic`.

    There is one comparison for `take`. There are two for `dynamic`: with a search of `depth` plies, and with a search of
    `depth` + `dynamic` plies. The search without the option is abandoned after `max_nodes` nodes.
    """
    take, bound = (spec.values.get(name, 0) for name in ("take", "dynamic"))
    if not (take or bound):
        return
    result, monitor = run_reference_search(game, position, depth, spec, tracing=False)
    take_text = f"The first {take} moves of each node"
    dynamic_text = f"{depth} plies, up to {depth + bound} where armies are attacked"
    comparisons = [(take_text, "take", "All moves", depth)] if take else []
    if bound:
        compared_plies = (depth, depth + bound)
        comparisons += [
            (dynamic_text, "dynamic", f"{plies} plies everywhere", plies) for plies in compared_plies
        ]
    for subject, option, whole, plies in comparisons:
        whole_spec = replace(spec, values={**spec.values, option: 0})
        whole_results = _search_within_node_limit(game, position, plies, whole_spec, max_nodes)
        nodes, leaves, value = whole_results or (None, None, None)
        yield Saving(
            subject, monitor.nodes, monitor.leaves, result.value, whole, nodes, leaves, value, max_nodes
        )


def _search_within_node_limit(
    game: Game[Any, Any], position: Any, depth: int, spec: Spec, max_nodes: int
) -> tuple[int, int, int] | None:
    """Return the nodes, the leaves and the value of a search; None if it visits more than `max_nodes` nodes."""
    try:
        result, monitor = run_reference_search(
            game, position, depth, spec, tracing=False, max_nodes=max_nodes
        )
    except SearchTooLarge:
        return None
    return monitor.nodes, monitor.leaves, result.value
