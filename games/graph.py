"""Graphs as adjacency lists (001, section 3).

A graph of V vertices is a sequence of V sequences: entry v lists the targets of v's edges, in a
fixed order. Vertices are 0 to V - 1. Edges are directed; an undirected graph has both directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Vertex = int
Graph = Sequence[Sequence[Vertex]]


class NotInGraph(KeyError):
    """A vertex that the graph does not have."""

    def __init__(self, vertex: int, size: int) -> None:
        super().__init__(vertex)
        self.vertex = vertex
        self.size = size

    def __str__(self) -> str:
        return f"vertex {self.vertex} is not in the graph: its vertices are 0 to {self.size - 1}"


def neighbours(graph: Graph, vertex: Vertex) -> Sequence[Vertex]:
    """The targets of the edges that leave `vertex`, in order. Raises NotInGraph. O(1)."""
    if not 0 <= vertex < len(graph):
        raise NotInGraph(vertex, len(graph))
    return graph[vertex]


def from_edges(edges: Iterable[tuple[Vertex, Vertex]], size: int) -> tuple[tuple[Vertex, ...], ...]:
    """The graph of `size` vertices with these directed edges, each list in the order given.

    Raises NotInGraph for an edge with an end outside. O(V + E) (001, task 3.2 allows O(E²)).
    """
    lists: list[list[Vertex]] = [[] for _ in range(size)]
    for source, target in edges:
        for end in (source, target):
            if not 0 <= end < size:
                raise NotInGraph(end, size)
        lists[source].append(target)
    return tuple(tuple(targets) for targets in lists)


def edges_of(graph: Graph) -> list[tuple[Vertex, Vertex]]:
    """All directed edges, vertex by vertex."""
    return [(source, target) for source, targets in enumerate(graph) for target in targets]


def is_simple(graph: Graph) -> bool:
    """Whether there is no loop and no edge twice. O(V + E)."""
    return all(len(set(targets)) == len(targets) and v not in targets for v, targets in enumerate(graph))


def is_undirected(graph: Graph) -> bool:
    """Whether every edge also goes back. O(V + E). False for the graph of 001's Figure 1 (erratum 6)."""
    edges = set(edges_of(graph))
    return all((target, source) in edges for source, target in edges)


def reachable(graph: Graph, vertex: Vertex) -> set[Vertex]:
    """Every vertex at the end of a path from `vertex`, itself included. O(V + E)."""
    seen = {vertex}
    frontier = [vertex]
    while frontier:
        for target in neighbours(graph, frontier.pop()):
            if target not in seen:
                seen.add(target)
                frontier.append(target)
    return seen


def is_connected(graph: Graph) -> bool:
    """Whether every vertex reaches every other, along the edges' directions. O(V + E).

    In an undirected graph this is plain connectedness; in a directed one, strong connectedness.
    """
    if not graph:
        return True
    backwards = from_edges(((target, source) for source, target in edges_of(graph)), len(graph))
    return len(reachable(graph, 0)) == len(reachable(backwards, 0)) == len(graph)
