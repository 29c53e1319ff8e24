"""Capitals: a variant of Riskless with a second way to win, by taking the opponent's capital. It is played on Riskless maps.

After each move, a capital gains more armies than another territory. If the player who moved holds fewer territories than
the opponent, this player's capital gains still more, so that a player who is behind can win. If both players reach the
number of armies that wins in the same ply, the one with more armies wins. Maxie's capital has more armies at the start
than on the map, because Minnie would otherwise win more matches.
"""

from __future__ import annotations

from arena import MAXIE, MINNIE, Outcome, Player, Riskless, load_map

GARRISON_ARMIES = 2
"""Armies that a capital gains after every move of either player, besides the one army that every occupied territory gains."""
CATCH_UP_ARMIES_PER_TERRITORY = 4
"""Extra armies that a capital gains after its owner's move, for each territory by which its owner is behind the opponent."""
HEAD_START_ARMIES = 4
"""Extra armies of Maxie's capital at the start, besides the armies that the map gives it. The map's territory cap still
applies.
"""
NAMED_CAPITALS = {"usa": ("Florida", "Delaware"), "world": ("Mongolia", "Western United States")}
"""Maxie's and Minnie's capital on two maps, by the map's name. With these capitals, measured matches were the most even."""
PREFERRED_CAPITAL_DISTANCE = 4
"""Preferred distance between the two capitals, in roads, on maps that are not in NAMED_CAPITALS.

If the capitals are nearer to each other, one is soon taken; if they are farther apart, hardly ever.
"""
TERRITORY_VALUE_ARMIES = 10
"""Worth of a territory in `Capitals.estimate`, in armies."""


class Capitals(Riskless):
    name = "capitals"
    title = "Capitals"

    def __init__(self, map):
        super().__init__(map)
        self.capitals = _choose_capitals(map)

    @classmethod
    def from_setup(cls, setup):
        return super().from_setup(setup) if setup else cls(load_map("italy"))

    def start(self):
        position = super().start()
        armies, capital = list(position.armies), self.capitals[MAXIE]
        armies[capital] = min(armies[capital] + HEAD_START_ARMIES, self.map.territory_cap)
        return position._replace(armies=tuple(armies))

    def successor(self, position, move):
        after = super().successor(position, move)
        armies, cap = list(after.armies), self.map.territory_cap
        lead = _territory_lead(armies)
        for player, capital in self.capitals.items():
            own = armies[capital] * player.sign
            if own > 0:
                behind = max(0, -lead * player.sign) if player is position.player else 0
                armies[capital] = player.sign * min(
                    own + GARRISON_ARMIES + CATCH_UP_ARMIES_PER_TERRITORY * behind, cap
                )
        return after._replace(armies=tuple(armies))

    def outcome(self, position):
        for player, capital in self.capitals.items():
            if position.armies[capital] * player.sign < 0:
                return Outcome(player.opponent, "capital")
        outcome, lead = super().outcome(position), sum(position.armies)
        if outcome is not None and outcome.reason_code == "both_armies" and lead:
            return Outcome(MAXIE if lead > 0 else MINNIE, "armies")
        return outcome

    def estimate(self, position):
        """Return Maxie's lead in armies, plus TERRITORY_VALUE_ARMIES for each territory that she has more than Minnie.

        The armies of a territory with an enemy neighbour count one and a half times, for both players.
        """
        armies = position.armies
        border = {1: 0, -1: 0}
        for territory, n in enumerate(armies):
            if any(n * armies[neighbour] < 0 for neighbour in self.map.neighbours[territory]):
                border[1 if n > 0 else -1] += abs(n)
        return (
            sum(armies) + border[1] // 2 - border[-1] // 2 + TERRITORY_VALUE_ARMIES * _territory_lead(armies)
        )


def _territory_lead(armies) -> int:
    """Return Maxie's number of territories minus Minnie's.

    armies  number of armies of each territory; Maxie's are positive, Minnie's negative
    """
    return sum((n > 0) - (n < 0) for n in armies)


def _choose_capitals(map) -> dict[Player, int]:
    """Return each player's capital: a territory that the player holds at the start.

    NAMED_CAPITALS names the capitals of two maps. On other maps, choose the pair of territories whose distance is
    nearest to PREFERRED_CAPITAL_DISTANCE. Of several such pairs, choose one with the fewest dead ends (territories with
    one road), because a dead end is easy to defend. If several pairs remain, choose the one whose capitals are most
    equally central: the sums of their distances to all territories differ least.
    """
    distances = [_compute_distances(map, territory) for territory in range(map.territory_count)]
    maxies = [territory for territory, armies in enumerate(map.start) if armies > 0]
    minnies = [territory for territory, armies in enumerate(map.start) if armies < 0]

    named = NAMED_CAPITALS.get(map.name)

    def compute_unfairness(pair: tuple[int, int]) -> tuple[bool, int, int, int]:
        maxie, minnie = (distances[territory] for territory in pair)
        is_named = tuple(map.territories[territory] for territory in pair) == named
        dead_ends = sum(len(map.neighbours[territory]) == 1 for territory in pair)
        return (
            not is_named,
            abs(maxie[pair[1]] - PREFERRED_CAPITAL_DISTANCE),
            dead_ends,
            abs(sum(maxie) - sum(minnie)),
        )

    maxie, minnie = min(((a, b) for a in maxies for b in minnies), key=compute_unfairness)
    return {MAXIE: maxie, MINNIE: minnie}


def _compute_distances(map, source: int) -> list[int]:
    """Return the number of roads on a shortest path from `source` to each territory."""
    far = {source: 0}
    for territory in (queue := [source]):
        for neighbour in map.neighbours[territory]:
            if neighbour not in far:
                far[neighbour] = far[territory] + 1
                queue.append(neighbour)
    return [far[territory] for territory in range(map.territory_count)]
