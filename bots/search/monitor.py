"""Monitor of a running search: it counts nodes and leaves, records a trace if wanted, and can stop the search.

A search calls `enter_node` for every node. It then calls `record_leaf` for a leaf; for an inner node it searches the children
and calls `leave_node`. Without a trace, it may instead call `count_leaves` for several leaves at once. A search that runs parts
in parallel gives each part a fork of the monitor, and joins the forks in move order, so that the trace is the same in
every run.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

from arena.bots.search.move_values import MoveValue

Path = tuple[int, ...]
"""Path from the root of a search to a node: the index of each move in move order."""

StopCondition = Callable[[], bool]
"""Function that returns True to stop a search.

The search calls the function at every node, and from all its threads, so it must be fast and thread-safe.
"""


class SearchStopped(Exception):
    """Raised when a search is stopped before it has its result."""


def never_stop() -> bool:
    """Return False. This is the default stop condition, which lets a search run to its end."""
    return False


def stop_after_nodes(max_nodes: int) -> StopCondition:
    """Return a function that stops one search before it enters more than `max_nodes` nodes."""
    poll_numbers = count(1)
    return lambda: next(poll_numbers) > max_nodes


@dataclass(frozen=True, slots=True)
class NodeEntered:
    """Trace event: the search entered a node, to search it `depth` plies deep within the window from `alpha` to `beta`.

    Both bounds are None for an algorithm without windows, such as minimax.
    """

    path: Path
    position: Any
    depth: int
    alpha: MoveValue | None
    beta: MoveValue | None


@dataclass(frozen=True, slots=True)
class LeafValued:
    """Trace event: the search gave a leaf its value, from Maxie's point of view."""

    path: Path
    position: Any
    value: int


@dataclass(frozen=True, slots=True)
class TableHit:
    """Trace event: the transposition table had the value of a node (for Maxie), so nothing below the node was searched."""

    path: Path
    position: Any
    value: int


@dataclass(frozen=True, slots=True)
class NodeLeft:
    """Trace event: the search of a node has finished, with a result.

    `has_cutoff` is True if the value of a child caused a cutoff, even if no child was left to skip.
    """

    path: Path
    position: Any
    result: MoveValue
    has_cutoff: bool


TraceEvent = NodeEntered | LeafValued | TableHit | NodeLeft


class SearchMonitor:
    """Monitor of one search: it counts nodes and leaves, polls `stop`, and with `tracing` records a trace.

    stop                 function that returns True to stop the search
    events               events of the trace, in order; None without `tracing`
    nodes                number of nodes entered, including the root and the leaves
    leaves               number of leaves evaluated
    sort_estimates       number of positions estimated only to sort moves
    has_reached_horizon  True if a leaf was estimated, not the end of a match; if False, no deeper search can change the result
    hints                for each inner node, by its position: the best move, or the move that caused a cutoff. The next
                         iteration of iterative deepening searches this move first.
    max_live_nodes       for a search that builds a tree, the maximum number of nodes in memory at once
    """

    __slots__ = (
        "_live_nodes",
        "events",
        "has_reached_horizon",
        "hints",
        "leaves",
        "max_live_nodes",
        "nodes",
        "sort_estimates",
        "stop",
    )

    def __init__(self, stop: StopCondition = never_stop, *, tracing: bool = False) -> None:
        self.stop = stop
        self.nodes = 0
        self.leaves = 0
        self.sort_estimates = 0
        self.has_reached_horizon = False
        self.events: list[TraceEvent] | None = [] if tracing else None
        self.hints: dict[Any, Any] = {}
        self.max_live_nodes = 0
        self._live_nodes: set[weakref.ref[object]] = set()

    def enter_node(
        self,
        path: Path,
        position: object,
        depth: int,
        alpha: MoveValue | int | None = None,
        beta: MoveValue | int | None = None,
    ) -> None:
        """Record that a node is entered, to be searched `depth` plies deep. Raises SearchStopped if the search was stopped.

        path         path from the root to the node
        alpha, beta  window of the node; None for a search without windows
        """
        if self.stop():
            raise SearchStopped
        self.nodes += 1
        if self.events is not None:
            self.events.append(
                NodeEntered(path, position, depth, _to_move_value(alpha), _to_move_value(beta))
            )

    def track_live_node(self, node: object) -> None:
        """Count `node` as a tree node in memory until it is garbage-collected. The largest count is `max_live_nodes`."""
        self._live_nodes.add(_NodeReference(node, self._live_nodes.discard))
        self.max_live_nodes = max(self.max_live_nodes, len(self._live_nodes))

    def record_leaf(self, path: Path, position: object, value: int, *, is_at_horizon: bool) -> None:
        """Record the value of a leaf, from Maxie's point of view. `is_at_horizon` is True if the leaf was only estimated."""
        self.leaves += 1
        self.has_reached_horizon |= is_at_horizon
        if self.events is not None:
            self.events.append(LeafValued(path, position, value))
            self.events.append(NodeLeft(path, position, MoveValue(value), has_cutoff=False))

    def count_leaves(self, count: int, *, is_at_horizon: bool) -> None:
        """Count `count` leaves at once, which is faster than a call of `enter_node` for each. They are not in the trace.

        `is_at_horizon` is True if at least one of the leaves was only estimated. This method does not poll `stop`, so its
        caller must.
        """
        self.nodes += count
        self.leaves += count
        self.has_reached_horizon |= is_at_horizon

    def record_table_hit(self, path: Path, position: object, value: int, *, is_at_horizon: bool) -> None:
        """Record that the transposition table had the value of a node, which was therefore not searched.

        `value` is for Maxie. `is_at_horizon` is True if a deeper search may change the value.
        """
        self.has_reached_horizon |= is_at_horizon
        if self.events is not None:
            self.events.append(TableHit(path, position, value))
            self.events.append(NodeLeft(path, position, MoveValue(value), has_cutoff=False))

    def leave_node(
        self, path: Path, position: object, result: MoveValue, *, has_cutoff: bool = False
    ) -> None:
        """Record that the search of an inner node has ended with `result`, its value for Maxie and best move.

        path        path from the root to the node
        has_cutoff  True if the value of a child caused a cutoff
        """
        if self.events is not None:
            self.events.append(NodeLeft(path, position, result, has_cutoff))

    def fork(self, stop: StopCondition | None = None) -> SearchMonitor:
        """Return a new monitor for a part of the search that runs in parallel.

        stop  function that the part polls; None for the `stop` of this monitor
        """
        return SearchMonitor(stop or self.stop, tracing=self.events is not None)

    def join(self, forks: Iterable[SearchMonitor]) -> None:
        """Add the counts and trace events of `forks`, monitors that `fork` returned, which must be in move order."""
        for part in forks:
            self.nodes += part.nodes
            self.leaves += part.leaves
            self.sort_estimates += part.sort_estimates
            self.has_reached_horizon |= part.has_reached_horizon
            self.hints.update(part.hints)
            if self.events is not None and part.events is not None:
                self.events.extend(part.events)


class _NodeReference(weakref.ref[Any]):
    """Weak reference to a live node, for a set. The reference equals only itself, so that two equal nodes count as two."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


def _to_move_value(bound: MoveValue | int | None) -> MoveValue | None:
    return MoveValue(bound) if isinstance(bound, int) else bound
