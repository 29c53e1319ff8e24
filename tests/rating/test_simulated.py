"""Simulated sequential tests and ladders keep their stated error rates.

The rate of wrong verdicts must not exceed alpha or beta, and 95 % of the 95 % intervals must contain the true rating. Both
may differ by three standard errors of the sample.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import combinations

import pytest

from arena.rating.bradley_terry import fit_elo_ratings
from arena.rating.elo import ELO_SCALE, WinDrawLoss, compute_expected_score
from arena.rating.sprt import LOGISTIC, NORMALIZED, Sprt, Verdict

DRAWS = 0.4
"""Share of draws between two equal bots."""

PAIRS_PER_CHECK = 8
"""Number of pairs between two checks of the test's state."""

MAX_PAIRS = 20_000


def compute_pair_shares(score: float, draws: float = DRAWS) -> list[float]:
    """Return the probabilities that a pair scores 0, ½, 1, 1½ and 2, for a bot that scores `score` per match."""
    draw = draws * 4 * score * (1 - score)
    loss, win = 1 - score - draw / 2, score - draw / 2
    return [
        loss * loss,
        2 * loss * draw,
        2 * loss * win + draw * draw,
        2 * draw * win,
        win * win,
    ]


def find_score(elo: float, model: str) -> float:
    """Return the score per match of a bot that is stronger by exactly `elo`, on the scale of `model`."""
    if model == LOGISTIC:
        return compute_expected_score(elo)
    low, high = 0.0, 1.0
    for _ in range(60):
        score = (low + high) / 2
        draw = DRAWS * 4 * score * (1 - score)
        variance = score * (1 - score) - draw / 4
        if (score - 0.5) / math.sqrt(variance) * 2 * ELO_SCALE < elo:
            low = score
        else:
            high = score
    return low


def run_test(test: Sprt, score: float, dice: random.Random) -> Verdict:
    """Return the verdict of the test on pairs of a bot that scores `score` per match, at the end of the test."""
    shares, counts = compute_pair_shares(score), [0] * 5
    for _ in range(MAX_PAIRS // PAIRS_PER_CHECK):
        for drawn in dice.choices(range(5), shares, k=PAIRS_PER_CHECK):
            counts[drawn] += 1
        said = test.decide(counts)
        if said is not Verdict.OPEN:
            return said
    return Verdict.OPEN


def measure_error_rates(test: Sprt, tests: int, dice: random.Random) -> tuple[float, float]:
    """Return the share of tests that accept H1 although elo0 is true, and of tests that accept H0 although elo1 is."""
    counts = []
    for elo, error in ((test.elo0, Verdict.H1), (test.elo1, Verdict.H0)):
        score = find_score(elo, test.model)
        counts.append(sum(run_test(test, score, dice) is error for _ in range(tests)) / tests)
    return counts[0], counts[1]


def count_covered_intervals(ladders: int, bots: int, pairs: int, dice: random.Random) -> tuple[int, int]:
    """Return the number of 95 % intervals that contain the true rating, and of all intervals, in `ladders` round-robins."""
    inside = 0
    for _ in range(ladders):
        true = [dice.gauss(0, 80) for _ in range(bots)]
        middle = sum(true) / bots
        results = {}
        for a, b in combinations(range(bots), 2):
            results[str(a), str(b)] = _play_matches(
                compute_expected_score(true[a] - true[b]), 2 * pairs, dice
            )
        found = fit_elo_ratings([str(i) for i in range(bots)], results)
        for i, elo in enumerate(true):
            rating = found[str(i)]
            inside += abs(rating.elo - (elo - middle)) <= rating.elo_error
    return inside, ladders * bots


def _play_matches(score: float, matches: int, dice: random.Random) -> WinDrawLoss:
    draw = DRAWS * 4 * score * (1 - score)
    drawn = dice.choices((0, 1, 2), (score - draw / 2, draw, 1 - score - draw / 2), k=matches)
    return WinDrawLoss(drawn.count(0), drawn.count(1), drawn.count(2))


def compute_deviation(share: float, expected: float, number: int) -> float:
    """Return the difference between a share and its expected value, in standard errors of `number` tries."""
    return (share - expected) / math.sqrt(expected * (1 - expected) / number)


def check_claims(tests: int, ladders: int, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield a sentence for each measured rate, and whether the rate is as stated."""
    dice = random.Random(seed)
    for model in (LOGISTIC, NORMALIZED):
        test = Sprt(0, 40, 0.05, 0.05, model)
        alpha, beta = measure_error_rates(test, tests, dice)
        for name, rate, bound in (("alpha", alpha, test.alpha), ("beta", beta, test.beta)):
            said = f"SPRT, {model}: {name} is {rate:.4f} of {tests} tests, at most {bound:g} is stated"
            yield said, compute_deviation(rate, bound, tests) < 3
    inside, intervals = count_covered_intervals(ladders, 6, 30, dice)
    share = inside / intervals
    said = f"ladders: {share:.4f} of {intervals} intervals of 95 % hold the true rating"
    yield said, abs(compute_deviation(share, 0.95, intervals)) < 3


@pytest.mark.slow
def test_error_rates_and_intervals_are_as_stated() -> None:
    found = list(check_claims(tests=150, ladders=150, seed=1))
    assert len(found) == 5
    assert all(right for _, right in found), found
