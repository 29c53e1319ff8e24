"""Fair starting territories: a measure of how much the sides of two players differ, and a search for a small difference.

A start consists of two sides, the territories that Maxie holds and those that Minnie holds. The measure compares only
the places of the two sides in the graph of roads, not their armies. In O(V E), V is the number of territories, and E is
the number of roads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.games.graph import Graph

Side = tuple[int, ...]
"""Territories that a player holds at the start, in ascending order."""


def compute_all_distances(graph: Graph) -> list[list[int]]:
    """Return the distances, in roads, from each territory to each other one in a connected graph. O(V E).

    `distances[v][w]` is the distance from territory v to territory w.
    """
    return [_compute_distances_from(graph, v) for v in range(len(graph))]


def _compute_distances_from(graph: Graph, start: int) -> list[int]:
    distances = [-1] * len(graph)
    distances[start] = 0
    frontier = [start]
    for v in frontier:
        for w in graph[v]:
            if distances[w] < 0:
                distances[w] = distances[v] + 1
                frontier.append(w)
    return distances


class StartBalancer:
    """Search for a fair start on one connected graph, with the measure of unfairness that the search minimizes.

    The constructor takes O(V E) time. To measure a start takes O(V) time for each territory of the start.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.distances = compute_all_distances(graph)

    def compute_imbalance(self, maxie: Sequence[int], minnie: Sequence[int]) -> int:
        """Return the imbalance of a start with these two sides: 0 for equal sides, more the more they differ.

        The imbalance is the sum of the differences between the two sides in four quantities:

        - the number of roads that lead from the territories of the side
        - the number of territories at each distance from the side
        - the number of territories that are nearer to this side than to the other side
        - the distance of each of its territories to the nearest enemy territory, in ascending order
        """
        from_maxie = self._compute_nearest_distances(maxie)
        from_minnie = self._compute_nearest_distances(minnie)
        road_difference = sum(len(self.graph[v]) for v in maxie) - sum(len(self.graph[v]) for v in minnie)
        distance_count_differences = [0] * len(self.graph)
        for maxie_distance, minnie_distance in zip(from_maxie, from_minnie, strict=True):
            distance_count_differences[maxie_distance] += 1
            distance_count_differences[minnie_distance] -= 1
        nearer_difference = sum((a < b) - (a > b) for a, b in zip(from_maxie, from_minnie, strict=True))
        enemy_distances = zip(
            sorted(from_minnie[v] for v in maxie), sorted(from_maxie[v] for v in minnie), strict=False
        )
        return (
            abs(road_difference)
            + sum(map(abs, distance_count_differences))
            + abs(nearer_difference)
            + sum(abs(a - b) for a, b in enemy_distances)
        )

    def _compute_nearest_distances(self, side: Sequence[int]) -> list[int]:
        return [min(distances) for distances in zip(*(self.distances[v] for v in side), strict=True)]

    def propose_start(self, territories_per_side: int) -> tuple[Side, Side]:
        """Return the sides of Maxie and Minnie in a fair start. No two of their territories are adjacent.

        The search runs once from each territory of the graph:

        1. Beginning with this territory, choose 2 × `territories_per_side` territories that are far apart.
        2. Divide them between the two sides.
        3. Exchange single territories while that lowers the imbalance.

        The result is the start with the smallest imbalance; among equals, the one that is spread most widely. Maxie
        gets the territory with the lowest number. The same graph always gives the same start.

        Raises ValueError if no set of so many pairwise non-adjacent territories is found.
        """
        proposals = []
        for first in range(len(self.graph)):
            spread_territories = self._spread_territories(first, 2 * territories_per_side)
            if spread_territories is not None:
                proposals.append(
                    self._minimize_imbalance(tuple(spread_territories[0::2]), tuple(spread_territories[1::2]))
                )
        if not proposals:
            raise ValueError(
                f"found no {2 * territories_per_side} pairwise non-adjacent territories ({territories_per_side} for each side): ask for fewer"
            )
        _, _, maxie, minnie = min(proposals)
        sides = sorted((tuple(sorted(maxie)), tuple(sorted(minnie))))
        return sides[0], sides[1]

    def _spread_territories(self, first: int, count: int) -> list[int] | None:
        territories = [first]
        while len(territories) < count:
            nearest = self._compute_nearest_distances(territories)
            farthest = max(range(len(nearest)), key=nearest.__getitem__)
            if nearest[farthest] < 2:
                return None
            territories.append(farthest)
        return territories

    def _minimize_imbalance(self, maxie: Side, minnie: Side) -> tuple[int, int, Side, Side]:
        """Exchange single territories as long as that improves the start.

        Return the two measures of the improved start (`_measure_start`), and its two sides.
        """
        best = (*self._measure_start(maxie, minnie), maxie, minnie)
        while True:
            measured_exchanges = [
                (*self._measure_start(a, b), a, b) for a, b in self._list_exchanges(best[2], best[3])
            ]
            best_exchange = min(measured_exchanges, default=best)
            if best_exchange[:2] >= best[:2]:
                return best
            best = best_exchange

    def _measure_start(self, maxie: Side, minnie: Side) -> tuple[int, int]:
        """Return the imbalance of a start, and minus the sum of the distances between its territories.

        The smaller of two such pairs belongs to the better start.
        """
        territories = (*maxie, *minnie)
        distance_sum = sum(self.distances[a][b] for a in territories for b in territories)
        return (self.compute_imbalance(maxie, minnie), -distance_sum)

    def _list_exchanges(self, maxie: Side, minnie: Side) -> Iterator[tuple[Side, Side]]:
        for a in maxie:
            for b in minnie:
                yield _replace_territory(maxie, a, b), _replace_territory(minnie, b, a)
        territories = (*maxie, *minnie)
        for old in territories:
            kept_territories = [v for v in territories if v != old]
            for new in range(len(self.graph)):
                if new not in territories and all(self.distances[new][v] > 1 for v in kept_territories):
                    yield _replace_territory(maxie, old, new), _replace_territory(minnie, old, new)


def _replace_territory(side: Side, old: int, new: int) -> Side:
    return tuple(new if v == old else v for v in side)
