"""Glicko-2 ratings. Pure: results in, ratings out.

Source: Mark E. Glickman, "Example of the Glicko-2 system" (2013 and later revisions); steps and symbols
are the paper's. One thing is added: a rating period may be a fraction. Whoever was away for `periods`
has grown that much more uncertain, φ* = √(φ² + periods · σ'²); with 1, that is the paper's step 6.

Sums are exact before they are rounded, so the games of a period may come in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

SCALE = 173.7178
"""Points of the Glicko scale for one of the Glicko-2 scale (the paper's step 2)."""

TAU = 0.5
"""How much the volatility may change: the paper's system constant, 0.3 to 1.2; its example takes this."""

EPSILON = 1e-6
"""The convergence tolerance of step 5."""

MOST_DEVIATION = 350.0
"""The deviation of somebody of whom nothing is known; nobody is less known than that."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating on the Glicko scale: as it stands here, that of a new player."""

    rating: float = 1500.0
    deviation: float = MOST_DEVIATION
    """The standard error of the rating: it lies within two of them with 95 % confidence."""
    volatility: float = 0.06
    """How much the strength changes from period to period."""

    def aged(self, periods: float) -> Rating:
        """The rating after `periods` without a match: the same, and less certain."""
        phi = math.hypot(self.deviation / SCALE, math.sqrt(periods) * self.volatility)
        return replace(self, deviation=min(phi * SCALE, MOST_DEVIATION))


Game = tuple[Rating, float]
"""An opponent's rating before the period, and the score against it: 1, ½ or 0."""


def update(player: Rating, games: Sequence[Game], *, periods: float = 1.0, tau: float = TAU) -> Rating:
    """The rating after these games; `periods` have passed since the one before. O(games).

    Without games it is the rating aged. Raises ValueError for less than no time.
    """
    if periods < 0:
        raise ValueError(f"{periods} periods cannot have passed")
    if not games:
        return player.aged(periods)
    mu, phi = (player.rating - 1500) / SCALE, player.deviation / SCALE
    terms = [(_g(other.deviation / SCALE), (other.rating - 1500) / SCALE, score) for other, score in games]
    # E is the logistic function of g (μ - μⱼ), and 1 - E that of the opposite
    expected = [_logistic(g * (mu - mu_j)) for g, mu_j, _ in terms]
    rest = [_logistic(-g * (mu - mu_j)) for g, mu_j, _ in terms]
    information = math.fsum(g * g * e * r for (g, _, _), e, r in zip(terms, expected, rest, strict=True))
    surplus = math.fsum(g * (score - e) for (g, _, score), e in zip(terms, expected, strict=True))
    variance = 1 / information
    sigma = _volatility(phi, player.volatility, variance, variance * surplus, tau)
    grown = replace(player, volatility=sigma).aged(periods).deviation / SCALE
    squared = 1 / (1 / (grown * grown) + information)
    return Rating(1500 + SCALE * (mu + squared * surplus), SCALE * math.sqrt(squared), sigma)


def expected_score(player: Rating, other: Rating) -> float:
    """The score, 0 to 1, to be expected of a player against another, by all that is not known of both."""
    unknown = math.hypot(player.deviation, other.deviation) / SCALE
    return _logistic(_g(unknown) * (player.rating - other.rating) / SCALE)


def _g(phi: float) -> float:
    """How much a result against an opponent of this deviation tells (step 3)."""
    return 1 / math.sqrt(1 + 3 * phi * phi / math.pi**2)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _volatility(phi: float, sigma: float, variance: float, delta: float, tau: float) -> float:
    """Step 5: the root of f by the Illinois method, a regula falsi that keeps the root between its ends."""
    a = math.log(sigma * sigma)

    def f(x: float) -> float:
        spread = phi * phi + variance + math.exp(x)
        return math.exp(x) * (delta * delta - spread) / (2 * spread * spread) - (x - a) / (tau * tau)

    low = a
    if delta * delta > phi * phi + variance:
        high = math.log(delta * delta - phi * phi - variance)
    else:
        steps = 1
        while f(a - steps * tau) < 0:
            steps += 1
        high = a - steps * tau
    f_low, f_high = f(low), f(high)
    while abs(high - low) > EPSILON:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    return math.exp(low / 2)
