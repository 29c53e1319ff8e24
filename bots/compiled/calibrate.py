"""Measurement of two numbers before a game's first selective search: tempo and spread.

The tempo T is the value of having the move. Estimates do not contain it, so they favour the player who moved last. The
values of a position therefore alternate: at depths 1, 2 and 3 they are v + T, v - T and v + T for the player to move at
the root. The sum of the first and the third, less twice the second, is 4 T, from which T is measured.

The spread is the standard deviation, over many positions, of the change in value from depth 1 to depth 3. The same
player moves last at both depths, so features that count only for the player to move, such as `attacks`, do not widen it.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from arena.bots.search.search_values import ESTIMATE_LIMIT
from arena.games.core import Game

CALIBRATION_MATCH_COUNT = 8
MAX_CALIBRATION_MATCH_PLIES = 60
CALIBRATION_SAMPLE_INTERVAL_PLIES = 8
MAX_CALIBRATION_DEPTH = 3
MIN_CALIBRATION_POSITIONS = 16
"""Minimum number of sampled positions from which a PruningCalibration is measured.

A game that yields fewer positions is searched without selective pruning.
"""


@dataclass(frozen=True)
class PruningCalibration:
    """Measured numbers for the selective search of one game on one map, in the unit of estimates (hundredths of an army)."""

    tempo: int
    """Value of being the player to move, in hundredths of an army."""
    spread: int
    """Standard deviation of the change in a position's value if the search goes two plies deeper, in hundredths of an army."""


def sample_positions(game: Game[Any, Any], rng: random.Random) -> Iterator[Any]:
    """Yield positions of random matches: one after every CALIBRATION_SAMPLE_INTERVAL_PLIES plies.

    A match ends by its rules, or after MAX_CALIBRATION_MATCH_PLIES plies.
    """
    for _ in range(CALIBRATION_MATCH_COUNT):
        position = game.start()
        for ply in range(MAX_CALIBRATION_MATCH_PLIES):
            moves = game.moves(position)
            if not moves:
                break
            if ply % CALIBRATION_SAMPLE_INTERVAL_PLIES == 0:
                yield position
            position = game.successor(position, rng.choice(moves))


def calibrate_pruning(
    game: Game[Any, Any], compute_search_value: Callable[[Any, int], int]
) -> PruningCalibration | None:
    """Measure tempo and spread (`PruningCalibration`); None if random matches give under MIN_CALIBRATION_POSITIONS positions.

    A position counts only if no search of it finds a win or a loss.

    compute_search_value  function of a position and a depth (1 to 3 plies) that returns the position's exact value at this
                          depth, for the player to move, in hundredths of an army
    """
    samples = []
    for position in sample_positions(game, random.Random(1)):
        values = [compute_search_value(position, depth) for depth in range(1, MAX_CALIBRATION_DEPTH + 1)]
        if all(abs(value) < ESTIMATE_LIMIT for value in values):
            samples.append(values)
    if len(samples) < MIN_CALIBRATION_POSITIONS:
        return None
    tempo = statistics.median(depth_1 - 2 * depth_2 + depth_3 for depth_1, depth_2, depth_3 in samples) / 4
    spread = statistics.pstdev(depth_3 - depth_1 for depth_1, _, depth_3 in samples)
    return PruningCalibration(round(tempo), round(spread))
