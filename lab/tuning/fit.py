"""Learning of an evaluator's weights by self-play, with logistic regression (source 003 in docs/search.md, learning).

Every position of a match is a sample: its features, and the result for Maxie. The result is 1 if she won and 0 if she
lost. A draw counts as one half in tic-tac-toe, and as her share of the armies in Riskless. The further away the end of
the match, the closer the result is moved to one half. The fit finds the weights that predict the results best. It has
no constant, since mirrored positions have opposite features. Each map has its own slope, because an army is worth more
on a small map than on a large one.

The fit starts from the weights that played, and RIDGE_STRENGTH keeps it close to them if the matches show little. Each
generation plays with the weights of the previous one. The first may play with all weights 0: then a search sees only
wins within its depth. Such matches end by chance, but they do end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import compute_feature_units, get_features, scale_weights
from arena.bots.evaluators.outcomes import OutcomeCounts, PositionCategory, make_category_function
from arena.games.core import Game, Player
from arena.games.riskless import Riskless
from arena.lab.selfplay import PlayedMatch, make_random_position, make_random_start, play_match

FloatArray = npt.NDArray[np.float64]

HELD_OUT_INTERVAL = 5
"""Interval of held-out matches. One match in HELD_OUT_INTERVAL is left out of the fit, and measures its quality."""
RIDGE_STRENGTH = 0.01
"""Strength of the ridge penalty that keeps the fit close to the weights that played.

The strength is about the number of bits that a match must provide to move a weight by one standard deviation of its
feature.
"""
MAX_ITERATIONS = 30
"""Maximum number of iterations of Newton's method in a fit."""
FIRST_SLOPE = 0.001
"""Slope of the logistic curve, in log-odds per unit of the weighted sum, before any weight is known."""
TABLE_MB = 2
"""Size of a searcher's transposition table, in MB."""
HALF_LIFE_PLIES = 40
"""Half-life of a result's distance from one half, in plies before the end of the match."""
MAX_PLIES = 250
"""Maximum number of plies of a match; by then one side is usually clearly ahead."""


@dataclass(frozen=True)
class FitResult:
    """Result of a fit: the new weights, and mean log losses in bits. A coin toss has a log loss of 1 bit.

    loss_before           loss of the weights that played, after scaling to the best fit
    loss_after            loss of the new weights
    held_out_loss_before  like `loss_before`, on the held-out matches
    held_out_loss_after   like `loss_after`, on the held-out matches
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
    results        result of the match for Maxie, 0 to 1, moved towards one half by the distance from the end of the match
    match_numbers  number of the match, from 0 over all games
    game_indexes   index of the game in the list of games
    """

    features: FloatArray
    results: FloatArray
    match_numbers: npt.NDArray[np.int64]
    game_indexes: npt.NDArray[np.int64]


def play_training_matches(
    games: Sequence[Game[Any, Any]],
    weights: Mapping[str, int],
    *,
    match_count: int,
    nodes_per_move: int,
    seed: int,
    progress: Callable[[], None],
) -> TrainingSamples:
    """Play `match_count` matches of each game from random starts, and return their positions.

    weights         weights of both players' evaluators
    nodes_per_move  number of nodes searched for each move
    seed            seed of all random choices
    progress        called after each match

    Raises BadSpec for a game without features.
    """
    rng = random.Random(seed)
    feature_rows: list[Sequence[float]] = []
    discounted_results: list[float] = []
    match_and_game_numbers: list[tuple[int, int]] = []
    number = 0
    for game_index, game in enumerate(games):
        compute_features, _ = get_features(game)
        feature_units = compute_feature_units(game)
        for match in _play_matches(game, weights, range(number, number + match_count), nodes_per_move, rng):
            result = _compute_result_for_maxie(game, match)
            for plies_to_end, position in enumerate(reversed(match.positions)):
                feature_rows.append(
                    [unit * n for unit, n in zip(feature_units, compute_features(position), strict=True)]
                )
                discounted_results.append(_discount_result(result, plies_to_end))
                match_and_game_numbers.append((number, game_index))
            number += 1
            progress()
    match_and_game = np.array(match_and_game_numbers, np.int64)
    return TrainingSamples(
        np.array(feature_rows, float),
        np.array(discounted_results),
        match_and_game[:, 0],
        match_and_game[:, 1],
    )


def _play_matches(
    game: Game[Any, Any], weights: Mapping[str, int], numbers: range, nodes_per_move: int, rng: random.Random
) -> Iterator[PlayedMatch]:
    """Play one match for each of `numbers`, with `weights` in both seats, and yield them."""
    searcher = Searcher(game, scale_weights(game, weights), Settings(table_mb=TABLE_MB))
    seats = dict.fromkeys(Player, searcher)
    try:
        searcher.warm_up()
        for number in numbers:
            yield play_match(game, _make_start(game, rng, number), seats, nodes_per_move, MAX_PLIES)
    finally:
        searcher.close()


def _discount_result(result: float, plies_to_end: int) -> float:
    """Return the training target for a position `plies_to_end` plies before the end: `result`, moved towards one half."""
    return float(0.5 + (result - 0.5) * 0.5 ** (plies_to_end / HALF_LIFE_PLIES))


def _make_start(game: Game[Any, Any], rng: random.Random, number: int) -> Any:
    """Return the start of a match: random armies for every second match of Riskless, otherwise a few random plies."""
    if isinstance(game, Riskless):
        return (
            make_random_position(game, rng)
            if number % 2
            else make_random_start(game, rng, rng.randint(2, 12))
        )
    return make_random_start(game, rng, rng.randint(0, 3))


def _compute_result_for_maxie(game: Game[Any, Any], match: PlayedMatch) -> float:
    """Return 1 if Maxie won and 0 if she lost; for a draw one half, or in Riskless her share of the armies."""
    if match.winner is not None:
        return float(match.winner is Player.MAXIE)
    if not isinstance(game, Riskless):
        return 0.5
    armies: tuple[int, ...] = match.positions[-1].armies
    return sum(n for n in armies if n > 0) / sum(map(abs, armies))


def count_outcomes(
    games: Sequence[Game[Any, Any]],
    weights: Mapping[str, int],
    *,
    match_count: int,
    nodes_per_move: int,
    seed: int,
    progress: Callable[[], None],
) -> dict[PositionCategory, OutcomeCounts]:
    """Play matches with `weights` in both seats. Return the wins, draws and losses from each category of positions.

    Results are counted for the player to move in the position.

    match_count     number of matches of each game
    nodes_per_move  number of nodes searched for each move
    seed            seed of all random choices
    progress        called after each match

    Raises BadSpec for a game without categories.
    """
    rng = random.Random(seed)
    counts_by_category: dict[PositionCategory, list[int]] = {}
    for game in games:
        category_of = make_category_function(game)
        for match in _play_matches(game, weights, range(match_count), nodes_per_move, rng):
            for position in match.positions:
                outcome_counts = counts_by_category.setdefault(category_of(position), [0, 0, 0])
                if match.winner is None:
                    outcome_counts[1] += 1
                else:
                    outcome_counts[0 if match.winner is game.player(position) else 2] += 1
            progress()
    return {category: (won, drawn, lost) for category, (won, drawn, lost) in counts_by_category.items()}


def fit_weights(
    samples: TrainingSamples,
    names: Sequence[str],
    weights: Mapping[str, int],
    untrained_features: Collection[str] = (),
) -> FitResult:
    """Return the weights that predict the results of the samples best, and their losses.

    names               names of the features, in the order of their columns
    weights             weights with which the samples were played
    untrained_features  names of features whose weights are not trained
    """
    trained_mask = np.array([float(name not in untrained_features) for name in names])
    samples = replace(samples, features=samples.features * trained_mask)
    held_out = samples.match_numbers % HELD_OUT_INTERVAL == HELD_OUT_INTERVAL - 1
    # each match counts the same, since a long one has many positions but only one result
    sample_weights = 1.0 / np.bincount(samples.match_numbers)[samples.match_numbers]
    old_weights = np.array([float(weights[name]) for name in names])
    new_weights = old_weights
    for number in range(MAX_ITERATIONS):
        if number or old_weights.any():
            slopes = _fit_slopes(samples, sample_weights, ~held_out, new_weights)
        else:
            slopes = np.full(int(samples.game_indexes.max()) + 1, FIRST_SLOPE)
        scaled_features = samples.features * slopes[samples.game_indexes][:, None]
        new_weights = _fit_logistic(
            scaled_features[~held_out],
            samples.results[~held_out],
            sample_weights[~held_out],
            old_weights,
            RIDGE_STRENGTH,
        )
    # the unit is an army, so values are as large as the plain estimate's
    scale = float(np.std(100 * samples.features[:, 0]) / np.std(samples.features @ new_weights))
    rounded_weights = {name: round(scale * value) for name, value in zip(names, new_weights, strict=True)}
    rounded_vector = np.array([float(rounded_weights[name]) for name in names])

    def compute_losses(vector: FloatArray) -> list[float]:
        values = (
            samples.features
            @ vector
            * _fit_slopes(samples, sample_weights, ~held_out, vector)[samples.game_indexes]
        )
        return [
            _compute_mean_loss(values[part], samples.results[part], sample_weights[part])
            for part in (~held_out, held_out)
        ]

    losses_before, losses_after = compute_losses(old_weights), compute_losses(rounded_vector)
    match_count = int(samples.match_numbers[-1]) + 1
    return FitResult(
        rounded_weights,
        match_count,
        len(samples.results),
        losses_before[0],
        losses_after[0],
        losses_before[1],
        losses_after[1],
    )


def _fit_slopes(
    samples: TrainingSamples,
    sample_weights: FloatArray,
    sample_mask: npt.NDArray[np.bool_],
    weights: FloatArray,
) -> FloatArray:
    """Return each game's slope of the logistic curve, in log-odds of winning per unit of the weighted sum.

    sample_weights  weight of each sample in the fit
    sample_mask     mask of the samples from which the slopes are computed
    weights         weights of the features
    """
    values = (samples.features @ weights)[:, None]
    slopes = []
    for game in range(int(samples.game_indexes.max()) + 1):
        mask = sample_mask & (samples.game_indexes == game)
        slope = _fit_logistic(values[mask], samples.results[mask], sample_weights[mask], np.zeros(1), 1e-6)
        slopes.append(float(slope[0]))
    return np.array(slopes)


def _fit_logistic(
    features: FloatArray, results: FloatArray, sample_weights: FloatArray, prior: FloatArray, ridge: float
) -> FloatArray:
    """Return the weights of a logistic regression with a ridge penalty towards `prior`, by Newton's method.

    features, results  features of each sample, one row per sample, and its result from 0 to 1
    sample_weights     weight of each sample in the fit
    prior              weights to which the penalty pulls the fit
    ridge              strength of the penalty
    """
    feature_spreads = np.maximum(np.sqrt(np.average(features**2, axis=0, weights=sample_weights)), 1e-9)
    scaled_features = features / feature_spreads
    scaled_prior = prior * feature_spreads
    weights = scaled_prior.copy()
    weight_sum = sample_weights.sum()
    for _ in range(MAX_ITERATIONS):
        predicted = 1 / (1 + np.exp(-np.clip(scaled_features @ weights, -30, 30)))
        gradient = scaled_features.T @ (sample_weights * (predicted - results)) / weight_sum + ridge * (
            weights - scaled_prior
        )
        newton_weights = sample_weights * np.maximum(predicted * (1 - predicted), 1e-6)
        curvature = (
            scaled_features * newton_weights[:, None]
        ).T @ scaled_features / weight_sum + ridge * np.eye(len(weights))
        newton_step = np.linalg.solve(curvature, gradient)
        weights -= newton_step
        if np.abs(newton_step).max() < 1e-9:
            break
    return np.asarray(weights / feature_spreads, float)


def _compute_mean_loss(values: FloatArray, results: FloatArray, sample_weights: FloatArray) -> float:
    predicted = np.clip(1 / (1 + np.exp(-np.clip(values, -30, 30))), 1e-9, 1 - 1e-9)
    bits = -(results * np.log2(predicted) + (1 - results) * np.log2(1 - predicted))
    return float(np.average(bits, weights=sample_weights)) if len(bits) else 0.0
