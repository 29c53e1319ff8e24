from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.bradley_terry import PRIOR_DRAWS_PER_PLAYER, fit_elo_ratings
from arena.rating.elo import ELO_SCALE, Z_SCORE_95_PERCENT, WinDrawLoss, compute_expected_score, score_to_elo

TALLIES = st.builds(WinDrawLoss, st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))


def test_no_players_and_players_without_matches() -> None:
    assert fit_elo_ratings([], {}) == {}
    alone = fit_elo_ratings(["a"], {})["a"]
    assert (alone.elo, alone.elo_error) == (0, 0)  # a single bot is the average
    fresh = fit_elo_ratings(["a", "b"], {("a", "b"): WinDrawLoss()})
    assert fresh["a"].elo == 0
    assert fresh["a"].elo_error > 500


@given(st.lists(TALLIES, min_size=6, max_size=6))
def test_ratings_solve_the_likelihood_equations(tallies: list[WinDrawLoss]) -> None:
    """Each player has scored the points that the model expects at the ratings, however these were found."""
    names = "abcd"
    edges = [(a, b) for a in names for b in names if a < b]
    results = dict(zip(edges, tallies, strict=True))
    rated = fit_elo_ratings(names, results)
    assert sum(rating.elo for rating in rated.values()) == pytest.approx(0, abs=1e-6)

    def compute_surplus(player: str, shift: float) -> float:
        total = PRIOR_DRAWS_PER_PLAYER * (0.5 - compute_expected_score(rated[player].elo + shift))
        for (a, b), tally in results.items():
            expected = tally.match_count * compute_expected_score(rated[a].elo - rated[b].elo)
            total += (player == a) * (tally.wins + tally.draws / 2 - expected)
            total += (player == b) * (expected - tally.wins - tally.draws / 2)
        return total

    # Ratings have the average 0, but the prior has a 0 of its own. Find the distance, which is the same for all players.
    low, high = -3000.0, 3000.0
    for _ in range(100):
        shift = (low + high) / 2
        low, high = (shift, high) if sum(compute_surplus(p, shift) for p in names) > 0 else (low, shift)
    for player in names:
        assert compute_surplus(player, low) == pytest.approx(0, abs=1e-5)


@given(TALLIES, TALLIES, TALLIES)
def test_ratings_do_not_depend_on_order_or_direction(
    ab: WinDrawLoss, bc: WinDrawLoss, ac: WinDrawLoss
) -> None:
    def swap_players(tally: WinDrawLoss) -> WinDrawLoss:
        return WinDrawLoss(tally.losses, tally.draws, tally.wins)

    one = fit_elo_ratings(["a", "b", "c"], {("a", "b"): ab, ("b", "c"): bc, ("a", "c"): ac})
    two = fit_elo_ratings(
        ["c", "a", "b"], {("c", "a"): swap_players(ac), ("c", "b"): swap_players(bc), ("a", "b"): ab}
    )
    for player in "abc":
        assert one[player].elo == pytest.approx(two[player].elo, abs=1e-5)
        assert one[player].elo_error == pytest.approx(two[player].elo_error, abs=1e-5)


@pytest.mark.parametrize("games", [1, 16, 1000])
def test_all_won_and_all_lost_stay_finite(games: int) -> None:
    rated = fit_elo_ratings(
        ["a", "b", "c"], {("a", "b"): WinDrawLoss(wins=games), ("a", "c"): WinDrawLoss(wins=games)}
    )
    assert 0 < rated["a"].elo < 3000
    assert rated["b"].elo == pytest.approx(rated["c"].elo)
    assert all(0 < rating.elo_error < 3000 for rating in rated.values())


def test_two_players_with_many_games_match_the_closed_formula() -> None:
    wins, draws, losses = 6000, 1000, 3000
    rated = fit_elo_ratings(["a", "b"], {("a", "b"): WinDrawLoss(wins, draws, losses)})
    games = wins + draws + losses
    score = (wins + draws / 2) / games
    assert rated["a"].elo - rated["b"].elo == pytest.approx(score_to_elo(score), abs=0.1)
    # The error of a rating is half of the difference's, because each rating is half of the difference from the average.
    variance = score * (1 - score) - draws / games / 4
    error = Z_SCORE_95_PERCENT * ELO_SCALE * math.sqrt(variance / games) / (score * (1 - score)) / 2
    assert rated["a"].elo_error == pytest.approx(error, rel=1e-3)


def test_draws_make_errors_smaller() -> None:
    drawn = fit_elo_ratings(["a", "b"], {("a", "b"): WinDrawLoss(10, 80, 10)})["a"]
    decided = fit_elo_ratings(["a", "b"], {("a", "b"): WinDrawLoss(50, 0, 50)})["a"]
    assert drawn.elo == decided.elo == pytest.approx(0)
    assert drawn.elo_error < 0.6 * decided.elo_error
    assert fit_elo_ratings(["a", "b"], {("a", "b"): WinDrawLoss(0, 100, 0)})["a"].elo_error > 1
