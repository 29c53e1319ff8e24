"""How well matches decide: the counting against counting by hand, and the same figures for the same seed."""

from __future__ import annotations

import math

import pytest

from arena.games.core import Player
from arena.lab.measure import Equals, Measured, Signal, matches_of, measure, share
from arena.maps.loader import load_map


def measured(matches: int, seed: int, told: list[int]) -> Measured:
    [found] = measure(
        [load_map("m1")],
        "plain",
        matches=matches,
        seed=seed,
        processes=1,
        strengths=(50, 200),
        progress=told.append,
    )
    return found


def test_all_matches_are_counted_and_a_seed_gives_the_same_figures_again() -> None:
    told: list[int] = []
    found = measured(6, 3, told)
    assert sum(told) == matches_of(1, 6, strengths=2)
    assert [equals.nodes for equals in found.equals] == [50, 200]
    for equals in found.equals:
        assert equals.matches == equals.endings.total() == equals.wins.total() == 6
    assert found.signal.pairs == 3
    assert measured(6, 3, []) == found


def test_shares_are_counted_from_maxies_side() -> None:
    equals = Equals(500, [10, 20, 30, 40])
    equals.wins.update([Player.MAXIE, Player.MAXIE, None, Player.MINNIE])
    assert (equals.drawn.value, equals.maxie.value, equals.length.value) == (0.25, 0.625, 25)
    assert equals.drawn.error > 0
    assert equals.maxie.error > 0


@pytest.mark.parametrize("of", [1, 10, 1000])
def test_what_never_happened_has_an_error_all_the_same(of: int) -> None:
    none, every = share(0, of), share(of, of)
    assert (none.value, every.value) == (0, 1)
    assert none.error == pytest.approx(every.error)
    assert 0 < none.error < share(of / 2, of).error + 1e-9


def test_the_pairs_needed_just_leave_out_a_half() -> None:
    signal = Signal(4_000, 500, [2.0, 1.0, 2.0, 1.5, 0.0, 1.0, 2.0, 1.5])
    scores = [points / 2 for points in signal.points]
    mean = sum(scores) / len(scores)
    variance = sum((score - mean) ** 2 for score in scores) / len(scores)
    error = 1.959964 * math.sqrt(variance / signal.pairs_needed)
    assert mean - error == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("points", [[1.0, 1.0], [0.0, 2.0], [0.5, 1.0]])
def test_who_is_not_ahead_is_never_told_apart(points: list[float]) -> None:
    assert Signal(4_000, 500, points).pairs_needed == math.inf
