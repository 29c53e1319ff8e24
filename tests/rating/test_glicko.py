from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.elo import compute_expected_score
from arena.rating.glicko import GLICKO_SCALE, MAX_DEVIATION, TAU, GameResult, Rating, update_rating

ratings = st.builds(
    Rating,
    rating=st.floats(0, 3500),
    deviation=st.floats(10, MAX_DEVIATION),
    volatility=st.floats(0.02, 0.2),
)
games = st.tuples(ratings, st.sampled_from([0.0, 0.5, 1.0]))
periods = st.floats(0, 1000)

PAPER: list[GameResult] = [(Rating(1400, 30), 1.0), (Rating(1550, 100), 0.0), (Rating(1700, 300), 0.0)]


def test_the_example_of_the_paper() -> None:
    after = update_rating(Rating(1500, 200, 0.06), PAPER)
    # The paper goes on from what it has printed: it turns μ' and φ', cut to four digits, into its last line.
    mu, phi = round((after.rating - 1500) / GLICKO_SCALE, 4), round(after.deviation / GLICKO_SCALE, 4)
    assert (mu, phi) == (-0.2069, 0.8722)
    assert f"{1500 + GLICKO_SCALE * mu:.2f}" == "1464.06"
    assert f"{GLICKO_SCALE * phi:.2f}" == "151.52"
    assert after.rating == pytest.approx(1464.06, abs=0.01)
    assert f"{after.deviation:.2f}" == "151.52"
    assert math.floor(after.volatility * 1e5) / 1e5 == 0.05999  # which it prints without rounding up


def _f(player: Rating, played: list[GameResult], x: float) -> float:
    """Return the paper's f of step 5, written anew, term by term."""
    mu, phi = (player.rating - 1500) / GLICKO_SCALE, player.deviation / GLICKO_SCALE
    v_inverse = surplus = 0.0
    for other, score in played:
        g = 1 / math.sqrt(1 + 3 * (other.deviation / GLICKO_SCALE) ** 2 / math.pi**2)
        e = 1 / (1 + math.exp(-g * (mu - (other.rating - 1500) / GLICKO_SCALE)))
        v_inverse += g**2 * e * (1 - e)
        surplus += g * (score - e)
    v = 1 / v_inverse
    delta = v * surplus
    rest = phi**2 + v + math.exp(x)
    return math.exp(x) * (delta**2 - rest) / (2 * rest**2) - (x - math.log(player.volatility**2)) / TAU**2


@given(ratings, st.lists(games, min_size=1, max_size=8))
def test_the_volatility_is_a_root_of_the_function_in_the_paper(
    player: Rating, played: list[GameResult]
) -> None:
    # Ratings far apart are what tells: a formula that confuses rating and deviation passes the paper's example.
    x = 2 * math.log(update_rating(player, played).volatility)
    around = _f(player, played, x - 1e-5) * _f(player, played, x + 1e-5)
    assert around <= 1e-20, "f does not change its sign there"


@given(ratings, st.lists(games, min_size=1, max_size=8), periods, st.randoms())
def test_the_games_of_a_period_may_come_in_any_order(
    player: Rating, played: list[GameResult], passed: float, random: object
) -> None:
    shuffled = list(played)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert update_rating(player, shuffled, periods=passed) == update_rating(player, played, periods=passed)


@given(ratings, ratings, periods)
def test_a_win_lifts_a_loss_lowers_and_a_draw_is_between(
    player: Rating, other: Rating, passed: float
) -> None:
    lost, drew, won = (
        update_rating(player, [(other, score)], periods=passed).rating for score in (0.0, 0.5, 1.0)
    )
    assert lost < player.rating < won
    assert lost < drew < won


@given(ratings, ratings, periods)
def test_a_draw_moves_towards_the_opponent(player: Rating, other: Rating, passed: float) -> None:
    moved = update_rating(player, [(other, 0.5)], periods=passed).rating - player.rating
    apart = other.rating - player.rating
    # Of two that are as good as equal, the sign of the difference is one of rounding.
    assert moved * apart >= 0 or abs(moved) < 1e-9


@given(ratings, st.lists(games, max_size=8), periods)
def test_deviation_and_volatility_stay_within_their_bounds(
    player: Rating, played: list[GameResult], passed: float
) -> None:
    after = update_rating(player, played, periods=passed)
    assert 0 < after.deviation <= MAX_DEVIATION
    assert after.volatility > 0
    assert math.isfinite(after.rating)


@given(ratings, st.lists(games, min_size=1, max_size=8))
def test_games_make_more_certain_than_none(player: Rating, played: list[GameResult]) -> None:
    assert update_rating(player, played, periods=0).deviation < player.deviation


@given(ratings, periods, periods)
def test_ageing_twice_is_ageing_once_for_as_long(player: Rating, first: float, second: float) -> None:
    twice = player.after_inactivity(first).after_inactivity(second)
    assert twice.deviation == pytest.approx(player.after_inactivity(first + second).deviation)
    assert (twice.rating, twice.volatility) == (player.rating, player.volatility)
    assert update_rating(player, [], periods=first) == player.after_inactivity(first)


def test_time_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        update_rating(Rating(), [(Rating(), 1.0)], periods=-1)


def test_an_expected_score_keeps_the_rating() -> None:
    strong, weak = Rating(1700, 50), Rating(1500, 50)
    scored = compute_expected_score(strong.rating - weak.rating)
    before = strong
    for _ in range(200):
        strong = update_rating(strong, [(weak, scored)], periods=0)
    assert strong.rating == pytest.approx(before.rating, abs=5)
