"""Capitals: a variant of Riskless that is won by taking the opponent's capital. It is played on Riskless maps.

A capital trains more armies than other territories. No number of armies wins, so the weaker player can still win.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from arena import MAXIE, MINNIE, Outcome, Player, Riskless, load_map

GARRISON = 2
"""Number of armies that a capital trains in addition to the one that every occupied territory trains."""


class Capitals(Riskless):
    name = "capitals"
    title = "Capitals"

    def __init__(self, map):
        # As many as the map can hold, so that only a capital decides a match.
        super().__init__(replace(map, armies_to_win=map.size * map.territory_cap))
        self.capitals = _choose_capitals(map)

    @classmethod
    def from_setup(cls, setup):
        return super().from_setup(setup) if setup else cls(load_map("italy"))

    def successor(self, position, move):
        after = super().successor(position, move)
        armies, cap = list(after.armies), self.map.territory_cap
        for player, capital in self.capitals.items():
            own = armies[capital] * player.sign
            if own > 0:
                armies[capital] = player.sign * min(own + GARRISON, cap)
        return after._replace(armies=tuple(armies))

    def outcome(self, position):
        for player, capital in self.capitals.items():
            if position.armies[capital] * player.sign < 0:
                return Outcome(player.opponent, "capital")
        return super().outcome(position)


def _choose_capitals(map) -> dict[Player, int]:
    """Return a capital for each player: two territories held at the start that are as equally far from the enemy as possible.

    Of several such pairs, the farthest from the enemy is taken, then the one whose numbers of roads differ least.
    """
    maxies = [v for v, armies in enumerate(map.start) if armies > 0]
    minnies = [v for v, armies in enumerate(map.start) if armies < 0]
    to_minnie, to_maxie = _distances(map, minnies), _distances(map, maxies)
    roads = [len(near) for near in map.neighbours]

    def unfairness(pair: tuple[int, int]) -> tuple[int, ...]:
        maxie, minnie = pair
        one, other = to_minnie[maxie], to_maxie[minnie]
        return abs(one - other), -min(one, other), abs(roads[maxie] - roads[minnie])

    maxie, minnie = min(((a, b) for a in maxies for b in minnies), key=unfairness)
    return {MAXIE: maxie, MINNIE: minnie}


def _distances(map, sources: Iterable[int]) -> dict[int, int]:
    """Return the number of roads from each territory to the nearest of `sources`."""
    distances = dict.fromkeys(sources, 0)
    for v in (queue := list(distances)):
        for w in map.neighbours[v]:
            if w not in distances:
                distances[w] = distances[v] + 1
                queue.append(w)
    return distances
