"""The sequential probability ratio test: stop as soon as the pairs tell which of two Elo differences holds.

Wald's test (1945) of H0: elo = elo0 against H1: elo = elo1 > elo0, in the generalised form for scores of
an unknown distribution: the likelihood ratio is taken between the two most likely distributions whose
means are the scores that elo0 and elo1 stand for (Van den Bergh, "Comments on Normalized Elo",
proposition 1.1). Elo is logistic, or normalised: the mean's distance from ½ in standard deviations of a
match, so that a bound needs about as many matches whatever the share of draws (there, section 4.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from arena.rating.elo import SCALE, expected_score

_UNSEEN = 1e-3
"""What is counted for a score that did not occur, so that no logarithm is of 0."""

_KEYS = ("elo0", "elo1", "alpha", "beta")

LOGISTIC, NORMALIZED = "logistic", "normalized"
MODELS = (LOGISTIC, NORMALIZED)

_ROUNDS = 50
"""Rounds of the iteration for normalised Elo at the most; a handful is enough."""


class BadSprt(ValueError):
    """Text or numbers that are no test; says what would be right."""


class Verdict(StrEnum):
    """What the test says so far."""

    H0 = "H0"
    H1 = "H1"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Sprt:
    """The test of `elo0` against `elo1`. `alpha`: how often H1 may be accepted while H0 holds; `beta`: H0 for H1."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: str = LOGISTIC

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) for value in (self.elo0, self.elo1)) or self.elo0 >= self.elo1:
            raise BadSprt(f"elo0 must be less than elo1, but they are {self.elo0:g} and {self.elo1:g}")
        if not (0 < self.alpha < 1 and 0 < self.beta < 1 and self.alpha + self.beta < 1):
            raise BadSprt(
                f"alpha and beta must be above 0 and below 1 together, but they are {self.alpha:g} and {self.beta:g}"
            )

    @classmethod
    def parse(cls, text: str) -> Sprt:
        """The test that `elo0=0,elo1=10,alpha=0.05,beta=0.05` writes; the last two may be left out."""
        values: dict[str, float] = {}
        model = LOGISTIC
        for part in text.split(","):
            key, equals, value = part.strip().partition("=")
            if key == "model" and value in MODELS:
                model = value
                continue
            if not equals or key not in _KEYS or key in values:
                raise BadSprt(
                    f"{part.strip()!r:.40} is no part of a test: write elo0=0,elo1=10,alpha=0.05,beta=0.05, and model=normalized if Elo is"
                )
            try:
                values[key] = float(value)
            except ValueError:
                raise BadSprt(f"{key} must be a number, not {value!r:.40}") from None
        if not {"elo0", "elo1"} <= set(values):
            raise BadSprt(f"{text!r:.60} lacks elo0 or elo1: write elo0=0,elo1=10,alpha=0.05,beta=0.05")
        return cls(**values, model=model)

    @property
    def lower(self) -> float:
        """At or below this log-likelihood ratio H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """At or above this log-likelihood ratio H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[int]) -> float:
        """The log-likelihood ratio of H1 to H0 after these counts (`pentanomial.Counts`); 0 for none."""
        if not sum(counts):
            return 0.0
        seen = [n or _UNSEEN for n in counts]
        total = sum(seen)
        shares = [n / total for n in seen]
        under0, under1 = self._under(shares, self.elo0), self._under(shares, self.elo1)
        return sum(n * math.log(p1 / p0) for n, p0, p1 in zip(seen, under0, under1, strict=True))

    def _under(self, shares: Sequence[float], elo: float) -> list[float]:
        """The most likely distribution of which `elo` holds."""
        if self.model == LOGISTIC:
            return _likeliest(shares, expected_score(elo))
        # A pair is two matches: its mean varies with half the variance of one.
        matches = 2 if len(shares) == 5 else 1
        return _likeliest_normalised(shares, math.sqrt(matches) * elo / (2 * SCALE))

    def verdict(self, counts: Sequence[int]) -> Verdict:
        """Whether the counts settle the test. To be asked after each pair, and the test ends with the answer."""
        llr = self.llr(counts)
        if llr >= self.upper:
            return Verdict.H1
        return Verdict.H0 if llr <= self.lower else Verdict.OPEN


def _likeliest(shares: Sequence[float], mean: float) -> list[float]:
    """The most likely distribution with this mean, having seen `shares`: p_i = share_i / (1 + t (a_i - mean)).

    t is the one zero of Σ share_i (a_i - mean) / (1 + t (a_i - mean)), which falls from +∞ to -∞ between
    the poles of the extreme scores 0 and 1.
    """
    top = len(shares) - 1
    return _balanced(shares, [i / top - mean for i in range(len(shares))])


def _likeliest_normalised(shares: Sequence[float], t: float) -> list[float]:
    """The most likely distribution whose mean is `t` standard deviations above ½, having seen `shares`.

    The condition is not linear in the distribution; so it is made linear at the last one found, from the
    uniform one on, until nothing changes.
    """
    top = len(shares) - 1
    scores = [i / top for i in range(len(shares))]
    found = [1 / len(shares)] * len(shares)
    for _ in range(_ROUNDS):
        mean = sum(p * a for p, a in zip(found, scores, strict=True))
        deviation = math.sqrt(sum(p * (a - mean) ** 2 for p, a in zip(found, scores, strict=True)))
        bends = [a - 0.5 - t * deviation / 2 * (1 + ((a - mean) / deviation) ** 2) for a in scores]
        last, found = found, _balanced(shares, bends)
        if max(abs(p - q) for p, q in zip(found, last, strict=True)) < 1e-9:
            break
    return found


def _balanced(shares: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """The distribution p_i = share_i / (1 + x offset_i), for the one x with which Σ p_i offset_i is 0.

    x is bisected to the last bit.
    """
    low, high = -1 / max(offsets), -1 / min(offsets)
    while True:
        x = (low + high) / 2
        if not low < x < high:
            break
        if sum(p * a / (1 + x * a) for p, a in zip(shares, offsets, strict=True)) > 0:
            low = x
        else:
            high = x
    return [p / (1 + x * a) for p, a in zip(shares, offsets, strict=True)]
