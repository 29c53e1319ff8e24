"""The features of Riskless (001, sections 4.1.2 and 4.1.3; `games.riskless` has the rules).

A move never changes the difference of the armies before training, so armies alone see nothing but
training and the cap. The other features see what training and the next moves will do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bots.evaluators.linear import Features
from games.riskless import Armies, Riskless

NAMES = ("armies", "territories", "borders", "safe", "threats", "waste", "goal")
"""The names of the features. Each is counted for both players, and is Maxie's less Minnie's:

armies       armies
territories  territories: each trains one army a ply
borders      armies on territories next to an enemy's
safe         territories all of whose neighbours are the player's own
threats      enemy armies on territories that the player could take with one move (A ≥ D)
waste        territories at the cap: they train for nothing
goal         armies² / armies_to_win, rounded down: nearness to the winning total, felt only near it
"""


def features(game: Riskless) -> Features[Armies]:
    """The features of positions of this game. O(V + E) a position."""
    near = game.map.neighbours
    cap = game.map.territory_cap
    goal = game.map.armies_to_win

    def count(position: Armies) -> Sequence[int]:
        armies = position.armies
        maxie = minnie = territories = borders = safe = threats = waste = 0
        for v, n in enumerate(armies):
            if n == 0:
                continue
            sign, strength = (1, n) if n > 0 else (-1, -n)
            if n > 0:
                maxie += n
            else:
                minnie -= n
            territories += sign
            waste += sign * (strength >= cap)
            around = [sign * armies[w] for w in near[v]]
            if min(around) < 0:
                borders += n
                # the strongest enemy beside it could take it: a threat of the other player
                if -min(around) >= strength:
                    threats -= n
            elif min(around) > 0:
                safe += sign
        nearness = maxie * maxie // goal - minnie * minnie // goal
        return (maxie - minnie, territories, borders, safe, threats, waste, nearness)

    return count


GREAT = 5
"""A territory is worth looking on for when one of so many of a player's armies stands there."""


def under_attack(game: Riskless) -> Callable[[Armies], bool]:
    """Whether a position of this game is dynamic, as 000 has it: great armies are under attack. O(V + E) a position.

    They are when the player to move could take a territory on which a fifth or more of the other's armies stand.
    """
    near = game.map.neighbours

    def attacked(position: Armies) -> bool:
        sign = game.player(position).sign
        theirs = [-sign * n for n in position.armies]
        total = sum(n for n in theirs if n > 0)
        return any(
            n > 0 and n * GREAT >= total and max(-theirs[w] for w in near[v]) >= n
            for v, n in enumerate(theirs)
        )

    return attacked
