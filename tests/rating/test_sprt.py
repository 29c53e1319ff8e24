import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.sprt import BadSprt, Sprt, Verdict


def test_the_bounds_are_those_of_wald() -> None:
    test = Sprt(0, 10, alpha=0.05, beta=0.10)
    assert test.upper_llr_bound == pytest.approx(math.log(0.90 / 0.05))
    assert test.lower_llr_bound == pytest.approx(math.log(0.10 / 0.95))
    assert Sprt(0, 1).upper_llr_bound == pytest.approx(2.944, abs=1e-3)


COUNTS = st.lists(st.integers(0, 300), min_size=5, max_size=5).map(tuple)


@given(COUNTS)
def test_swapped_players_negate_the_ratio(counts: tuple[int, ...]) -> None:
    assert Sprt(-5, 20).compute_llr(counts) == pytest.approx(
        -Sprt(-20, 5).compute_llr(counts[::-1]), abs=1e-6
    )


@given(COUNTS)
def test_the_verdict_follows_from_the_ratio_and_the_bounds(counts: tuple[int, ...]) -> None:
    test = Sprt(0, 30)
    llr = test.compute_llr(counts)
    assert math.isfinite(llr)
    expected = (
        Verdict.H1
        if llr >= test.upper_llr_bound
        else Verdict.H0
        if llr <= test.lower_llr_bound
        else Verdict.OPEN
    )
    assert test.decide(counts) is expected


def test_without_pairs_the_test_is_open() -> None:
    assert Sprt(0, 10).compute_llr((0, 0, 0, 0, 0)) == 0
    assert Sprt(0, 10).decide((0, 0, 0, 0, 0)) is Verdict.OPEN


def test_a_test_is_parsed_from_the_text_that_match_runners_use() -> None:
    assert Sprt.parse("elo0=0,elo1=10,alpha=0.1,beta=0.2") == Sprt(0, 10, 0.1, 0.2)
    assert Sprt.parse(" elo1=5, elo0=-5 ") == Sprt(-5, 5, 0.05, 0.05)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a parameter of a test: write, for example, elo0=0"),
        ("elo0=0", "lacks elo1"),
        ("elo0=0,elo1=x", "elo1 must be a number, not 'x'"),
        ("elo0=0,elo1=5,elo1=6", "'elo1=6' is not a parameter"),
        ("elo0=0,elo1=5,gamma=1", "'gamma=1' is not a parameter"),
        ("elo0=5,elo1=5", "elo0 must be less than elo1"),
        ("elo0=0,elo1=inf", "elo1 must be a finite number, not inf"),
        ("elo0=nan,elo1=5", "elo0 must be a finite number, not nan"),
        ("elo0=0,elo1=5,alpha=0", "alpha must be above 0 and below 1, not 0"),
        ("elo0=0,elo1=5,alpha=0.6,beta=0.6", "the sum of alpha and beta must be below 1, not 1.2"),
    ],
)
def test_invalid_tests(text: str, why: str) -> None:
    with pytest.raises(BadSprt, match=why):
        Sprt.parse(text)


def test_the_model_is_chosen_by_its_name() -> None:
    assert Sprt.parse("elo0=0,elo1=5,model=normalized") == Sprt(0, 5, model="normalized")
    assert Sprt.parse("elo0=0,elo1=5").model == "logistic"
    with pytest.raises(BadSprt, match="model=bayesian"):
        Sprt.parse("elo0=0,elo1=5,model=bayesian")
