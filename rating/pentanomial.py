"""Elo difference of two players, with its error, from the number of their pairs of matches with each score.

The two matches of a pair share a start position, so their scores are not independent. The scores of pairs are
independent. Therefore the pairs are counted by score (0, ½, 1, 1½ or 2 points, hence pentanomial), and the variance is
computed over pairs.

Matches without a partner can be counted one by one (trinomial: 0, ½ and 1). The formulas are by Van den Bergh,
"Normalized Elo" (cantate.be/Fishtest), also used by other match runners.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import NamedTuple

from msgspec import Struct, field

from arena.rating.elo import ELO_SCALE, Z_SCORE_95_PERCENT, score_to_elo

PairScoreCounts = tuple[int, ...]
"""Counts of each possible score, from the lowest score to the highest.

Five numbers for pairs of matches (0, ½, 1, 1½ and 2 points), or three for single matches (0, ½ and 1).
"""

POSSIBLE_PAIR_SCORE_COUNT = 5
"""Number of possible scores of a pair of matches: 0, ½, 1, 1½ and 2 points."""


def count_pair_scores(scores: Iterable[float]) -> PairScoreCounts:
    """Return the number of pairs of matches with each of the scores 0, ½, 1, 1½ and 2, given the score of each pair."""
    counts = [0] * POSSIBLE_PAIR_SCORE_COUNT
    for score in scores:
        counts[round(2 * score)] += 1
    return tuple(counts)


class ScoreStatistics(NamedTuple):
    """Count, mean and variance of a player's scores, on a scale from 0 for the lowest possible score to 1 for the highest."""

    score_count: float
    mean: float
    variance: float


def compute_score_statistics(pair_score_counts: Sequence[float]) -> ScoreStatistics:
    """Return the number, mean and variance of a player's scores, on a scale from 0 to 1.

    pair_score_counts  number of occurrences of each score, from the lowest score (0) to the highest (1) in equal steps
    """
    count_sum = sum(pair_score_counts)
    max_index = len(pair_score_counts) - 1
    mean = sum(n * i / max_index for i, n in enumerate(pair_score_counts)) / count_sum
    variance = sum(n * (i / max_index - mean) ** 2 for i, n in enumerate(pair_score_counts)) / count_sum
    return ScoreStatistics(count_sum, mean, variance)


class EloDifference(Struct, frozen=True):
    """Elo difference between the first player and the second; positive if the first is stronger.

    The JSON of results keeps the shorter names of some fields.
    """

    elo: float
    elo_error: float = field(name="error")
    """Half the width of the 95 % interval of `elo`."""
    superiority_likelihood: float = field(name="superiority")
    """Likelihood, 0 to 1, that the first player is the stronger one."""
    normalised_elo: float
    """Normalised Elo: the distance of the score from ½ in standard deviations of a match, scaled to Elo."""
    normalised_elo_error: float
    """Half the width of the 95 % interval of `normalised_elo`."""
    elo_lower_bound: float = field(name="elo_low")
    """Lower end of the 95 % interval on the Elo scale; −∞ if the score's lower bound is below 0."""
    elo_upper_bound: float = field(name="elo_high")
    """Upper end of the 95 % interval on the Elo scale; +∞ if the score's upper bound is above 1."""

    @property
    def elo_interval_text(self) -> str:
        """Return the 95 % interval of the Elo difference as text, such as `+120.3 to ∞`."""
        return f"{_format_elo_bound(self.elo_lower_bound)} to {_format_elo_bound(self.elo_upper_bound)}"


def _format_elo_bound(elo: float) -> str:
    return f"{elo:+z.1f}" if math.isfinite(elo) else "∞" if elo > 0 else "-∞"


def estimate_elo_difference(pair_score_counts: Sequence[int]) -> EloDifference | None:
    """Return the Elo difference between two players, or None if there are no counts.

    pair_score_counts  number of occurrences of each score of the first player, as for `compute_score_statistics`

    The interval is the score ± 1.96 standard errors, converted to the Elo scale. It lies above 0 exactly if the
    likelihood of superiority is above 97.5 %. Two cases would give infinite or useless values:

    - All scores are equal, so their variance is 0: for the interval, one more lowest and one more highest score are counted.
    - All points were won: `elo` is computed as if half of the smallest possible number of points had been lost. If all
      were lost, the same number is counted as won.
    """
    if not sum(pair_score_counts):
        return None
    min_score = 0.5 / (sum(pair_score_counts) * (len(pair_score_counts) - 1))
    score = min(max(compute_score_statistics(pair_score_counts).mean, min_score), 1 - min_score)
    adjusted_counts: Sequence[int] = pair_score_counts
    if sum(1 for n in pair_score_counts if n) == 1:
        adjusted_counts = [
            n + (i in {0, len(pair_score_counts) - 1}) for i, n in enumerate(pair_score_counts)
        ]
    total, mean, variance = compute_score_statistics(adjusted_counts)
    error = math.sqrt(variance / total)
    low, high = mean - Z_SCORE_95_PERCENT * error, mean + Z_SCORE_95_PERCENT * error
    if low > 0 and high < 1:
        elo_error = (score_to_elo(high) - score_to_elo(low)) / 2
    else:
        # The interval exceeds the scale, so use the slope of the Elo curve at the mean.
        elo_error = Z_SCORE_95_PERCENT * error * ELO_SCALE / (mean * (1 - mean))
    # The mean score of a pair has half the variance of a match.
    normalised_unit = (
        2
        * ELO_SCALE
        / math.sqrt(variance * (2 if len(pair_score_counts) == POSSIBLE_PAIR_SCORE_COUNT else 1))
    )
    return EloDifference(
        score_to_elo(score),
        elo_error,
        NormalDist().cdf((mean - 0.5) / error),
        normalised_unit * (mean - 0.5),
        normalised_unit * Z_SCORE_95_PERCENT * error,
        score_to_elo(low),
        score_to_elo(high),
    )
