"""The features of Riskless (001, sections 4.1.2 and 4.1.3; `games.riskless` has the rules).

A move never changes the difference of the armies before training, so armies alone see nothing but
training and the cap. The other features see what training and the next moves will do.

A weight serves maps of every size, cap and goal. What a feature counts is therefore either armies, or territories; and
a territory weighs as much as its share of the goal, armies_to_win / territories (`units`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.bots.evaluators.linear import Features
from arena.games.board import RisklessMap
from arena.games.riskless import Armies, Riskless

NAMES = (
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
"""The names of the features. Each is counted for both players, and is Maxie's less Minnie's. In armies:

armies       armies
race         armies_to_win, shared out by who reaches it first at one army a ply for each territory: a player's part is
             what the other one's way takes of both ways. Of m more armies on n territories, it is m / n plies long
goal         armies² / armies_to_win, rounded down: nearness to the winning total, felt only near it
borders      armies on territories next to an enemy's

and in territories:

territories  territories: each trains one army a ply
waste        territories at the cap: they train for nothing
safe         territories all of whose neighbours are the player's own
reach        empty territories next to the player's
attacks      enemy territories that the player could take now, if it is the player's turn, else 0
exposed      own territories that the other player could take, if it is the player's turn, else 0
"""
TERRITORIES = NAMES[NAMES.index("territories") :]
"""Those that count territories."""


def units(map: RisklessMap) -> Sequence[float]:
    """What one of each feature's units counts on a map: 1 army, or a territory's share of the goal."""
    share = map.armies_to_win / map.size
    return [share if name in TERRITORIES else 1.0 for name in NAMES]


def features(game: Riskless) -> Features[Armies]:
    """The features of positions of this game. O(V + E) a position."""
    near = game.map.neighbours
    cap = game.map.territory_cap
    goal = game.map.armies_to_win

    def count(position: Armies) -> Sequence[int]:
        armies = position.armies
        maxie = minnie = own = others = borders = safe = reach = waste = 0
        taken = {1: 0, -1: 0}
        for v, n in enumerate(armies):
            around = [armies[w] for w in near[v]]
            if n == 0:
                reach += (max(around) > 0) - (min(around) < 0)
                continue
            sign, strength = (1, n) if n > 0 else (-1, -n)
            if n > 0:
                maxie += n
                own += 1
            else:
                minnie -= n
                others += 1
            waste += sign * (strength >= cap)
            enemy = max(-sign * m for m in around)
            if enemy > 0:
                borders += n
                # the strongest enemy beside it could take it; a tie is won by the attacker
                taken[-sign] += enemy >= strength
            elif min(sign * m for m in around) > 0:
                safe += sign
        mover = position.player.sign
        return (
            maxie - minnie,
            race(goal, maxie, own, minnie, others),
            maxie * maxie // goal - minnie * minnie // goal,
            borders,
            own - others,
            waste,
            safe,
            reach,
            mover * taken[mover],
            mover * taken[-mover],
        )

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


def race(goal: int, own_armies: int, own: int, other_armies: int, others: int) -> int:
    """Who is ahead on the way to `goal`, from -goal to goal armies: see NAMES. Rounded towards 0."""
    mine = (goal - other_armies) * own
    theirs = (goal - own_armies) * others
    if mine + theirs <= 0:
        return 0  # both have no territory, or have won
    whole = goal * (mine - theirs)
    return abs(whole) // (mine + theirs) * (1 if whole > 0 else -1)
