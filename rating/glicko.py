"""Glicko-2 ratings: the rating of a player after the games of a period.

Source: Mark E. Glickman, "Example of the Glicko-2 system" (2013 and later revisions); steps and symbols are the
paper's.

One extension: a rating period may be a fraction. A deviation φ becomes φ* = √(φ² + periods · σ'²) after `periods`
without a match, with the volatility σ'; for one period this is the paper's step 6.

Sums are exact until they are rounded (`math.fsum`), so the order of the games in a period does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.rating.elo import logistic

GLICKO_POINTS_PER_GLICKO2_POINT = 173.7178
"""Points of the Glicko scale per point of the Glicko-2 scale (step 2 of Glicko-2)."""

VOLATILITY_CONSTRAINT_TAU = 0.5
"""System constant τ, which limits changes of volatility. Glickman suggests 0.3 to 1.2, and uses 0.5 in his example."""

VOLATILITY_TOLERANCE = 1e-6
"""Convergence tolerance for the new volatility (step 5 of Glicko-2)."""

MAX_RATING_DEVIATION = 350.0
"""Deviation of a player without rated matches; no deviation is larger."""

MIN_PROVISIONAL_DEVIATION = 75.0
"""Deviation above which a rating is provisional: too uncertain to be compared with other ratings."""


@dataclass(frozen=True, slots=True)
class GlickoRating:
    """A rating on the Glicko scale; the defaults are a new player's rating."""

    rating: float = 1500.0
    deviation: float = MAX_RATING_DEVIATION
    """Standard error of the rating. The true strength lies within two deviations with 95 % confidence."""
    volatility: float = 0.06
    """Volatility σ: how much the player's strength varies from one rating period to the next."""

    def __str__(self) -> str:
        """Return the rating with its 95 % error, such as `1720 ± 130`, followed by `provisional` if it is provisional."""
        return f"{self.rating:.0f} ± {2 * self.deviation:.0f}{' provisional' if self.is_provisional else ''}"

    @property
    def is_provisional(self) -> bool:
        return self.deviation > MIN_PROVISIONAL_DEVIATION

    def after_inactivity(self, rating_periods: float) -> GlickoRating:
        """Return the rating after `rating_periods` rating periods without a match: the same rating with a larger deviation."""
        phi = math.hypot(
            self.deviation / GLICKO_POINTS_PER_GLICKO2_POINT, math.sqrt(rating_periods) * self.volatility
        )
        return replace(self, deviation=min(phi * GLICKO_POINTS_PER_GLICKO2_POINT, MAX_RATING_DEVIATION))


OpponentAndScore = tuple[GlickoRating, float]
"""Rating of the opponent before the rating period, and the player's score in the game: 1, ½ or 0."""


def update_rating(
    player: GlickoRating, games: Sequence[OpponentAndScore], *, periods: float = 1.0
) -> GlickoRating:
    """Return the rating of `player` after `games`, `periods` rating periods after the previous rating. O(games).

    Without games, the rating stays the same and its deviation grows. Raises ValueError for negative `periods`.
    """
    if periods < 0:
        raise ValueError(f"the number of rating periods must be 0 or more, not {periods}")
    if not games:
        return player.after_inactivity(periods)
    mu, phi = (
        (player.rating - 1500) / GLICKO_POINTS_PER_GLICKO2_POINT,
        player.deviation / GLICKO_POINTS_PER_GLICKO2_POINT,
    )
    terms = [
        (
            _compute_opponent_weight(other.deviation / GLICKO_POINTS_PER_GLICKO2_POINT),
            (other.rating - 1500) / GLICKO_POINTS_PER_GLICKO2_POINT,
            score,
        )
        for other, score in games
    ]
    # E is the logistic function of g (μ - μⱼ), and 1 - E that of g (μⱼ - μ)
    expected = [logistic(g * (mu - mu_j)) for g, mu_j, _ in terms]
    complements = [logistic(-g * (mu - mu_j)) for g, mu_j, _ in terms]
    information = math.fsum(
        g * g * e * r for (g, _, _), e, r in zip(terms, expected, complements, strict=True)
    )
    surplus = math.fsum(g * (score - e) for (g, _, score), e in zip(terms, expected, strict=True))
    variance = 1 / information
    sigma = _solve_volatility(phi, player.volatility, variance, variance * surplus)
    deviation = (
        replace(player, volatility=sigma).after_inactivity(periods).deviation
        / GLICKO_POINTS_PER_GLICKO2_POINT
    )
    squared = 1 / (1 / (deviation * deviation) + information)
    return GlickoRating(
        1500 + GLICKO_POINTS_PER_GLICKO2_POINT * (mu + squared * surplus),
        GLICKO_POINTS_PER_GLICKO2_POINT * math.sqrt(squared),
        sigma,
    )


def _compute_opponent_weight(phi: float) -> float:
    """Return the weight g(φ) of a result against an opponent with the deviation `phi` (step 3 of Glicko-2)."""
    return 1 / math.sqrt(1 + 3 * phi * phi / math.pi**2)


def _solve_volatility(phi: float, sigma: float, variance: float, delta: float) -> float:
    """Return the new volatility (step 5 of Glicko-2): the root of Glickman's f, found by the Illinois method.

    phi       deviation φ before the period
    sigma     volatility σ before the period
    variance  estimated variance v of the rating, from the games of the period (step 3)
    delta     estimated improvement Δ of the rating (step 4)
    """
    a = math.log(sigma * sigma)

    def volatility_equation(x: float) -> float:
        spread = phi * phi + variance + math.exp(x)
        return math.exp(x) * (delta * delta - spread) / (2 * spread * spread) - (x - a) / (
            VOLATILITY_CONSTRAINT_TAU * VOLATILITY_CONSTRAINT_TAU
        )

    low = a
    if delta * delta > phi * phi + variance:
        high = math.log(delta * delta - phi * phi - variance)
    else:
        steps = 1
        while volatility_equation(a - steps * VOLATILITY_CONSTRAINT_TAU) < 0:
            steps += 1
        high = a - steps * VOLATILITY_CONSTRAINT_TAU
    f_low, f_high = volatility_equation(low), volatility_equation(high)
    while abs(high - low) > VOLATILITY_TOLERANCE:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = volatility_equation(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    return math.exp(low / 2)
