"""What having the move is worth in a game, and how far one ply moves the value: measured before the first search.

Exact values of the depths 1, 2 and 3 rise and fall by turns, because whoever moved last is better off for it.
With T for that tempo they are v + T, v - T and v + T for the player to move at the root, so the second difference
is 4 T. What is left of the step from 1 to 2 spreads by SPREAD over the positions.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from arena.bots.search.values import ESTIMATE_LIMIT
from arena.games.core import Game

WALKS = 8
LENGTH = 60
STEP = 8
DEEPEST = 3
LEAST = 16
"""The fewest positions that a measurement needs: a game that ends sooner is not played selectively."""


@dataclass(frozen=True)
class Calibration:
    """What the selective mode knows of a game on its map, in hundredths of an army."""

    tempo: int
    """What it is worth to have the move."""
    spread: int
    """The standard deviation of what else a ply changes."""


def walked(game: Game[Any, Any], rng: random.Random) -> Iterator[Any]:
    """Positions of random matches, every so many plies one, until somebody has won."""
    for _ in range(WALKS):
        position = game.start()
        for ply in range(LENGTH):
            moves = game.moves(position)
            if not moves:
                break
            if ply % STEP == 0:
                yield position
            position = game.successor(position, rng.choice(moves))


def calibrate(game: Game[Any, Any], value: Callable[[Any, int], int]) -> Calibration | None:
    """Measure a game; None where random matches give too few positions.

    value   the exact value of a position to a depth of 1 to 3 plies, for the player to move, in hundredths
    """
    found = []
    for position in walked(game, random.Random(1)):
        values = [value(position, depth) for depth in range(1, DEEPEST + 1)]
        if all(abs(each) < ESTIMATE_LIMIT for each in values):
            found.append(values)
    if len(found) < LEAST:
        return None
    tempo = statistics.median(one - 2 * two + three for one, two, three in found) / 4
    spread = statistics.pstdev(two - one for one, two, _ in found)
    return Calibration(round(tempo), round(spread))
