"""Elo ratings of many players by maximum likelihood, with their errors.

The model is that of Bradley and Terry (1952) on the logistic Elo scale (`rating.elo`). The draw model: a draw is half a
win and half a loss. The likelihood then depends on the scores alone; and because a drawn match varies less than a
decided one, the variance of a score is E (1 - E) less a quarter for each draw, which makes errors smaller
where many matches are drawn.

A weak prior keeps every rating finite: each player has also drawn `PRIOR` matches against a player of
the average rating. It matters only to a player who won, or lost, nearly everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.rating.elo import SCALE, Z95, Rating, Tally

PRIOR = 0.5
"""Weight of the prior, in matches for each player."""

_STEPS = 100
"""Steps of Newton's method at the most: more than it has ever needed here, as the likelihood is concave."""
_CLOSE = 1e-9
"""A step of log-odds that is as good as none."""

Floats = NDArray[np.float64]


def elo_ratings(players: Sequence[str], results: Mapping[tuple[str, str], Tally]) -> dict[str, Rating]:
    """The ratings of `players`, from what the first of each two scored against the second.

    Name two players in one order only. The ratings average 0; the errors come from the information matrix,
    with the variance of draws (a sandwich), and are for the rating relative to that average.
    O(n³) for n players.
    """
    if not players:
        return {}
    index = {player: i for i, player in enumerate(players)}
    played = [(index[a], index[b], tally) for (a, b), tally in results.items() if tally.games]
    edges = _Edges(
        np.array([a for a, _, _ in played], dtype=np.intp),
        np.array([b for _, b, _ in played], dtype=np.intp),
        np.array([tally.games for _, _, tally in played], dtype=np.float64),
        np.array([tally.wins + tally.draws / 2 for _, _, tally in played], dtype=np.float64),
        np.array([tally.draws for _, _, tally in played], dtype=np.float64),
    )
    theta = _fit(len(players), edges)
    relative = SCALE * (theta - theta.mean())
    errors = SCALE * Z95 * _errors(theta, edges)
    return {player: Rating(float(relative[i]), float(errors[i])) for player, i in index.items()}


class _Edges(NamedTuple):
    """Each two that met: which players, how many matches, the first one's points, and how many draws. Arrays of one length."""

    a: NDArray[np.intp]
    b: NDArray[np.intp]
    games: Floats
    score: Floats
    draws: Floats


def _fit(n: int, edges: _Edges) -> Floats:
    """The log-odds ratings of the greatest likelihood, by Newton's method with halved steps."""
    theta = np.zeros(n)
    value = _log_likelihood(theta, edges)
    for _ in range(_STEPS):
        surplus = edges.score - edges.games * _logistic(theta[edges.a] - theta[edges.b])
        gradient = PRIOR * (0.5 - _logistic(theta))
        gradient += np.bincount(edges.a, surplus, n) - np.bincount(edges.b, surplus, n)
        step = np.linalg.solve(_information(theta, edges), gradient)
        size = 1.0
        while True:
            further = theta + size * step
            better = _log_likelihood(further, edges)
            if better >= value or size < _CLOSE:
                break
            size /= 2
        theta, value = further, better
        if np.abs(step).max() * size < _CLOSE:
            break
    return theta


def _log_likelihood(theta: Floats, edges: _Edges) -> float:
    d = theta[edges.a] - theta[edges.b]
    matches = edges.score * _log_logistic(d) + (edges.games - edges.score) * _log_logistic(-d)
    return float(matches.sum() + PRIOR / 2 * (_log_logistic(theta) + _log_logistic(-theta)).sum())


def _information(theta: Floats, edges: _Edges) -> Floats:
    """Minus the second derivatives of the log-likelihood, players × players."""
    matrix = np.diag(PRIOR * _spread(theta))
    weight = edges.games * _spread(theta[edges.a] - theta[edges.b])
    for row, column, sign in (
        (edges.a, edges.a, 1),
        (edges.b, edges.b, 1),
        (edges.a, edges.b, -1),
        (edges.b, edges.a, -1),
    ):
        np.add.at(matrix, (row, column), sign * weight)
    return matrix


def _errors(theta: Floats, edges: _Edges) -> Floats:
    """Standard errors of the ratings less their mean: A⁻¹ B A⁻¹, A the information, B the scores' variance."""
    inverse = np.linalg.inv(_information(theta, edges))
    # Rows of P A⁻¹, P taking the mean off: the mean rating is no quantity that matches could tell.
    left = inverse - inverse.mean(axis=0)
    through = np.square(left) @ (PRIOR * _spread(theta))
    # B is a sum over edges, so that a row through it costs as many steps as there are edges and not n².
    through += np.square(left[:, edges.a] - left[:, edges.b]) @ _variances(theta, edges)
    errors: Floats = np.sqrt(through)
    return errors


def _variances(theta: Floats, edges: _Edges) -> Floats:
    """The variance of each edge's score: E (1 - E) for each match, less a quarter for each draw.

    As if two matches more had been played and decided, so that the variance of a few draws is not nothing.
    """
    more = edges.games / (edges.games + 2)
    spread = _spread(theta[edges.a] - theta[edges.b])
    return more * np.maximum((edges.games + 2) * spread - edges.draws / 4, 2 * spread)


def _logistic(x: Floats) -> Floats:
    return np.exp(_log_logistic(x))


def _log_logistic(x: Floats) -> Floats:
    return -np.logaddexp(0, -x)


def _spread(x: Floats) -> Floats:
    """E (1 - E), the variance of a match that cannot be drawn."""
    return _logistic(x) * _logistic(-x)
