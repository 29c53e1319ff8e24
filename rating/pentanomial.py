"""Two players' pairs, counted by score: their Elo difference, its error, and who is probably better.

The two matches of a pair share a start, so their scores are not independent; the pairs are. So the
score of a pair is what is counted (five classes: 0, ½, 1, 1½ and 2 points, hence pentanomial), and the variance
is that of pairs. Matches without a partner can be counted one by one (trinomial: 0, ½ and 1).
The formulas are those of Van den Bergh, "Normalized Elo" (cantate.be/Fishtest), which match runners share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from arena.rating.elo import SCALE, Z95, elo_of_score

Counts = tuple[int, ...]
"""How often each score was reached, from the lowest to the highest, in equal steps: three classes or five."""

CLASSES = 5


def pair_counts(scores: Iterable[float]) -> Counts:
    """The pentanomial counts of pairs that scored `scores` points each (0, ½, 1, 1½ or 2)."""
    counts = [0] * CLASSES
    for score in scores:
        counts[round(2 * score)] += 1
    return tuple(counts)


def moments(counts: Sequence[float]) -> tuple[float, float, float]:
    """How many were counted, their mean score and its variance, with scores from 0 to 1."""
    total = sum(counts)
    top = len(counts) - 1
    mean = sum(n * i / top for i, n in enumerate(counts)) / total
    variance = sum(n * (i / top - mean) ** 2 for i, n in enumerate(counts)) / total
    return total, mean, variance


@dataclass(frozen=True, slots=True)
class Difference:
    """How much stronger the first player is than the second."""

    elo: float
    error: float
    """Half the width of the 95 % interval."""
    superiority: float
    """The likelihood, 0 to 1, that the first player is the stronger one."""
    normalised: float
    """Normalised Elo: the score's distance from ½ in standard deviations of a match, scaled."""
    normalised_error: float
    """Half the width of its 95 % interval."""


def difference(counts: Sequence[int]) -> Difference | None:
    """The Elo difference that the counts show, or None when nothing was counted.

    The interval is that of the score, ± 1.96 standard errors, put on the Elo scale. Where every score was
    the same (all won, all drawn) there is no variance to tell: then two more are counted, one of each
    extreme, which keeps everything finite and the interval honestly wide.
    """
    if not sum(counts):
        return None
    used: Sequence[int] = counts
    if sum(1 for n in counts if n) == 1:
        used = [n + (i in {0, len(counts) - 1}) for i, n in enumerate(counts)]
    total, mean, variance = moments(used)
    error = math.sqrt(variance / total)
    low, high = mean - Z95 * error, mean + Z95 * error
    if low > 0 and high < 1:
        half = (elo_of_score(high) - elo_of_score(low)) / 2
    else:
        # The interval leaves the scale: take the slope of the Elo curve at the mean.
        half = Z95 * error * SCALE / (mean * (1 - mean))
    # A pair's mean varies with half the variance of a match.
    unit = 2 * SCALE / math.sqrt(variance * (2 if len(counts) == CLASSES else 1))
    return Difference(
        elo_of_score(mean),
        half,
        NormalDist().cdf((mean - 0.5) / error),
        unit * (mean - 0.5),
        unit * Z95 * error,
    )
