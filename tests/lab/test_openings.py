"""The maker of openings, against a plain minimax that judges the same candidates."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from arena.games.core import Player
from arena.games.riskless import Armies, Riskless
from arena.lab.openings import Criteria, KeptOpening, make_openings
from arena.maps.loader import load_map
from arena.match.openings import position_after, random_opening

M1 = load_map("m1")
GAME = Riskless(M1)
DEPTH = 2
CRITERIA = Criteria("plain", exact=True, nodes=1_000_000, window=0.3, gap=0.2, depth=DEPTH)


def minimax(position: Armies, depth: int, distance: int = 0) -> int:
    """The value for Maxie: hundredths of an army, or a win less the plies to it."""
    outcome = GAME.outcome(position)
    if outcome is not None:
        return outcome.winner.sign * (1_000_000 - distance) if outcome.winner else 0
    if not depth:
        return 100 * sum(position.armies)
    values = [
        minimax(GAME.successor(position, move), depth - 1, distance + 1) for move in GAME.moves(position)
    ]
    return max(values) if position.player is Player.MAXIE else min(values)


def even(position: Armies) -> float:
    """Maxie's chance by the mean of the last two depths."""
    values = [minimax(position, depth) for depth in (DEPTH - 1, DEPTH)]
    decided = [value for value in values if abs(value) > 900_000]
    value = decided[0] if decided else round(sum(values) / 2)
    if abs(value) > 900_000:
        return float(value > 0)
    return 1 / (1 + math.exp(-16.7 * value / 100 / M1.armies_to_win))


def gap(position: Armies) -> float:
    sign = position.player.sign
    chances = [even(GAME.successor(position, move)) for move in GAME.moves(position)]
    replies = sorted((each if sign > 0 else 1 - each for each in chances), reverse=True)
    return replies[0] - replies[len(replies) // 2]


def made(
    tries: int = 60, plies: int = 4, seed: int = 1, criteria: Criteria = CRITERIA, **how: Any
) -> list[KeptOpening]:
    return list(make_openings(M1, plies, criteria, seed=seed, tries=tries, **how))


def test_the_kept_openings_are_those_that_minimax_keeps() -> None:
    kept = made()
    candidates: dict[object, tuple[object, ...]] = {}
    for number in range(5_000):
        opening = random_opening(GAME, 4, f"1/{number}")
        candidates.setdefault(GAME.recurring(position_after(GAME, opening)), opening)
        if len(candidates) == 60:
            break
    expected = []
    for opening in candidates.values():
        position = position_after(GAME, opening)
        if abs(even(position) - 0.5) <= 0.3 and gap(position) >= 0.2:
            expected.append(KeptOpening(opening, even(position), gap(position)))
    assert [each.opening for each in kept] == [each.opening for each in expected]
    assert [each.chance for each in kept] == pytest.approx([each.chance for each in expected])
    assert [each.gap for each in kept] == pytest.approx([each.gap for each in expected])
    assert 5 < len(kept) < 55


def test_positions_differ_and_none_is_over() -> None:
    wide = replace(CRITERIA, window=0.5, gap=0)
    positions = [position_after(GAME, each.opening) for each in made(200, criteria=wide)]
    assert len({(each.armies, each.player) for each in positions}) == len(positions) == 64, (
        "m1 has 64 after 4 plies"
    )
    assert all(GAME.outcome(each) is None for each in positions)


def test_another_seed_gives_another_order_and_tries_are_bounded() -> None:
    wide = replace(CRITERIA, window=0.5, gap=0)
    one, other = (made(20, seed=seed, criteria=wide) for seed in (1, 2))
    assert len(one) == len(other) == 20
    assert one != other
    assert made(20, seed=1, criteria=wide) == one


def test_the_search_stops_with_enough_openings_and_counts_all_judged() -> None:
    counted: list[int] = []
    some = make_openings(M1, 4, CRITERIA, seed=1, tries=60, progress=counted.append)
    assert list(islice(some, 3)) == made()[:3]
    some.close()
    assert 3 <= sum(counted) < 60
    made(progress=counted.append)
    assert sum(counted[-4:]) == 60


def test_a_map_that_is_decided_has_none() -> None:
    criteria = Criteria("plain", exact=False, nodes=4_000, window=0.45, gap=0.01)
    assert not list(make_openings(load_map("path4"), 4, criteria, seed=1, tries=100))


@pytest.mark.parametrize("window", [0.01, 0.1, 0.25])
def test_a_narrower_window_keeps_a_part(window: int) -> None:
    narrow = made(criteria=replace(CRITERIA, window=window))
    assert [each for each in made() if abs(each.chance - 0.5) <= window] == narrow
