"""Fairness of the start position of a Riskless map, measured by the territories that the two players hold.

The territories that a player holds are the player's side. Only the places of the two sides in the graph of roads are
compared, not their armies. In the running times, such as O(V E), V is the number of territories, and E is the number of
roads.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.games.graph import Graph


def compute_all_distances(graph: Graph) -> list[list[int]]:
    """Return the distances, in roads, between all territories of a connected graph, in O(V E) time.

    `distances[v][w]` is the distance from territory v to territory w.
    """
    return [_compute_distances_from(graph, territory) for territory in range(len(graph))]


def _compute_distances_from(graph: Graph, start_territory: int) -> list[int]:
    distances = [-1] * len(graph)
    distances[start_territory] = 0
    frontier = [start_territory]
    for territory in frontier:
        for neighbour in graph[territory]:
            if distances[neighbour] < 0:
                distances[neighbour] = distances[territory] + 1
                frontier.append(neighbour)
    return distances


class StartImbalanceMeter:
    """Meter of the fairness of start positions on one map, whose roads form a connected graph.

    The constructor takes O(V E) time. Measuring a start takes O(V) time for each territory of the start.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.distances = compute_all_distances(graph)

    def compute_imbalance(self, maxie_territories: Sequence[int], minnie_territories: Sequence[int]) -> int:
        """Return the imbalance of a start position in which the players hold these territories.

        The imbalance, 0 for a fair start, is the sum of the differences between the two sides in:

        - the number of roads that lead from the territories of the side
        - the number of territories at each distance (0, 1, 2 …) from the side
        - the number of territories that are nearer to this side than to the other side
        - the distances from the territories of the side to the nearest enemy territory, sorted, and compared one by one
        """
        distances_from_maxie = self._compute_nearest_distances(maxie_territories)
        distances_from_minnie = self._compute_nearest_distances(minnie_territories)
        road_difference = sum(len(self.graph[territory]) for territory in maxie_territories) - sum(
            len(self.graph[territory]) for territory in minnie_territories
        )
        distance_count_differences = [0] * len(self.graph)
        for maxie_distance, minnie_distance in zip(distances_from_maxie, distances_from_minnie, strict=True):
            distance_count_differences[maxie_distance] += 1
            distance_count_differences[minnie_distance] -= 1
        nearer_difference = sum(
            (a < b) - (a > b) for a, b in zip(distances_from_maxie, distances_from_minnie, strict=True)
        )
        enemy_distances = zip(
            sorted(distances_from_minnie[territory] for territory in maxie_territories),
            sorted(distances_from_maxie[territory] for territory in minnie_territories),
            strict=False,
        )
        return (
            abs(road_difference)
            + sum(map(abs, distance_count_differences))
            + abs(nearer_difference)
            + sum(abs(a - b) for a, b in enemy_distances)
        )

    def _compute_nearest_distances(self, side_territories: Sequence[int]) -> list[int]:
        return [
            min(distances)
            for distances in zip(*(self.distances[territory] for territory in side_territories), strict=True)
        ]
