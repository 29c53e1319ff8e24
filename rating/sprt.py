"""Sequential probability ratio test: play pairs of matches until their results show which of two Elo differences is right.

Wald's test (1945) of H0: elo = elo0 against H1: elo = elo1 > elo0, in the generalised form for scores with an unknown
distribution. The likelihood ratio compares the most likely distribution whose mean is the score for elo1 with the most
likely one whose mean is the score for elo0 (Van den Bergh, "Comments on Normalized Elo", proposition 1.1).

Elo is logistic or normalised. Normalised Elo is the distance of the mean from ½ in standard deviations of a match. With
it, the number of matches that a test needs hardly depends on the share of draws (section 4.1 of that paper).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from arena.rating.elo import ELO_SCALE, compute_expected_score

_MIN_PAIR_SCORE_COUNT = 1e-3
"""Number of occurrences assumed for a score that did not occur, because 0 has no logarithm."""

_NUMERIC_SPRT_PARAMETERS = ("elo0", "elo1", "alpha", "beta")
"""Names of the numeric parameters in the text of an SPRT, such as `elo0=0,elo1=10`."""

LOGISTIC, NORMALIZED = "logistic", "normalized"
ELO_MODELS = (LOGISTIC, NORMALIZED)
"""Values of the parameter `model`: the scale on which `elo0` and `elo1` are given."""

_MAX_DISTRIBUTION_ITERATIONS = 50
"""Maximum number of iterations of `_find_likeliest_normalised_distribution`; a few are enough."""


class BadSprt(ValueError):
    """Raised when text or numbers do not describe a valid test; the message says what is wrong, or shows a valid form."""


class Verdict(StrEnum):
    """State of a test: H0 or H1 if this hypothesis is accepted, OPEN while more pairs of matches are needed."""

    H0 = "H0"
    H1 = "H1"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Sprt:
    """Sequential test of two hypotheses: the Elo difference is `elo0` (H0), or it is `elo1` (H1).

    `alpha` is the probability of accepting H1 if H0 is true; `beta` is the probability of accepting H0 if H1 is true.
    `model` is the scale of both Elo differences: LOGISTIC or NORMALIZED.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: str = LOGISTIC

    def __post_init__(self) -> None:
        for name, elo in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not math.isfinite(elo):
                raise BadSprt(f"{name} must be a finite number, not {elo:g}")
        if self.elo0 >= self.elo1:
            raise BadSprt(f"elo0 must be less than elo1, but elo0 is {self.elo0:g} and elo1 is {self.elo1:g}")
        for name, probability in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < probability < 1:
                raise BadSprt(f"{name} must be above 0 and below 1, not {probability:g}")
        if self.alpha + self.beta >= 1:
            raise BadSprt(f"the sum of alpha and beta must be below 1, not {self.alpha + self.beta:g}")

    @classmethod
    def parse(cls, text: str) -> Sprt:
        """Parse a test such as `elo0=0,elo1=10,alpha=0.05,beta=0.05`. `alpha` and `beta` are optional.

        Raises BadSprt for any other text.
        """
        values: dict[str, float] = {}
        model = LOGISTIC
        for part in text.split(","):
            key, equals, value = part.strip().partition("=")
            if key == "model" and value in ELO_MODELS:
                model = value
                continue
            if not equals or key not in _NUMERIC_SPRT_PARAMETERS or key in values:
                raise BadSprt(
                    f"{part.strip()!r:.40} is not a parameter of a test: write, for example, elo0=0,elo1=10,alpha=0.05,beta=0.05 or elo0=0,elo1=10,model=normalized"
                )
            try:
                values[key] = float(value)
            except ValueError:
                raise BadSprt(f"{key} must be a number, not {value!r:.40}") from None
        for key in ("elo0", "elo1"):
            if key not in values:
                raise BadSprt(
                    f"{text!r:.60} lacks {key}: write, for example, elo0=0,elo1=10,alpha=0.05,beta=0.05"
                )
        return cls(**values, model=model)

    @property
    def lower_llr_bound(self) -> float:
        """Log-likelihood ratio at or below which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper_llr_bound(self) -> float:
        """Log-likelihood ratio at or above which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def compute_llr(self, pair_score_counts: Sequence[int]) -> float:
        """Return the log-likelihood ratio of H1 to H0; 0 without results.

        pair_score_counts: number of pairs of matches with each score, from 0 to 2 points
        """
        if not sum(pair_score_counts):
            return 0.0
        smoothed = [n or _MIN_PAIR_SCORE_COUNT for n in pair_score_counts]
        pair_count = sum(smoothed)
        score_shares = [n / pair_count for n in smoothed]
        under0, under1 = (
            self._find_likeliest_distribution_for_elo(score_shares, self.elo0),
            self._find_likeliest_distribution_for_elo(score_shares, self.elo1),
        )
        return sum(n * math.log(p1 / p0) for n, p0, p1 in zip(smoothed, under0, under1, strict=True))

    def _find_likeliest_distribution_for_elo(self, score_shares: Sequence[float], elo: float) -> list[float]:
        """Return the likeliest distribution of scores for an Elo difference `elo`, given the observed share of each score."""
        if self.model == LOGISTIC:
            return _find_likeliest_distribution(score_shares, compute_expected_score(elo))
        # A pair is two matches, so its mean score has half the variance of a match.
        matches_per_result = 2 if len(score_shares) == 5 else 1
        return _find_likeliest_normalised_distribution(
            score_shares, math.sqrt(matches_per_result) * elo / (2 * ELO_SCALE)
        )

    def decide(self, pair_score_counts: Sequence[int]) -> Verdict:
        """Return the state of the test. `pair_score_counts`: number of pairs of matches with each score, from 0 to 2 points.

        Call this after each pair: the test ends once the state is not OPEN.
        """
        llr = self.compute_llr(pair_score_counts)
        if llr >= self.upper_llr_bound:
            return Verdict.H1
        return Verdict.H0 if llr <= self.lower_llr_bound else Verdict.OPEN


def _find_likeliest_distribution(score_shares: Sequence[float], mean: float) -> list[float]:
    """Return the distribution of scores with the mean `mean` that makes the observed shares of the scores most likely.

    The distribution is p_i = share_i / (1 + t (a_i - mean)), with the possible scores a_i from 0 to 1. The number t solves Σ
    share_i (a_i - mean) / (1 + t (a_i - mean)) = 0. There is one solution, because the sum falls from +∞ to -∞ between the
    poles of the extreme scores 0 and 1.
    """
    max_index = len(score_shares) - 1
    return _find_likeliest_constrained_distribution(
        score_shares, [i / max_index - mean for i in range(len(score_shares))]
    )


def _find_likeliest_normalised_distribution(
    score_shares: Sequence[float], normalised_mean: float
) -> list[float]:
    """Return the distribution of scores that makes the observed `score_shares` most likely.

    The distribution's mean must be `normalised_mean` of its standard deviations above ½.

    The condition on the mean is not linear in the distribution. So each iteration solves the condition linearised at the
    previous solution, beginning with the uniform distribution, until nothing changes.
    """
    max_index = len(score_shares) - 1
    scores = [i / max_index for i in range(len(score_shares))]
    distribution = [1 / len(score_shares)] * len(score_shares)
    for _ in range(_MAX_DISTRIBUTION_ITERATIONS):
        mean = sum(p * a for p, a in zip(distribution, scores, strict=True))
        deviation = math.sqrt(sum(p * (a - mean) ** 2 for p, a in zip(distribution, scores, strict=True)))
        offsets = [
            a - 0.5 - normalised_mean * deviation / 2 * (1 + ((a - mean) / deviation) ** 2) for a in scores
        ]
        earlier_distribution, distribution = (
            distribution,
            _find_likeliest_constrained_distribution(score_shares, offsets),
        )
        if max(abs(p - q) for p, q in zip(distribution, earlier_distribution, strict=True)) < 1e-9:
            break
    return distribution


def _find_likeliest_constrained_distribution(
    score_shares: Sequence[float], offsets: Sequence[float]
) -> list[float]:
    """Return the distribution of scores that makes the observed `score_shares` most likely, if Σ p_i offset_i must be 0.

    score_shares  observed share of each score
    offsets       coefficient of each probability in the condition; some are positive, some negative

    The distribution is p_i = share_i / (1 + x offset_i) for an x that fulfils the condition. Only one such x makes all p_i
    positive; this x is found by bisection, as exactly as a float can hold it.
    """
    low, high = -1 / max(offsets), -1 / min(offsets)
    while True:
        x = (low + high) / 2
        if not low < x < high:
            break
        if sum(share * a / (1 + x * a) for share, a in zip(score_shares, offsets, strict=True)) > 0:
            low = x
        else:
            high = x
    return [p / (1 + x * a) for p, a in zip(score_shares, offsets, strict=True)]
