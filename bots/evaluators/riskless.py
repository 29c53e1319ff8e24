"""Features of Riskless positions for an evaluator (source 001 in docs/search.md, sections 4.1.2 and 4.1.3).

After each move every occupied territory trains: it gets one more army, up to the map's cap. The move itself never changes
the difference between the players' armies, but training does. So an estimate by the feature `armies` alone would ignore
where the armies are. The other features tell how training and the next moves will change the difference.

One set of weights serves maps of every size, cap and goal. Features therefore count either armies or territories, and a
territory weighs as much as its share of the goal, armies_to_win / territories (`compute_feature_weight_factors`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.bots.evaluators.linear import FeatureFunction
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.riskless_map import RisklessMap

FEATURE_NAMES = (
    "armies",
    "race",
    "goal",
    "borders",
    "territories",
    "waste",
    "safe",
    "reach",
    "attacks",
    "exposed",
)
"""Names of the features. Each is computed for both players, and its value is Maxie's minus Minnie's.

These features count armies:

armies       all armies of the player
race         lead in the race to armies_to_win: armies_to_win × (q - p) / (q + p), where Maxie still needs p plies, and
             Minnie q. The number of plies is (armies_to_win - armies) / territories, as each territory trains one a ply
goal         armies² / armies_to_win, rounded down: matters only near the winning total
borders      armies on territories next to an enemy's

These features count territories:

territories  territories: each trains one army a ply
waste        territories at the cap, whose training has no effect
safe         territories whose neighbours all belong to the same player
reach        empty territories next to the player's
attacks      enemy territories that the player could take now; 0 for the player who is not to move
exposed      own territories that the opponent could take; 0 for the player who is not to move
"""
TERRITORY_FEATURES = FEATURE_NAMES[FEATURE_NAMES.index("territories") :]
"""Names of the features that count territories; the other features count armies."""


def compute_feature_weight_factors(map: RisklessMap) -> Sequence[float]:
    """Return the factor of each feature's weight on a map, in the order of FEATURE_NAMES.

    The factor of a feature that counts armies is 1. The factor of a feature that counts territories is a territory's share
    of the goal: armies_to_win / territories.
    """
    territory_share = map.armies_to_win / map.territory_count
    return [territory_share if name in TERRITORY_FEATURES else 1.0 for name in FEATURE_NAMES]


def make_feature_function(game: Riskless) -> FeatureFunction[RisklessPosition]:
    """Return the function that computes the features of a position of `game`, in the order of FEATURE_NAMES.

    The time of one call of the function grows with the number of territories and roads.
    """
    neighbours = game.map.neighbours
    cap = game.map.territory_cap
    goal = game.map.armies_to_win

    def compute_features(position: RisklessPosition) -> Sequence[int]:
        armies = position.armies
        maxie_armies = minnie_armies = maxie_territories = minnie_territories = 0
        borders = safe = reach = waste = 0
        captures = {1: 0, -1: 0}
        for territory, territory_armies in enumerate(armies):
            neighbour_armies = [armies[neighbour] for neighbour in neighbours[territory]]
            if territory_armies == 0:
                reach += (max(neighbour_armies) > 0) - (min(neighbour_armies) < 0)
                continue
            sign, strength = (1, territory_armies) if territory_armies > 0 else (-1, -territory_armies)
            if territory_armies > 0:
                maxie_armies += territory_armies
                maxie_territories += 1
            else:
                minnie_armies -= territory_armies
                minnie_territories += 1
            waste += sign * (strength >= cap)
            enemy = max(-sign * m for m in neighbour_armies)
            if enemy > 0:
                borders += territory_armies
                # The strongest enemy neighbour could take the territory; the attacker wins ties.
                captures[-sign] += enemy >= strength
            elif min(sign * m for m in neighbour_armies) > 0:
                safe += sign
        mover = position.player.sign
        return (
            maxie_armies - minnie_armies,
            compute_race_feature(goal, maxie_armies, maxie_territories, minnie_armies, minnie_territories),
            maxie_armies * maxie_armies // goal - minnie_armies * minnie_armies // goal,
            borders,
            maxie_territories - minnie_territories,
            waste,
            safe,
            reach,
            mover * captures[mover],
            mover * captures[-mover],
        )

    return compute_features


DYNAMIC_ARMY_LOSS_DIVISOR = 5
"""A loss of at least 1 / DYNAMIC_ARMY_LOSS_DIVISOR of a player's total armies makes a position dynamic: unstable to estimate."""


def make_attack_predicate(game: Riskless) -> Callable[[RisklessPosition], bool]:
    """Return a predicate that is True for dynamic positions, in which the next move may change the estimate much.

    A position is dynamic if the player to move could take a territory with at least 1 / DYNAMIC_ARMY_LOSS_DIVISOR of the
    opponent's armies. The time of one call of the predicate grows with the number of territories and roads.
    """
    neighbours = game.map.neighbours

    def is_attacked(position: RisklessPosition) -> bool:
        sign = game.player(position).sign
        enemy_armies = [-sign * n for n in position.armies]
        enemy_army_sum = sum(n for n in enemy_armies if n > 0)
        return any(
            n > 0
            and n * DYNAMIC_ARMY_LOSS_DIVISOR >= enemy_army_sum
            and max(-enemy_armies[neighbour] for neighbour in neighbours[territory]) >= n
            for territory, n in enumerate(enemy_armies)
        )

    return is_attacked


def compute_race_feature(
    goal: int, own_armies: int, own_territories: int, other_armies: int, other_territories: int
) -> int:
    """Return a player's lead in the race to win, in armies from -goal to goal: the feature `race` in FEATURE_NAMES.

    goal  number of armies that win the match
    """
    own_lead = (goal - other_armies) * own_territories
    other_lead = (goal - own_armies) * other_territories
    if own_lead + other_lead <= 0:
        return 0  # neither has a territory, or both have won
    numerator = goal * (own_lead - other_lead)
    return abs(numerator) // (own_lead + other_lead) * (1 if numerator > 0 else -1)
