"""Maximum matching of a graph: as many pairs of neighbours as possible, with each vertex in at most one.

Source: J. Edmonds, "Paths, trees, and flowers" (1965), with alternating trees grown breadth first and blossoms shrunk to
their base. O(n³) for n vertices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

V = TypeVar("V", bound=Hashable)


def find_maximum_matching(vertices: Sequence[V], are_neighbours: Callable[[V, V], bool]) -> dict[V, V]:
    """Return a maximum matching (as many pairs of neighbours as possible): the partner of each matched vertex.

    are_neighbours  returns True if two vertices are neighbours, in either order
    """
    n = len(vertices)
    neighbour_indexes = [
        [j for j in range(n) if j != i and are_neighbours(vertices[i], vertices[j])] for i in range(n)
    ]
    mate = [-1] * n
    for i in range(n):
        if mate[i] < 0:
            j = next((j for j in neighbour_indexes[i] if mate[j] < 0), -1)
            if j >= 0:
                mate[i], mate[j] = j, i
    for i in range(n):
        if mate[i] < 0:
            tree = _AlternatingTree(i, mate)
            tree.flip_path(tree.find_augmenting_path_end(neighbour_indexes))
    return {vertices[i]: vertices[j] for i, j in enumerate(mate) if j >= 0}


class _AlternatingTree:
    """Alternating tree of Edmonds's algorithm, grown from an unmatched vertex, `root`. A blossom is represented by its base.

    Vertices are numbers from 0.

    mate    matched partner of each vertex, -1 for none
    base    base of the blossom that contains each vertex, or the vertex itself
    parent  vertex from which an inner vertex, or a vertex of a blossom, was reached; -1 for others
    outer   True for a vertex that an alternating path of even length joins to the root
    """

    def __init__(self, root: int, mate: list[int]) -> None:
        self.root = root
        self.mate = mate
        self.base = list(range(len(mate)))
        self.parent = [-1] * len(mate)
        self.outer = [False] * len(mate)
        self.outer[root] = True
        self.queue = deque([root])

    def find_augmenting_path_end(self, neighbours: Sequence[Sequence[int]]) -> int:
        """Return the last vertex of an augmenting path from the root; -1 if there is no such path.

        neighbours  neighbours of each vertex
        """
        while self.queue:
            vertex = self.queue.popleft()
            for neighbour in neighbours[vertex]:
                if self.base[vertex] == self.base[neighbour] or self.mate[vertex] == neighbour:
                    continue
                partner = self.mate[neighbour]
                if neighbour == self.root or (partner >= 0 and self.parent[partner] >= 0):
                    self._shrink_blossom(vertex, neighbour)
                elif self.parent[neighbour] < 0:
                    self.parent[neighbour] = vertex
                    if partner < 0:
                        return neighbour
                    self._add_outer_vertex(partner)
        return -1

    def _add_outer_vertex(self, vertex: int) -> None:
        self.outer[vertex] = True
        self.queue.append(vertex)

    def _shrink_blossom(self, a: int, b: int) -> None:
        """Shrink a blossom, the odd cycle closed by the edge between the outer vertices `a` and `b`, to its base."""
        stem = self._find_common_base(a, b)
        blossom: set[int] = set()
        for vertex, child in ((a, b), (b, a)):
            while self.base[vertex] != stem:
                partner = self.mate[vertex]
                blossom |= {self.base[vertex], self.base[partner]}
                self.parent[vertex] = child
                vertex, child = self.parent[partner], partner  # noqa: PLW2901  walk to the stem
        for vertex, base in enumerate(self.base):
            if base in blossom:
                self.base[vertex] = stem
                if not self.outer[vertex]:
                    self._add_outer_vertex(vertex)

    def _find_common_base(self, a: int, b: int) -> int:
        """Return the base (vertex for a shrunk blossom) at which the paths from the vertices `a` and `b` to the root meet."""
        path = {a := self.base[a]}
        while self.mate[a] >= 0:
            a = self.base[self.parent[self.mate[a]]]
            path.add(a)
        while (b := self.base[b]) not in path:
            b = self.parent[self.mate[b]]
        return b

    def flip_path(self, end_vertex: int) -> None:
        """Swap matched and unmatched edges along the path from the root to `end_vertex`."""
        while end_vertex >= 0:
            before = self.parent[end_vertex]
            following = self.mate[before]
            self.mate[end_vertex], self.mate[before] = before, end_vertex
            end_vertex = following
