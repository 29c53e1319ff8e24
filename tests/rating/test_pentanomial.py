import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.pentanomial import (
    compute_score_statistics,
    count_pair_scores,
    estimate_elo_difference,
)


def test_pairs_are_counted_by_score() -> None:
    assert count_pair_scores([0, 0.5, 1, 1, 1.5, 2, 2, 2]) == (1, 1, 2, 1, 3)
    assert count_pair_scores([]) == (0, 0, 0, 0, 0)


def test_without_pairs_there_is_no_difference() -> None:
    assert estimate_elo_difference((0, 0, 0, 0, 0)) is None


COUNTS = st.lists(st.integers(0, 500), min_size=5, max_size=5).map(tuple).filter(any)


@given(COUNTS)
def test_swapped_players_give_the_opposite_difference(counts: tuple[int, ...]) -> None:
    ours, theirs = estimate_elo_difference(counts), estimate_elo_difference(counts[::-1])
    assert ours is not None
    assert theirs is not None
    assert ours.elo == pytest.approx(-theirs.elo, abs=1e-6)
    assert ours.elo_error == pytest.approx(theirs.elo_error)
    assert ours.superiority_likelihood == pytest.approx(1 - theirs.superiority_likelihood, abs=1e-9)


@given(COUNTS)
def test_all_values_are_finite_and_errors_positive(counts: tuple[int, ...]) -> None:
    elo = estimate_elo_difference(counts)
    assert elo is not None
    assert math.isfinite(elo.elo)
    assert 0 < elo.elo_error < math.inf
    assert 0 <= elo.superiority_likelihood <= 1


@given(COUNTS)
def test_the_interval_contains_the_difference_and_agrees_with_the_superiority(
    counts: tuple[int, ...],
) -> None:
    elo = estimate_elo_difference(counts)
    assert elo is not None
    assert elo.elo_lower_bound <= elo.elo <= elo.elo_upper_bound
    if abs(elo.superiority_likelihood - 0.975) > 1e-9:
        assert (elo.elo_lower_bound > 0) == (elo.superiority_likelihood > 0.975)


def test_a_sweep_has_the_highest_elo_and_an_open_interval() -> None:
    for pairs in range(1, 40):
        sweep, almost = (
            estimate_elo_difference((0, 0, 0, 0, pairs)),
            estimate_elo_difference((0, 0, 0, 1, pairs - 1)),
        )
        assert sweep is not None
        assert almost is not None
        assert sweep.elo >= almost.elo
        assert sweep.elo_interval_text.endswith(" to ∞")


@given(COUNTS, st.integers(2, 9))
def test_more_pairs_with_the_same_shares_narrow_the_interval(counts: tuple[int, ...], times: int) -> None:
    total, mean, variance = compute_score_statistics(counts)
    if variance == 0:
        return
    little, much = estimate_elo_difference(counts), estimate_elo_difference([n * times for n in counts])
    assert little is not None
    assert much is not None
    assert much.elo == pytest.approx(little.elo)
    assert much.normalised_elo_error < little.normalised_elo_error
    if abs(mean - 0.5) + 1.96 * math.sqrt(variance / total) < 0.5:
        # An interval beyond the Elo scale has an error computed from a slope, which cannot be compared.
        assert much.elo_error < little.elo_error


@given(st.integers(1, 200), st.data())
def test_a_higher_score_never_has_a_lower_elo(pairs: int, data: st.DataObject) -> None:
    scores = st.lists(st.integers(0, 4), min_size=pairs, max_size=pairs)
    swept = [st.just([each] * pairs) for each in range(5)]
    some, others = (data.draw(st.one_of(scores, *swept)) for _ in range(2))
    results = [
        estimate_elo_difference(count_pair_scores(each / 2 for each in those))
        for those in sorted((some, others), key=sum)
    ]
    assert results[0] is not None
    assert results[1] is not None
    assert results[0].elo <= results[1].elo + 1e-9
