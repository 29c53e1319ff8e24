"""The logistic Elo scale (Elo 1978): a player rated d points higher scores E = 1 / (1 + 10^(-d / 400)) per match."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

ELO_SCALE = 400 / math.log(10)
"""Elo points per unit of log-odds, the natural logarithm of score / (1 - score)."""

Z_SCORE_95_PERCENT = NormalDist().inv_cdf(0.975)
"""Half the width of a 95 % interval, in standard errors."""


def compute_expected_score(rating_difference: float) -> float:
    """Return the score per match, 0 to 1, of a player rated `rating_difference` Elo points higher."""
    return logistic(rating_difference / ELO_SCALE)


def score_to_elo(score: float) -> float:
    """Return the Elo difference at which a player scores `score` (0 to 1) per match; -∞ for 0, ∞ for 1."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return ELO_SCALE * math.log(score / (1 - score))


@dataclass(frozen=True, slots=True)
class WinDrawLoss:
    """Wins, draws and losses of one player against another."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def match_count(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, slots=True)
class EloRating:
    """An Elo rating relative to the average of the players, with half the width of its 95 % interval."""

    elo: float
    elo_error: float


def logistic(x: float) -> float:
    """Return 1 / (1 + e^-x), without an overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
