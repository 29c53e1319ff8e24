"""Hill climbing of an evaluator's weights by matches (SPSA: Spall 1992).

A fit (`lab.tuning.fit`) measures how a feature correlates with the chance of winning, not how much the feature helps a search
to win. In a climb, the weights themselves play matches. Each round moves every weight by a step, up or down at random. On every map, these
weights play pairs against weights moved in the opposite directions. Then all weights move in the direction of the winner,
in proportion to its score. The steps shrink from round to round. The result is the mean of the weights in the second half
of the rounds.

A weight of 0 stays 0, because the search need not compute its feature. Searches have a fixed number of nodes, so the same
seed gives the same matches.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.calibrate import sample_positions
from arena.bots.evaluators.catalogue import compute_feature_units, get_feature_function_and_names
from arena.games.core import Game
from arena.lab.selfplay import draw_random_start, make_weighted_searcher, play_pair

FIRST_STEP_SHARE = 0.15
"""Size of each weight's first step, measured by how much it typically changes an estimate, as a share of the estimate."""
FIRST_ROUND_STEP_FACTOR = 0.9
"""Distance by which a weight moves after the first round if one side wins all pairs, as a multiple of its step."""
FULL_PACE_ROUND_SHARE = 0.1
"""Share of the rounds, at the beginning, in which the weights move at nearly full pace."""
PAIRS_PER_ROUND = 2
"""Number of pairs of matches played on each map in one round of the climb."""


@dataclass(frozen=True)
class ClimbResult:
    """Result of hill climbing.

    weights     mean of the weights in the second half of the rounds
    stages      weights after each tenth of the rounds
    pair_count  number of pairs of matches played in all rounds together
    """

    weights: Mapping[str, int]
    stages: Sequence[Mapping[str, int]]
    round_count: int
    pair_count: int


def climb_weights(
    games: Sequence[Game[Any, Any]],
    weights: Mapping[str, int],
    *,
    round_count: int,
    nodes_per_move: int,
    seed: int,
    progress: Callable[[], None],
) -> ClimbResult:
    """Improve `weights` by `round_count` rounds of hill climbing, and return the result.

    Each round plays PAIRS_PER_ROUND pairs of matches (seats swapped) of each game.

    nodes_per_move  number of nodes searched for each move
    seed            seed of all random choices
    progress        called after each round

    All games must have the same features. Raises BadSpec for a game without features.
    """
    rng = random.Random(seed)
    names = list(weights)
    current_weights = np.array([float(weights[name]) for name in names])
    step_sizes = _choose_first_steps(games, current_weights, rng)
    weight_sum, summed_rounds = np.zeros(len(names)), 0
    stages = []
    for number in range(round_count):
        signs = np.array([rng.choice((-1.0, 1.0)) for _ in names])
        perturbation = step_sizes * signs / (number + 1) ** 0.101
        weights_a, weights_b = (
            _round_weights(names, current_weights + perturbation),
            _round_weights(names, current_weights - perturbation),
        )
        score = sum(_score_round(game, weights_a, weights_b, nodes_per_move, rng) for game in games) / len(
            games
        )
        pace = (
            FIRST_ROUND_STEP_FACTOR
            * ((1 + FULL_PACE_ROUND_SHARE * round_count) / (1 + number + FULL_PACE_ROUND_SHARE * round_count))
            ** 0.602
        )
        current_weights += pace * score * step_sizes * signs
        if 2 * number >= round_count:
            weight_sum, summed_rounds = weight_sum + current_weights, summed_rounds + 1
        if (number + 1) * 10 // round_count > number * 10 // round_count:
            stages.append(_round_weights(names, current_weights))
        progress()
    return ClimbResult(
        _round_weights(names, weight_sum / summed_rounds),
        stages,
        round_count,
        PAIRS_PER_ROUND * round_count * len(games),
    )


def _choose_first_steps(
    games: Sequence[Game[Any, Any]], weights: npt.NDArray[np.float64], rng: random.Random
) -> npt.NDArray[np.float64]:
    """Return the size of the first step of each weight; 0 for a weight of 0.

    The sizes are chosen so that, on positions of random matches, each step changes the estimate by about the same amount.
    """
    feature_rows = []
    for game in games:
        compute_features, _ = get_feature_function_and_names(game)
        feature_units = np.array(compute_feature_units(game))
        feature_rows += [
            feature_units * compute_features(position) for position in sample_positions(game, rng)
        ]
    feature_values = np.array(feature_rows)
    feature_spreads = np.sqrt(np.mean(feature_values**2, axis=0))
    estimate_spread = np.sqrt(np.mean((feature_values @ weights) ** 2))
    return np.asarray(FIRST_STEP_SHARE * estimate_spread / np.maximum(feature_spreads, 1e-3) * (weights != 0))


def _round_weights(
    feature_names: Sequence[str], weights_vector: npt.NDArray[np.float64]
) -> Mapping[str, int]:
    return {name: round(value) for name, value in zip(feature_names, weights_vector, strict=True)}


def _score_round(
    game: Game[Any, Any],
    raised_weights: Mapping[str, int],
    lowered_weights: Mapping[str, int],
    nodes_per_move: int,
    rng: random.Random,
) -> float:
    """Play one round's pairs of matches of one game, and return the score of `raised_weights`, from -1 to 1."""
    points = 0.0
    with (
        closing(make_weighted_searcher(game, raised_weights)) as searcher_a,
        closing(make_weighted_searcher(game, lowered_weights)) as searcher_b,
    ):
        for _ in range(PAIRS_PER_ROUND):
            start = draw_random_start(game, rng)
            points += sum(play_pair(game, start, searcher_a, searcher_b, nodes_per_move))
    return points / PAIRS_PER_ROUND - 1
