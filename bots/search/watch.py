"""What a search tells about itself while it runs, and how it is told to stop.

A search calls `enter` for every node, then `leaf` or the search of its children, then `leave`; or `count`
for leaves that it values together, where no trace is wanted. The
watch counts, polls the stop, and keeps the events where a trace is wanted. A search that runs parts
in parallel gives each part a fork and joins the forks in move order, so that the trace is the same
in every run.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from arena.bots.search.edges import Edge

Path = tuple[int, ...]
"""Where a node is in the tree: at each ply from the root, the number of the move in move order."""

Stop = Callable[[], bool]
"""Whether to stop now. Polled at every node, also from other threads, so it must be quick."""


class Stopped(Exception):
    """The search was told to stop before it had its answer."""


def never() -> bool:
    """The stop of a search that may run to its end."""
    return False


@dataclass(frozen=True, slots=True)
class Entered:
    """A node was entered with a window. Both ends are None for a search that keeps no window."""

    path: Path
    position: Any
    depth: int
    alpha: Edge | None
    beta: Edge | None


@dataclass(frozen=True, slots=True)
class Valued:
    """A leaf got its value."""

    path: Path
    position: Any
    value: int


@dataclass(frozen=True, slots=True)
class Recalled:
    """A table answered for a node, so nothing below it was searched."""

    path: Path
    position: Any
    value: int


@dataclass(frozen=True, slots=True)
class Left:
    """A node was left with a result. `pruned`: the cut test fired, at the last child or before it."""

    path: Path
    position: Any
    result: Edge
    pruned: bool


Event = Entered | Valued | Recalled | Left


class Watch:
    """Counts nodes and leaves, polls the stop, and keeps events when `tracing`.

    nodes    nodes entered, the root and the leaves included
    leaves   leaves valued
    sorted   positions that were estimated only to sort moves
    horizon  whether a leaf was only estimated: if not, no deeper search can answer differently
    hints    for inner nodes, the move that was best or that cut: the order for the next iteration
    held     of a search that builds a tree, the most nodes that were in memory at once
    """

    __slots__ = ("_held", "events", "held", "hints", "horizon", "leaves", "nodes", "sorted", "stop")

    def __init__(self, stop: Stop = never, *, tracing: bool = False) -> None:
        self.stop = stop
        self.nodes = 0
        self.leaves = 0
        self.sorted = 0
        self.horizon = False
        self.events: list[Event] | None = [] if tracing else None
        self.hints: dict[Any, Any] = {}
        self.held = 0
        self._held: set[weakref.ref[object]] = set()

    def enter(
        self,
        path: Path,
        position: object,
        depth: int,
        alpha: Edge | int | None = None,
        beta: Edge | int | None = None,
    ) -> None:
        """A node is entered. Raises Stopped when the stop says so."""
        if self.stop():
            raise Stopped
        self.nodes += 1
        if self.events is not None:
            self.events.append(Entered(path, position, depth, _edge(alpha), _edge(beta)))

    def hold(self, node: object) -> None:
        """A node of a tree has come into memory; when it goes, that is seen."""
        self._held.add(_Mark(node, self._held.discard))
        self.held = max(self.held, len(self._held))

    def leaf(self, path: Path, position: object, value: int, *, horizon: bool) -> None:
        """A leaf has its value."""
        self.leaves += 1
        self.horizon |= horizon
        if self.events is not None:
            self.events.append(Valued(path, position, value))
            self.events.append(Left(path, position, Edge(value), pruned=False))

    def count(self, leaves: int, *, horizon: bool) -> None:
        """So many leaves were entered and have their values, of which no trace is kept; the search has polled the stop itself."""
        self.nodes += leaves
        self.leaves += leaves
        self.horizon |= horizon

    def recall(self, path: Path, position: object, value: int, *, horizon: bool) -> None:
        """A table has answered for a node."""
        self.horizon |= horizon
        if self.events is not None:
            self.events.append(Recalled(path, position, value))
            self.events.append(Left(path, position, Edge(value), pruned=False))

    def leave(self, path: Path, position: object, result: Edge | int, *, pruned: bool = False) -> None:
        """An inner node has its result."""
        if self.events is not None:
            edge = result if isinstance(result, Edge) else Edge(result)
            self.events.append(Left(path, position, edge, pruned))

    def fork(self, stop: Stop | None = None) -> Watch:
        """A watch for a part that runs in parallel, with a stop of its own if it is given one."""
        return Watch(stop or self.stop, tracing=self.events is not None)

    def join(self, parts: Iterable[Watch]) -> None:
        """Take over what the parts have seen; call it with the parts in move order."""
        for part in parts:
            self.nodes += part.nodes
            self.leaves += part.leaves
            self.sorted += part.sorted
            self.horizon |= part.horizon
            self.hints.update(part.hints)
            if self.events is not None and part.events is not None:
                self.events.extend(part.events)


class _Mark(weakref.ref[Any]):
    """A weak reference that is equal to itself alone, whatever it refers to."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


def _edge(bound: Edge | int | None) -> Edge | None:
    return Edge(bound) if isinstance(bound, int) else bound
