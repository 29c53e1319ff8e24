"""Elo ratings of many players by maximum likelihood, with their errors.

The model is by Bradley and Terry (1952), on the logistic Elo scale (`rating.elo`). A draw counts as half a win and half
a loss, so the likelihood depends only on the scores. The variance of a player's score is the sum of E (1 - E) over the
matches, where E is the expected score of a match, minus a quarter for each draw. So errors are smaller if many matches
are drawn.

A weak prior keeps every rating finite: each player is assumed to have drawn `PRIOR_DRAWS_PER_PLAYER` matches against
a player of the average rating. The prior matters only for a player who won, or lost, nearly everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.rating.elo import ELO_SCALE, Z_SCORE_95_PERCENT, EloRating, WinDrawLoss

PRIOR_DRAWS_PER_PLAYER = 0.5
"""Number of drawn matches against an average player that the prior assumes for each player."""

_MAX_NEWTON_STEPS = 100
"""Maximum number of steps of Newton's method; far more than it needs, because the likelihood is concave."""
_NEWTON_STEP_TOLERANCE = 1e-9
"""Size of a step, in log-odds, below which Newton's method has converged."""

FloatArray = NDArray[np.float64]


def fit_elo_ratings(
    players: Sequence[str], results: Mapping[tuple[str, str], WinDrawLoss]
) -> dict[str, EloRating]:
    """Return the Elo ratings of `players`, whose average is 0. O(n³) for n players.

    results  tally of a player against an opponent, by (player, opponent); each pair of players in one order only

    An error is half the width of the 95 % interval of a rating relative to the average. Errors are computed from the
    information matrix and the variances of the scores (a sandwich estimator).
    """
    if not players:
        return {}
    index = {player: i for i, player in enumerate(players)}
    tallies = [(index[a], index[b], tally) for (a, b), tally in results.items() if tally.match_count]
    pairs = _PairResults(
        np.array([a for a, _, _ in tallies], dtype=np.intp),
        np.array([b for _, b, _ in tallies], dtype=np.intp),
        np.array([tally.match_count for _, _, tally in tallies], dtype=np.float64),
        np.array([tally.wins + tally.draws / 2 for _, _, tally in tallies], dtype=np.float64),
        np.array([tally.draws for _, _, tally in tallies], dtype=np.float64),
    )
    theta = _fit_ratings(len(players), pairs)
    ratings = ELO_SCALE * (theta - theta.mean())
    half_widths = ELO_SCALE * Z_SCORE_95_PERCENT * _compute_standard_errors(theta, pairs)
    return {player: EloRating(float(ratings[i]), float(half_widths[i])) for player, i in index.items()}


class _PairResults(NamedTuple):
    """Arrays with one element for each pair of players who met.

    first_indexes, second_indexes  indexes of the first and of the second player
    match_counts                   number of their matches
    first_points                   points of the first player in these matches
    draw_counts                    number of drawn matches
    """

    first_indexes: NDArray[np.intp]
    second_indexes: NDArray[np.intp]
    match_counts: FloatArray
    first_points: FloatArray
    draw_counts: FloatArray


def _fit_ratings(player_count: int, pairs: _PairResults) -> FloatArray:
    """Return the log-odds ratings of `player_count` players by maximum likelihood, with Newton's method.

    A step that would lower the likelihood is halved until it does not.
    """
    theta = np.zeros(player_count)
    likelihood = _compute_log_likelihood(theta, pairs)
    for _ in range(_MAX_NEWTON_STEPS):
        surplus = pairs.first_points - pairs.match_counts * _logistic(
            theta[pairs.first_indexes] - theta[pairs.second_indexes]
        )
        gradient = PRIOR_DRAWS_PER_PLAYER * (0.5 - _logistic(theta))
        gradient += np.bincount(pairs.first_indexes, surplus, player_count) - np.bincount(
            pairs.second_indexes, surplus, player_count
        )
        newton_step = np.linalg.solve(_compute_information_matrix(theta, pairs), gradient)
        step_size = 1.0
        while True:
            next_theta = theta + step_size * newton_step
            next_likelihood = _compute_log_likelihood(next_theta, pairs)
            if next_likelihood >= likelihood or step_size < _NEWTON_STEP_TOLERANCE:
                break
            step_size /= 2
        theta, likelihood = next_theta, next_likelihood
        if np.abs(newton_step).max() * step_size < _NEWTON_STEP_TOLERANCE:
            break
    return theta


def _compute_log_likelihood(theta: FloatArray, pairs: _PairResults) -> float:
    differences = theta[pairs.first_indexes] - theta[pairs.second_indexes]
    match_terms = pairs.first_points * _log_logistic(differences) + (
        pairs.match_counts - pairs.first_points
    ) * _log_logistic(-differences)
    return float(
        match_terms.sum() + PRIOR_DRAWS_PER_PLAYER / 2 * (_log_logistic(theta) + _log_logistic(-theta)).sum()
    )


def _compute_information_matrix(theta: FloatArray, pairs: _PairResults) -> FloatArray:
    """Return minus the second derivatives of the log-likelihood at the log-odds ratings `theta`, a players × players matrix."""
    matrix = np.diag(PRIOR_DRAWS_PER_PLAYER * _compute_win_loss_variance(theta))
    weight = pairs.match_counts * _compute_win_loss_variance(
        theta[pairs.first_indexes] - theta[pairs.second_indexes]
    )
    for row, column, sign in (
        (pairs.first_indexes, pairs.first_indexes, 1),
        (pairs.second_indexes, pairs.second_indexes, 1),
        (pairs.first_indexes, pairs.second_indexes, -1),
        (pairs.second_indexes, pairs.first_indexes, -1),
    ):
        np.add.at(matrix, (row, column), sign * weight)
    return matrix


def _compute_standard_errors(theta: FloatArray, pairs: _PairResults) -> FloatArray:
    """Return the standard errors of the log-odds ratings `theta` relative to their mean, by the sandwich A⁻¹ B A⁻¹.

    A is the information matrix, and B the matrix of the variances of the scores.
    """
    inverse = np.linalg.inv(_compute_information_matrix(theta, pairs))
    # Rows of P A⁻¹, where P subtracts the mean, since matches do not determine the mean rating.
    centred = inverse - inverse.mean(axis=0)
    variances = np.square(centred) @ (PRIOR_DRAWS_PER_PLAYER * _compute_win_loss_variance(theta))
    # B is a sum over pairs of players who met, so multiplying a row by it costs one step per pair instead of n².
    variances += np.square(
        centred[:, pairs.first_indexes] - centred[:, pairs.second_indexes]
    ) @ _compute_score_variances(theta, pairs)
    errors: FloatArray = np.sqrt(variances)
    return errors


def _compute_score_variances(theta: FloatArray, pairs: _PairResults) -> FloatArray:
    """Return, for each pair of players, the variance of the sum of their scores in their matches.

    A match adds E (1 - E), minus a quarter if it was drawn. E is the expected score of the match at the ratings `theta`.
    The variance per match is estimated as if each pair had played two more matches without a draw, so it is never 0.
    """
    shrinkage = pairs.match_counts / (pairs.match_counts + 2)
    win_loss_variances = _compute_win_loss_variance(theta[pairs.first_indexes] - theta[pairs.second_indexes])
    return shrinkage * np.maximum(
        (pairs.match_counts + 2) * win_loss_variances - pairs.draw_counts / 4, 2 * win_loss_variances
    )


def _logistic(x: FloatArray) -> FloatArray:
    return np.exp(_log_logistic(x))


def _log_logistic(x: FloatArray) -> FloatArray:
    return -np.logaddexp(0, -x)


def _compute_win_loss_variance(rating_difference: FloatArray) -> FloatArray:
    """Return E (1 - E), the variance of the score of a match that cannot be drawn.

    E is the expected score at the rating difference, in log-odds.
    """
    return _logistic(rating_difference) * _logistic(-rating_difference)
