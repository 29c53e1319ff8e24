"""Directed graphs as adjacency lists.

A graph of V vertices is a sequence of V sequences: entry v lists the targets of v's edges, in a fixed order. Vertices
are 0 to V - 1. Edges are directed; an undirected graph contains both directions of each edge. E is the number of
directed edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Vertex = int
Graph = Sequence[Sequence[Vertex]]
"""Adjacency list: for each vertex, the targets of its edges."""


class VertexNotInGraph(KeyError):
    """Raised for a number that is not a vertex of the graph."""

    def __init__(self, vertex: int, vertex_count: int) -> None:
        super().__init__(vertex)
        self.vertex = vertex
        self.vertex_count = vertex_count

    def __str__(self) -> str:
        return f"vertex {self.vertex} is not in the graph: its vertices are 0 to {self.vertex_count - 1}"


def list_neighbours(graph: Graph, vertex: Vertex) -> Sequence[Vertex]:
    """Return the targets of the edges from `vertex`, in their fixed order. O(1).

    Raises VertexNotInGraph if there is no such vertex in the graph.
    """
    if not 0 <= vertex < len(graph):
        raise VertexNotInGraph(vertex, len(graph))
    return graph[vertex]


def build_graph(edges: Iterable[tuple[Vertex, Vertex]], vertex_count: int) -> tuple[tuple[Vertex, ...], ...]:
    """Return the graph of `vertex_count` vertices with the directed edges `edges`, as (source, target), in this order.

    Raises VertexNotInGraph for an edge with an end outside the graph. Takes O(V + E) time.
    """
    targets_by_vertex: list[list[Vertex]] = [[] for _ in range(vertex_count)]
    for source, target in edges:
        for end in (source, target):
            if not 0 <= end < vertex_count:
                raise VertexNotInGraph(end, vertex_count)
        targets_by_vertex[source].append(target)
    return tuple(tuple(targets) for targets in targets_by_vertex)


def list_edges(graph: Graph) -> list[tuple[Vertex, Vertex]]:
    """Return all directed edges, vertex by vertex."""
    return [(source, target) for source, targets in enumerate(graph) for target in targets]


def is_simple(graph: Graph) -> bool:
    """Return True if no edge leads from a vertex to itself, and no edge occurs twice. O(V + E)."""
    return all(
        len(set(targets)) == len(targets) and node not in targets for node, targets in enumerate(graph)
    )


def is_undirected(graph: Graph) -> bool:
    """Return True if for every edge the graph has the edge in the opposite direction too. O(V + E)."""
    edges = set(list_edges(graph))
    return all((target, source) in edges for source, target in edges)


def find_reachable_vertices(graph: Graph, start_vertex: Vertex) -> set[Vertex]:
    """Return all vertices reachable from `start_vertex`, including itself. O(V + E)."""
    visited = {start_vertex}
    frontier = [start_vertex]
    while frontier:
        for target in list_neighbours(graph, frontier.pop()):
            if target not in visited:
                visited.add(target)
                frontier.append(target)
    return visited


def is_connected(graph: Graph) -> bool:
    """Return True if every vertex can be reached from every other along directed edges. O(V + E).

    For a directed graph, this property is called strongly connected.
    """
    if not graph:
        return True
    backwards = build_graph(((target, source) for source, target in list_edges(graph)), len(graph))
    return len(find_reachable_vertices(graph, 0)) == len(find_reachable_vertices(backwards, 0)) == len(graph)
