"""Elo ratings of many players by maximum likelihood, with their errors.

The model is that of Bradley and Terry (1952) on the logistic Elo scale (Elo 1978): a player rated d
points higher scores E = 1 / (1 + 10^(-d / 400)) a match. The draw model: a draw is half a win and half a
loss. The likelihood then depends on the scores alone; and because a drawn match varies less than a
decided one, the variance of a score is E (1 - E) less a quarter for each draw, which makes errors smaller
where many matches are drawn.

A weak prior keeps every rating finite: each player has also drawn `PRIOR` matches against a player of
the average rating. It matters only to a player who won, or lost, nearly everything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

SCALE = 400 / math.log(10)
"""Elo points for one unit of log-odds."""

Z95 = NormalDist().inv_cdf(0.975)
"""Half the width of a 95 % interval, in standard errors."""

PRIOR = 0.5
"""Weight of the prior, in matches for each player."""

_STEPS = 100
"""Steps of Newton's method at the most: more than it has ever needed here, as the likelihood is concave."""


def expected_score(difference: float) -> float:
    """The score a match, 0 to 1, of a player rated `difference` Elo points higher."""
    return _logistic(difference / SCALE)


def elo_of_score(score: float) -> float:
    """The Elo difference that a score between 0 and 1 stands for; infinite at 0 and 1."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return SCALE * math.log(score / (1 - score))


@dataclass(frozen=True, slots=True)
class Tally:
    """What one player scored against another."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, slots=True)
class Rating:
    """An Elo rating relative to the average of the players, with half the width of its 95 % interval."""

    elo: float
    error: float


def elo_ratings(players: Sequence[str], results: Mapping[tuple[str, str], Tally]) -> dict[str, Rating]:
    """The ratings of `players`, from what the first of each two scored against the second.

    Name two players in one order only. The ratings average 0; the errors come from the information matrix,
    with the variance of draws (a sandwich), and are for the rating relative to that average.
    O(n³) for n players.
    """
    if not players:
        return {}
    index = {player: i for i, player in enumerate(players)}
    edges = [
        _Edge(index[a], index[b], tally.games, tally.wins + tally.draws / 2, tally.draws)
        for (a, b), tally in results.items()
        if tally.games
    ]
    n = len(players)
    theta = _fit(n, edges)
    mean = sum(theta) / n
    errors = _errors(theta, edges)
    return {player: Rating(SCALE * (theta[i] - mean), SCALE * Z95 * errors[i]) for player, i in index.items()}


Matrix = list[list[float]]


@dataclass(frozen=True, slots=True)
class _Edge:
    a: int
    b: int
    games: int
    score: float
    draws: int


def _fit(n: int, edges: Sequence[_Edge]) -> list[float]:
    """The log-odds ratings of the greatest likelihood, by Newton's method with halved steps."""
    theta = [0.0] * n
    value = _log_likelihood(theta, edges)
    for _ in range(_STEPS):
        gradient = [PRIOR * (0.5 - _logistic(t)) for t in theta]
        for edge in edges:
            surplus = edge.score - edge.games * _logistic(theta[edge.a] - theta[edge.b])
            gradient[edge.a] += surplus
            gradient[edge.b] -= surplus
        step = _solve(_information(theta, edges), gradient)
        size = 1.0
        while True:
            further = [t + size * s for t, s in zip(theta, step, strict=True)]
            better = _log_likelihood(further, edges)
            if better >= value or size < 1e-9:
                break
            size /= 2
        theta, value = further, better
        if max(abs(s) for s in step) * size < 1e-9:
            break
    return theta


def _log_likelihood(theta: Sequence[float], edges: Sequence[_Edge]) -> float:
    total = sum(PRIOR * (_log_logistic(t) + _log_logistic(-t)) / 2 for t in theta)
    for edge in edges:
        d = theta[edge.a] - theta[edge.b]
        total += edge.score * _log_logistic(d) + (edge.games - edge.score) * _log_logistic(-d)
    return total


def _information(theta: Sequence[float], edges: Sequence[_Edge]) -> Matrix:
    """Minus the second derivatives of the log-likelihood."""
    matrix = [[0.0] * len(theta) for _ in theta]
    for i, t in enumerate(theta):
        matrix[i][i] = PRIOR * _spread(t)
    for edge in edges:
        weight = edge.games * _spread(theta[edge.a] - theta[edge.b])
        matrix[edge.a][edge.a] += weight
        matrix[edge.b][edge.b] += weight
        matrix[edge.a][edge.b] -= weight
        matrix[edge.b][edge.a] -= weight
    return matrix


def _errors(theta: Sequence[float], edges: Sequence[_Edge]) -> list[float]:
    """Standard errors of the ratings less their mean: A⁻¹ B A⁻¹, A the information, B the scores' variance."""
    n = len(theta)
    inverse = _inverse(_information(theta, edges))
    variances = [(edge.a, edge.b, _variance(theta[edge.a] - theta[edge.b], edge)) for edge in edges]
    priors = [PRIOR * _spread(t) for t in theta]
    # Rows of P A⁻¹, P taking the mean off: the mean rating is no quantity that matches could tell.
    means = [sum(column) / n for column in zip(*inverse, strict=True)]
    errors = []
    for row in inverse:
        left = [x - mean for x, mean in zip(row, means, strict=True)]
        # B is a sum over edges, so that a row through it costs as many steps as there are edges and not n².
        through = sum(prior * x * x for prior, x in zip(priors, left, strict=True))
        through += sum(variance * (left[a] - left[b]) ** 2 for a, b, variance in variances)
        errors.append(math.sqrt(through))
    return errors


def _variance(d: float, edge: _Edge) -> float:
    """The variance of an edge's score: E (1 - E) for each match, less a quarter for each draw.

    As if two matches more had been played and decided, so that the variance of a few draws is not nothing.
    """
    more = edge.games / (edge.games + 2)
    spread = _spread(d)
    return more * max((edge.games + 2) * spread - edge.draws / 4, 2 * spread)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _log_logistic(x: float) -> float:
    return -math.log1p(math.exp(-x)) if x >= 0 else x - math.log1p(math.exp(x))


def _spread(x: float) -> float:
    """E (1 - E), the variance of a match that cannot be drawn."""
    return _logistic(x) * _logistic(-x)


def _solve(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    """What the symmetric positive definite matrix makes the vector of: Gauss, at a sixth of the work of an inverse."""
    n = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, vector, strict=True)]
    for i in range(n):
        head = rows[i] = [x / rows[i][0] for x in rows[i]]
        for j in range(i + 1, n):
            factor = rows[j][0]
            rows[j] = [x - factor * y for x, y in zip(rows[j][1:], head[1:], strict=True)]
    found: list[float] = []
    for i in reversed(range(n)):
        # A row has lost what stood before its own column, one by one, and begins with 1.
        known = sum(x * y for x, y in zip(rows[i][1:-1], reversed(found), strict=True))
        found.append(rows[i][-1] - known)
    return found[::-1]


def _inverse(matrix: Matrix) -> Matrix:
    """The inverse of a symmetric positive definite matrix: Gauss and Jordan in place, which needs no pivots there."""
    rows = [list(row) for row in matrix]
    for i, row in enumerate(rows):
        pivot = row[i]
        row[i] = 1.0
        head = rows[i] = [x / pivot for x in row]
        for j, other in enumerate(rows):
            factor = other[i]
            if j != i and factor:
                other[i] = 0.0
                rows[j] = [x - factor * y for x, y in zip(other, head, strict=True)]
    return rows
