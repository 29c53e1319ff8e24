"""Learning of an evaluator's weights from self-play, with logistic regression (source 003 in docs/search.md, learning).

Some positions of each match are samples: their features, and as the target Maxie's chance of winning. The target is a
weighted mean of two chances. SEARCH_WEIGHT_IN_TARGET is the weight of the chance that a search finds. This search is
deeper than those that chose the moves. The remaining weight is that of the match's result: 1 if Maxie won and 0 if she lost; a
draw counts as one half in tic-tac-toe, and as her share of the armies in Riskless. The further away the end of the
match, the closer the result is moved to one half.

Other samples are positions that lie a few random plies after a position of a match, because a search also estimates
positions that no good player reaches. The targets of these samples come from the search alone.

The fit finds the weights that predict the targets best. Each map has its own slope of the curve from estimates to winning
chances, because an army is worth more on a small map than on a large one, and its own tempo: the value of having the move.
There is no other constant, since mirrored positions have opposite features.

The fit starts from the weights with which the matches were played, and a penalty (RIDGE_PENALTY_STRENGTH) keeps it close
to them if the samples show little.

Each generation plays and searches with the weights of the previous generation. In the first generation, all weights may
be 0. Then a search sees only wins within its depth. Chance decides who wins these matches, but their results are enough
to learn from.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.searcher import Searcher
from arena.bots.evaluators.catalogue import compute_feature_weight_factors, get_feature_function_and_names
from arena.bots.evaluators.outcomes import OutcomeCounts, PositionCategory, make_category_function
from arena.bots.review.chance import compute_winning_chance
from arena.games.core import Game, Player
from arena.games.riskless import Riskless
from arena.lab.selfplay import (
    PlayedMatch,
    make_random_training_start_position,
    make_searcher_with_weights,
    play_match,
    search_depth_averaged_value,
)

FloatArray = npt.NDArray[np.float64]

MATCHES_PER_HELD_OUT_MATCH = 5
"""Number of matches of which one is held out: left out of the fit, in order to measure the quality of the fit."""
RIDGE_PENALTY_STRENGTH = 0.001
"""Strength of the ridge penalty that keeps the fit close to the weights with which the matches were played.

The fit minimizes the mean log loss of a sample, in nats, plus a penalty: half of this strength times the sum of the
squared changes of the weights. For the penalty, each feature is scaled to a root mean square of 1.
"""
MAX_NEWTON_ITERATIONS = 30
INITIAL_LOGISTIC_SLOPE = 0.001
"""Slope of the curve of winning chances for the first fit if all weights are 0, in log-odds per unit of the weighted sum."""
RESULT_HALF_LIFE_PLIES = 80
"""Number of plies before a match's end at which its result has half the effect: there, a win (1) counts as 0.75."""
MAX_SAMPLES_PER_MATCH = 24
"""Maximum number of samples (training positions) from one match."""
TARGET_SEARCH_NODES_FACTOR = 10
"""Number of nodes searched for the target of a sample, as a multiple of the nodes searched per move."""
SEARCH_WEIGHT_IN_TARGET = 0.75
"""Weight, 0 to 1, of the winning chance that a search finds in a target; the match's result has the rest of the weight."""
SAMPLE_RANDOM_PLIES_CHOICES = (0, 0, 1, 2)
"""Numbers of random plies that are played after a position of a match to get a sample (training position).

One of the numbers is drawn for each sample.
"""
MAX_START_CHANCE_IMBALANCE = 0.3
"""Maximum difference between Maxie's chance of winning and one half at the start of a training match."""
MAX_START_POSITION_ATTEMPTS = 12
"""Number of random start positions that are tried for a match before an uneven one is used."""
MAX_TRAINING_MATCH_PLIES = 250
"""Maximum number of plies of a match. After so many plies, one side is usually clearly ahead."""


@dataclass(frozen=True)
class FitResult:
    """Result of a fit: the new weights, and mean log losses in bits. A coin toss has a log loss of 1 bit.

    loss_before           loss of the weights with which the matches were played, with the best slopes and tempos for them
    loss_after            loss of the new weights
    held_out_loss_before  like `loss_before`, but of the held-out matches
    held_out_loss_after   like `loss_after`, but of the held-out matches
    """

    weights: Mapping[str, int]
    match_count: int
    sample_count: int
    loss_before: float
    loss_after: float
    held_out_loss_before: float
    held_out_loss_after: float


@dataclass(frozen=True)
class TrainingSamples:
    """Positions of self-play matches, one for each index of the arrays.

    features       features, a row for each position
    targets        Maxie's chance of winning, 0 to 1
    mover_signs    1 if Maxie is to move, -1 if Minnie is
    match_numbers  number of the match, from 0 over all games
    game_indexes   index of the game in the list of games
    """

    features: FloatArray
    targets: FloatArray
    mover_signs: FloatArray
    match_numbers: npt.NDArray[np.int64]
    game_indexes: npt.NDArray[np.int64]


def play_training_matches(
    games: Sequence[Game[Any, Any]],
    weights: Mapping[str, int],
    *,
    match_count: int,
    nodes_per_move: int,
    seed: int,
    on_progress: Callable[[], None],
) -> TrainingSamples:
    """Play `match_count` matches of each game from random starts, and return samples of their positions.

    weights         weights of both players' evaluators, and of the search for the targets
    nodes_per_move  number of nodes searched for each move
    seed            seed of all random choices
    on_progress     called after each match

    Raises BadSpec for a game without features.
    """
    rng = random.Random(seed)
    feature_rows: list[Sequence[float]] = []
    targets: list[float] = []
    numbers: list[tuple[int, int, int]] = []
    for game_index, game in enumerate(games):
        compute_features, _ = get_feature_function_and_names(game)
        weight_factors = compute_feature_weight_factors(game)
        with closing(make_searcher_with_weights(game, weights)) as searcher:
            for number in range(game_index * match_count, (game_index + 1) * match_count):
                match = _play_training_match(game, searcher, nodes_per_move, rng)
                for position, target in _sample_positions(
                    game, searcher, match, TARGET_SEARCH_NODES_FACTOR * nodes_per_move, rng
                ):
                    features = compute_features(position)
                    feature_rows.append(
                        [factor * n for factor, n in zip(weight_factors, features, strict=True)]
                    )
                    targets.append(target)
                    numbers.append((game.player(position).sign, number, game_index))
                on_progress()
    movers, match_numbers, game_indexes = np.array(numbers, np.int64).T
    return TrainingSamples(
        np.array(feature_rows, float), np.array(targets), movers.astype(float), match_numbers, game_indexes
    )


def _play_training_match(
    game: Game[Any, Any], searcher: Searcher[Any, Any], nodes_per_move: int, rng: random.Random
) -> PlayedMatch:
    """Play and return a match of the searcher against itself, from a random start that the searcher considers nearly even."""
    for _ in range(MAX_START_POSITION_ATTEMPTS):
        start = make_random_training_start_position(game, rng)
        if (
            abs(_search_winning_chance(game, searcher, start, nodes_per_move) - 0.5)
            <= MAX_START_CHANCE_IMBALANCE
        ):
            break
    return play_match(game, start, dict.fromkeys(Player, searcher), nodes_per_move, MAX_TRAINING_MATCH_PLIES)


def _search_winning_chance(
    game: Game[Any, Any], searcher: Searcher[Any, Any], position: Any, max_nodes: int
) -> float:
    """Return Maxie's chance of winning, from 0 to 1, as a search with an empty transposition table finds it."""
    searcher.clear()
    return compute_winning_chance(game, search_depth_averaged_value(searcher, position, max_nodes))


def _sample_positions(
    game: Game[Any, Any], searcher: Searcher[Any, Any], match: PlayedMatch, max_nodes: int, rng: random.Random
) -> Iterator[tuple[Any, float]]:
    """Yield samples: positions of a match, or a few random plies away from it, each with its target.

    The target is Maxie's chance of winning, from 0 to 1, which the fit is to predict.

    max_nodes  number of nodes of the search for each target
    """
    result = _compute_maxie_result(game, match)
    ply_count = len(match.positions)
    for ply in rng.sample(range(ply_count), min(ply_count, MAX_SAMPLES_PER_MATCH)):
        position, is_played = match.positions[ply], True
        for _ in range(rng.choice(SAMPLE_RANDOM_PLIES_CHOICES)):
            next_position = game.successor(position, rng.choice(game.moves(position)))
            if game.outcome(next_position) is not None:
                break
            position, is_played = next_position, False
        chance = _search_winning_chance(game, searcher, position, max_nodes)
        if is_played:
            # The further away the end, the closer the result is moved to one half.
            discounted_result = 0.5 + (result - 0.5) * 0.5 ** ((ply_count - 1 - ply) / RESULT_HALF_LIFE_PLIES)
            chance = SEARCH_WEIGHT_IN_TARGET * chance + (1 - SEARCH_WEIGHT_IN_TARGET) * discounted_result
        yield position, chance


def _compute_maxie_result(game: Game[Any, Any], match: PlayedMatch) -> float:
    """Return 1 if Maxie won and 0 if she lost; for a draw one half, or in Riskless her share of the armies."""
    if match.winner is not None:
        return float(match.winner is Player.MAXIE)
    if not isinstance(game, Riskless):
        return 0.5
    armies: tuple[int, ...] = match.positions[-1].armies
    return sum(n for n in armies if n > 0) / sum(map(abs, armies))


def count_outcomes_by_category(
    games: Sequence[Game[Any, Any]],
    weights: Mapping[str, int],
    *,
    match_count: int,
    nodes_per_move: int,
    seed: int,
    on_progress: Callable[[], None],
) -> dict[PositionCategory, OutcomeCounts]:
    """Play matches, and return the numbers of wins, draws and losses from each category of positions.

    A win is counted for the player to move in the position. `bots.evaluators.outcomes` defines the categories.

    weights         weights of both players' evaluators
    match_count     number of matches of each game
    nodes_per_move  number of nodes searched for each move
    seed            seed of all random choices
    on_progress     called after each match

    Raises BadSpec for a game without categories.
    """
    rng = random.Random(seed)
    counts_by_category: dict[PositionCategory, list[int]] = {}
    for game in games:
        category_of = make_category_function(game)
        with closing(make_searcher_with_weights(game, weights)) as searcher:
            for _ in range(match_count):
                match = _play_training_match(game, searcher, nodes_per_move, rng)
                for position in match.positions:
                    outcome_counts = counts_by_category.setdefault(category_of(position), [0, 0, 0])
                    if match.winner is None:
                        outcome_counts[1] += 1
                    else:
                        outcome_counts[0 if match.winner is game.player(position) else 2] += 1
                on_progress()
    return {category: (won, drawn, lost) for category, (won, drawn, lost) in counts_by_category.items()}


def fit_weights(
    samples: TrainingSamples,
    weights: Mapping[str, int],
    untrained_features: Collection[str] = (),
) -> FitResult:
    """Return the weights that predict the targets of the samples best, and their losses.

    weights             weights with which the matches were played, by feature, in the order of the columns of `samples`
    untrained_features  names of features that are left out of the fit; their weights must be 0, and stay 0
    """
    names = list(weights)
    # hundredths of an army: estimates vary as much as the plain estimate, 100 times the first feature
    plain_spread = np.std(100 * samples.features[:, 0])
    trained_mask = np.array([float(name not in untrained_features) for name in names])
    samples = replace(samples, features=samples.features * trained_mask)
    held_out = samples.match_numbers % MATCHES_PER_HELD_OUT_MATCH == MATCHES_PER_HELD_OUT_MATCH - 1
    game_count = int(samples.game_indexes.max()) + 1
    # One column for each game: 1 or -1 in its own samples, 0 in those of the other games. Its weight is the tempo.
    tempo_columns = samples.mover_signs[:, None] * (samples.game_indexes[:, None] == np.arange(game_count))
    old_weights = np.array([float(weights[name]) for name in names])
    new_weights = old_weights
    for number in range(MAX_NEWTON_ITERATIONS):
        if number or old_weights.any():
            slopes, tempos = _fit_slope_and_tempo_by_game(samples, ~held_out, new_weights)
            # A falling curve would keep weights that prefer the worse position: their product with it predicts as well.
            slopes = np.abs(slopes)
        else:
            slopes, tempos = np.full(game_count, INITIAL_LOGISTIC_SLOPE), np.zeros(game_count)
        columns = np.hstack([samples.features * slopes[samples.game_indexes][:, None], tempo_columns])
        fitted = _fit_logistic(
            columns[~held_out],
            samples.targets[~held_out],
            np.concatenate([old_weights, tempos]),
            RIDGE_PENALTY_STRENGTH,
        )
        new_weights = fitted[: len(names)]
    scale = float(plain_spread / np.std(samples.features @ new_weights))
    rounded_weights = {name: round(scale * value) for name, value in zip(names, new_weights, strict=True)}
    rounded_vector = np.array([float(rounded_weights[name]) for name in names])

    def compute_losses(weight_vector: FloatArray) -> list[float]:
        slopes, tempos = _fit_slope_and_tempo_by_game(samples, ~held_out, weight_vector)
        values = samples.features @ weight_vector * slopes[samples.game_indexes] + tempo_columns @ tempos
        return [_compute_mean_loss(values[part], samples.targets[part]) for part in (~held_out, held_out)]

    losses_before, losses_after = compute_losses(old_weights), compute_losses(rounded_vector)
    match_count = int(samples.match_numbers[-1]) + 1
    return FitResult(
        rounded_weights,
        match_count,
        len(samples.targets),
        losses_before[0],
        losses_after[0],
        losses_before[1],
        losses_after[1],
    )


def _fit_slope_and_tempo_by_game(
    samples: TrainingSamples, sample_mask: npt.NDArray[np.bool_], weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return two arrays: the slope of each game, and the tempo of each game.

    A slope is the slope of the curve of winning chances, in log-odds per unit of the weighted sum. A tempo is the value of
    having the move, in log-odds.

    sample_mask  mask of the samples from which slopes and tempos are computed
    weights      weights of the features
    """
    columns = np.stack([samples.features @ weights, samples.mover_signs], axis=1)
    fits = []
    for game in range(int(samples.game_indexes.max()) + 1):
        mask = sample_mask & (samples.game_indexes == game)
        fits.append(_fit_logistic(columns[mask], samples.targets[mask], np.zeros(2), 1e-6))
    slopes, tempos = np.array(fits).T
    return slopes, tempos


def _fit_logistic(
    features: FloatArray, targets: FloatArray, prior_weights: FloatArray, ridge_strength: float
) -> FloatArray:
    """Return the weights of a logistic regression with a ridge penalty towards `prior_weights`, by Newton's method.

    features, targets  features of each sample, one row per sample, and its target from 0 to 1
    prior_weights      weights to which the penalty pulls the fit
    ridge_strength     strength of the penalty
    """
    feature_spreads = np.maximum(np.sqrt(np.mean(features**2, axis=0)), 1e-9)
    scaled_features = features / feature_spreads
    scaled_prior = prior_weights * feature_spreads
    weights = scaled_prior.copy()
    for _ in range(MAX_NEWTON_ITERATIONS):
        predicted = 1 / (1 + np.exp(-np.clip(scaled_features @ weights, -30, 30)))
        gradient = scaled_features.T @ (predicted - targets) / len(targets) + ridge_strength * (
            weights - scaled_prior
        )
        newton_weights = np.maximum(predicted * (1 - predicted), 1e-6)
        curvature = (scaled_features * newton_weights[:, None]).T @ scaled_features / len(
            targets
        ) + ridge_strength * np.eye(len(weights))
        newton_step = np.linalg.solve(curvature, gradient)
        weights -= newton_step
        if np.abs(newton_step).max() < 1e-9:
            break
    return np.asarray(weights / feature_spreads, float)


def _compute_mean_loss(predicted_values: FloatArray, targets: FloatArray) -> float:
    predicted = np.clip(1 / (1 + np.exp(-np.clip(predicted_values, -30, 30))), 1e-9, 1 - 1e-9)
    bits = -(targets * np.log2(predicted) + (1 - targets) * np.log2(1 - predicted))
    return float(np.mean(bits)) if len(bits) else 0.0
