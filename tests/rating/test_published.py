"""Agreement with the figures that fastchess publishes in its tests (Disservin/fastchess: elo_test, sprt_test).

Counts go from the lowest score to the highest. A pair with a win and a loss counts together with a pair of two draws.
"""

import pytest

from arena.rating.pentanomial import estimate_elo_difference
from arena.rating.sprt import Sprt

TRINOMIAL = [
    # losses, draws, wins; normalised Elo and its error; superiority in per cent
    ((89, 123, 76), -20.76, 40.13, 15.53),
    ((96, 111, 136), 49.77, 36.77, 99.60),
    ((356, 0, 34), -508.44, 34.48, 0.00),
]
PENTANOMIAL = [
    # counts; normalised Elo and its error; Elo and its error; superiority in per cent
    ((34, 54, 31 + 32, 64, 75), 57.94, 28.28, 55.58, 27.65, 100.00),
    ((332, 433, 457 + 41, 333, 334), -9.17, 10.96, -8.64, 10.33, 5.05),
    ((7895, 8757, 5485 + 200, 568, 9999), -19.01, 2.65, -21.04, 2.95, 0.00),
]
RATIOS = [
    # model, elo0, elo1, counts, log-likelihood ratio
    ("normalized", 0, 2, (36027, 68692, 36433), 0.92),
    ("normalized", -1.75, 0.25, (10650, 20431, 10871), 2.30),
    ("logistic", 0.5, 2.5, (21184, 40708, 21404), -1.57),
    ("logistic", 0, 2, (57030, 106593, 57433), -2.59),
    ("normalized", 0, 2, (365, 16618, 36029 + 200, 16974, 390), 2.25),
    ("normalized", -1.75, 0.25, (127, 4883, 10311 + 401, 5150, 104), 3.01),
    ("logistic", 0.5, 2.5, (223, 9863, 20279 + 1000, 10037, 246), -3.07),
    ("logistic", 0, 2, (871, 26175, 55003 + 980, 26678, 821), -4.98),
]


ONE_SIDED = [
    # All matches are won. The published figures are accurate to 1 %; the exact ones are 120.548 and 111.798.
    (0, 10, (0, 0, 4250), 120.56),
    (0, 5, (0, 0, 0, 0, 5550), 111.82),
]


@pytest.mark.parametrize(("counts", "elo", "error", "superiority"), TRINOMIAL)
def test_normalised_elo_of_single_matches_agrees(
    counts: tuple[int, ...], elo: float, error: float, superiority: float
) -> None:
    found = estimate_elo_difference(counts)
    assert found is not None
    assert (round(found.normalised_elo, 2), round(found.normalised_elo_error, 2)) == (elo, error)
    assert round(100 * found.superiority_likelihood, 2) == superiority


@pytest.mark.parametrize(
    ("counts", "normalised", "normalised_error", "elo", "error", "superiority"), PENTANOMIAL
)
def test_pairs(
    counts: tuple[int, ...],
    normalised: float,
    normalised_error: float,
    elo: float,
    error: float,
    superiority: float,
) -> None:
    found = estimate_elo_difference(counts)
    assert found is not None
    assert (round(found.normalised_elo, 2), round(found.normalised_elo_error, 2)) == (
        normalised,
        normalised_error,
    )
    assert (round(found.elo, 2), round(found.elo_error, 2)) == (elo, error)
    assert round(100 * found.superiority_likelihood, 2) == superiority


@pytest.mark.parametrize(("model", "elo0", "elo1", "counts", "ratio"), RATIOS)
def test_likelihood_ratios_agree(
    model: str, elo0: float, elo1: float, counts: tuple[int, ...], ratio: float
) -> None:
    assert round(Sprt(elo0, elo1, model=model).compute_llr(counts), 2) == ratio


@pytest.mark.parametrize(("elo0", "elo1", "counts", "ratio"), ONE_SIDED)
def test_likelihood_ratios_of_a_sweep_agree(
    elo0: float, elo1: float, counts: tuple[int, ...], ratio: float
) -> None:
    assert Sprt(elo0, elo1, model="normalized").compute_llr(counts) == pytest.approx(ratio, rel=3e-4)
