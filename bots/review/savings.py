"""What a search saves that looks at less than it could: the same search without that, counted beside it (000).

000's `taketree` and dynamic pruning change values, so both are a gamble: what they save is told with what they miss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from arena.bots.api.options import Spec, Value
from arena.bots.review.analysis import run_reference
from arena.bots.search.reports.trace_text import value_text
from arena.bots.search.watch import Stopped
from arena.games.core import Game

MOST_NODES = 200_000
"""After how many nodes a search for comparison is given up, unless another number is asked for."""


@dataclass(frozen=True)
class Saving:
    """A search, and one that looks at more.

    what, whole  what the two do, in words
    nodes, leaves, value                    of the search
    whole_nodes, whole_leaves, whole_value  of the other; None where it was given up
    """

    what: str
    nodes: int
    leaves: int
    value: int
    whole: str
    whole_nodes: int | None
    whole_leaves: int | None
    whole_value: int | None
    most: int = MOST_NODES
    """After how many nodes the other was to be given up."""

    def told(self) -> str:
        """Both in a line."""
        mine = f"{self.what}: {self.nodes:,} nodes, {self.leaves:,} estimates, {value_text(self.value)}"
        if self.whole_nodes is None or self.whole_leaves is None or self.whole_value is None:
            return f"{mine}. {self.whole}: more than {self.most:,} nodes"
        share = self.nodes / self.whole_nodes
        other = f"{self.whole_nodes:,} nodes, {self.whole_leaves:,} estimates, {value_text(self.whole_value)}"
        return f"{mine}. {self.whole}: {other}. That is {share:.0%} of the nodes"


def savings(
    game: Game[Any, Any], position: Any, depth: int, spec: Spec, most: int = MOST_NODES
) -> Iterator[Saving]:
    """One for each option of the search by which it looks at less; none for a search that has none.

    A search for comparison is given up after `most` nodes.
    """
    take, bound = (_whole(spec.values, option) for option in ("take", "dynamic"))
    if take:
        yield _saving(
            (game, position, depth, spec, f"The first {take} moves of each node"),
            (depth, _without(spec, "take"), "All moves"),
            most,
        )
    if bound:
        yield _saving(
            (game, position, depth, spec, f"{depth} plies, up to {depth + bound} where armies are attacked"),
            (depth + bound, _without(spec, "dynamic"), f"{depth + bound} plies everywhere"),
            most,
        )


def _whole(values: Mapping[str, Value], option: str) -> int:
    value = values.get(option, 0)
    return value if isinstance(value, int) else 0


def _without(spec: Spec, option: str) -> Spec:
    return replace(spec, values={**spec.values, option: 0})


def _saving(
    less: tuple[Game[Any, Any], Any, int, Spec, str], more: tuple[int, Spec, str], most: int
) -> Saving:
    game, position, depth, spec, what = less
    result, watch = run_reference(game, position, depth, spec, tracing=False)
    deeper, whole, words = more
    polled = 0

    def stop() -> bool:
        nonlocal polled
        polled += 1
        return polled > most

    try:
        other, seen = run_reference(game, position, deeper, whole, tracing=False, stop=stop)
    except Stopped:
        return Saving(what, watch.nodes, watch.leaves, result.value, words, None, None, None, most)
    told = Saving(what, watch.nodes, watch.leaves, result.value, words, None, None, None, most)
    return replace(told, whole_nodes=seen.nodes, whole_leaves=seen.leaves, whole_value=other.value)
