from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.elo import compute_expected_score
from arena.rating.glicko import (
    GLICKO_POINTS_PER_GLICKO2_POINT,
    MAX_RATING_DEVIATION,
    VOLATILITY_CONSTRAINT_TAU,
    GlickoRating,
    OpponentAndScore,
    update_rating,
)

ratings = st.builds(
    GlickoRating,
    rating=st.floats(0, 3500),
    deviation=st.floats(10, MAX_RATING_DEVIATION),
    volatility=st.floats(0.02, 0.2),
)
games = st.tuples(ratings, st.sampled_from([0.0, 0.5, 1.0]))
periods = st.floats(0, 1000)

PAPER: list[OpponentAndScore] = [
    (GlickoRating(1400, 30), 1.0),
    (GlickoRating(1550, 100), 0.0),
    (GlickoRating(1700, 300), 0.0),
]


def test_the_example_of_the_paper() -> None:
    after = update_rating(GlickoRating(1500, 200, 0.06), PAPER)
    # The paper computes its last line from μ' and φ' as it has printed them, with four digits.
    mu, phi = (
        round((after.rating - 1500) / GLICKO_POINTS_PER_GLICKO2_POINT, 4),
        round(after.deviation / GLICKO_POINTS_PER_GLICKO2_POINT, 4),
    )
    assert (mu, phi) == (-0.2069, 0.8722)
    assert f"{1500 + GLICKO_POINTS_PER_GLICKO2_POINT * mu:.2f}" == "1464.06"
    assert f"{GLICKO_POINTS_PER_GLICKO2_POINT * phi:.2f}" == "151.52"
    assert after.rating == pytest.approx(1464.06, abs=0.01)
    assert f"{after.deviation:.2f}" == "151.52"
    assert (
        math.floor(after.volatility * 1e5) / 1e5 == 0.05999
    )  # the paper prints the volatility without rounding up


def _compute_f(player: GlickoRating, played: list[OpponentAndScore], x: float) -> float:
    """Return the value of the function f in step 5 of the paper, computed term by term as the paper defines it."""
    mu, phi = (
        (player.rating - 1500) / GLICKO_POINTS_PER_GLICKO2_POINT,
        player.deviation / GLICKO_POINTS_PER_GLICKO2_POINT,
    )
    v_inverse = surplus = 0.0
    for other, score in played:
        g = 1 / math.sqrt(1 + 3 * (other.deviation / GLICKO_POINTS_PER_GLICKO2_POINT) ** 2 / math.pi**2)
        e = 1 / (1 + math.exp(-g * (mu - (other.rating - 1500) / GLICKO_POINTS_PER_GLICKO2_POINT)))
        v_inverse += g**2 * e * (1 - e)
        surplus += g * (score - e)
    v = 1 / v_inverse
    delta = v * surplus
    rest = phi**2 + v + math.exp(x)
    return (
        math.exp(x) * (delta**2 - rest) / (2 * rest**2)
        - (x - math.log(player.volatility**2)) / VOLATILITY_CONSTRAINT_TAU**2
    )


@given(ratings, st.lists(games, min_size=1, max_size=8))
def test_the_volatility_is_a_root_of_the_function_in_the_paper(
    player: GlickoRating, played: list[OpponentAndScore]
) -> None:
    # Ratings far apart reveal a formula that confuses rating and deviation, which passes the paper's example.
    x = 2 * math.log(update_rating(player, played).volatility)
    around = _compute_f(player, played, x - 1e-5) * _compute_f(player, played, x + 1e-5)
    assert around <= 1e-20, "f does not change its sign there"


@given(ratings, st.lists(games, min_size=1, max_size=8), periods, st.randoms())
def test_the_order_of_games_in_a_period_does_not_matter(
    player: GlickoRating, played: list[OpponentAndScore], passed: float, random: object
) -> None:
    shuffled = list(played)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert update_rating(player, shuffled, periods=passed) == update_rating(player, played, periods=passed)


@given(ratings, ratings, periods)
def test_a_win_raises_the_rating_a_loss_lowers_it_and_a_draw_is_between(
    player: GlickoRating, other: GlickoRating, passed: float
) -> None:
    lost, drew, won = (
        update_rating(player, [(other, score)], periods=passed).rating for score in (0.0, 0.5, 1.0)
    )
    assert lost < player.rating < won
    assert lost < drew < won


@given(ratings, ratings, periods)
def test_a_draw_moves_the_rating_towards_the_opponents(
    player: GlickoRating, other: GlickoRating, passed: float
) -> None:
    moved = update_rating(player, [(other, 0.5)], periods=passed).rating - player.rating
    apart = other.rating - player.rating
    # If the ratings are almost equal, rounding may decide the sign of the movement.
    assert moved * apart >= 0 or abs(moved) < 1e-9


@given(ratings, st.lists(games, max_size=8), periods)
def test_deviation_and_volatility_stay_within_their_bounds(
    player: GlickoRating, played: list[OpponentAndScore], passed: float
) -> None:
    after = update_rating(player, played, periods=passed)
    assert 0 < after.deviation <= MAX_RATING_DEVIATION
    assert after.volatility > 0
    assert math.isfinite(after.rating)


@given(ratings, st.lists(games, min_size=1, max_size=8))
def test_games_reduce_the_deviation(player: GlickoRating, played: list[OpponentAndScore]) -> None:
    assert update_rating(player, played, periods=0).deviation < player.deviation


@given(ratings, periods, periods)
def test_two_periods_of_inactivity_equal_one_of_their_sum(
    player: GlickoRating, first: float, second: float
) -> None:
    twice = player.after_inactivity(first).after_inactivity(second)
    assert twice.deviation == pytest.approx(player.after_inactivity(first + second).deviation)
    assert (twice.rating, twice.volatility) == (player.rating, player.volatility)
    assert update_rating(player, [], periods=first) == player.after_inactivity(first)


def test_negative_periods_are_refused() -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        update_rating(GlickoRating(), [(GlickoRating(), 1.0)], periods=-1)


def test_scoring_as_expected_keeps_the_rating() -> None:
    strong, weak = GlickoRating(1700, 50), GlickoRating(1500, 50)
    scored = compute_expected_score(strong.rating - weak.rating)
    before = strong
    for _ in range(200):
        strong = update_rating(strong, [(weak, scored)], periods=0)
    assert strong.rating == pytest.approx(before.rating, abs=5)
