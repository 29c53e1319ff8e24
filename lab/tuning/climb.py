"""Moving an evaluator's weights to where they win matches (SPSA: Spall 1992).

How a match ends says little about one of its 200 positions, so a fit to ends (`tune`) tells how much a feature
goes with winning, not how much it helps a search to win. Here the weights themselves play. Each round moves every
weight by a step up or down, by lot, and lets the weights moved so play pairs against those moved the other way, on
every map; then all weights go the way that won, by as much as it won. Rounds later steps are smaller, and the
result is the mean of the second half of the rounds.

A weight that is 0 stays 0, since the search then saves its feature's cost. With so many nodes a move the matches are the same for the same seed and the same search.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.calibrate import walked
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import features_of, on_its_map, units
from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.lab.selfplay import Budget, opening, pair

STEP = 0.15
"""How far a weight moves in the first round, of what moves an estimate as far as it usually is from 0."""
PACE = 0.9
"""How many steps the weights go in the first round, where one side has won all of its pairs."""
SETTLING = 0.1
"""The part of all rounds in which the pace hardly falls."""
PLIES = (4, 40)
"""How many random plies, at least and at most, come before a match."""
FEW_PLIES = (0, 3)
"""How many random plies come before a match of tic-tac-toe, which is over after 9."""
PAIRS = 2
"""How many pairs are played on each map in a round."""
TABLE_MB = 2


@dataclass(frozen=True)
class Climb:
    """Where the weights went: as they stood after each tenth of the rounds, and their mean in the second half."""

    weights: Mapping[str, int]
    stages: Sequence[Mapping[str, int]]
    rounds: int
    pairs: int


def climb(
    games: Sequence[Game[Any, Any]],
    weights: Mapping[str, int],
    *,
    rounds: int,
    nodes: int,
    seed: int,
    progress: Callable[[], None],
) -> Climb:
    """So many rounds of PAIRS on each game, every move with so many nodes. The games have the same features."""
    rng = random.Random(seed)
    names = list(weights)
    at = np.array([float(weights[name]) for name in names])
    steps = _steps(games, at, rng)
    whole, counted = np.zeros(len(names)), 0
    stages = []
    for number in range(rounds):
        lot = np.array([rng.choice((-1.0, 1.0)) for _ in names])
        moved = steps * lot / (number + 1) ** 0.101
        one, other = _whole(names, at + moved), _whole(names, at - moved)
        won = sum(_won(game, one, other, nodes, rng) for game in games) / len(games)
        pace = PACE * ((1 + SETTLING * rounds) / (1 + number + SETTLING * rounds)) ** 0.602
        at += pace * won * steps * lot
        if 2 * number >= rounds:
            whole, counted = whole + at, counted + 1
        if (number + 1) * 10 // rounds > number * 10 // rounds:
            stages.append(_whole(names, at))
        progress()
    return Climb(_whole(names, whole / counted), stages, rounds, PAIRS * rounds * len(games))


def _steps(
    games: Sequence[Game[Any, Any]], weights: npt.NDArray[np.float64], rng: random.Random
) -> npt.NDArray[np.float64]:
    """How far each weight moves: measured on positions of random matches; 0 for a weight of 0."""
    rows = []
    for game in games:
        found = features_of(game)
        if found is None:
            raise ValueError(f"{game.name} has no features to weigh")
        sizes = np.array(units(game))
        rows += [sizes * found[0](position) for position in walked(game, rng)]
    seen = np.array(rows)
    spreads = np.sqrt(np.mean(seen**2, axis=0))
    whole = np.sqrt(np.mean((seen @ weights) ** 2))
    return np.asarray(STEP * whole / np.maximum(spreads, 1e-3) * (weights != 0))


def _whole(names: Sequence[str], at: npt.NDArray[np.float64]) -> Mapping[str, int]:
    return {name: round(value) for name, value in zip(names, at, strict=True)}


def _won(
    game: Game[Any, Any], one: Mapping[str, int], other: Mapping[str, int], nodes: int, rng: random.Random
) -> float:
    """What `one` wins in the pairs of a round: from -1 to 1."""
    first, second = (
        Searcher(game, on_its_map(game, each), Settings(table_mb=TABLE_MB)) for each in (one, other)
    )
    points = 0.0
    try:
        for _ in range(PAIRS):
            start = opening(game, rng, rng.randint(*(PLIES if isinstance(game, Riskless) else FEW_PLIES)))
            points += sum(pair(game, start, first, second, Budget(nodes=nodes)))
    finally:
        first.close()
        second.close()
    return points / PAIRS - 1
