"""The maker of openings, against a plain minimax that judges the same candidates."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from arena.games.core import Player
from arena.games.riskless import Armies, Riskless
from arena.lab.openings import Judged, Judgement, make_openings
from arena.maps.loader import load_map
from arena.match.openings import after, random_opening

M1 = load_map("m1")
GAME = Riskless(M1)
DEPTH = 2
JUDGEMENT = Judgement("plain", exact=True, nodes=1_000_000, window=900, gap=300, depth=DEPTH)


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


def gap(position: Armies) -> int:
    sign = position.player.sign
    replies = sorted(-sign * minimax(GAME.successor(position, move), DEPTH) for move in GAME.moves(position))
    return replies[len(replies) // 2] - replies[0]


def made(
    tries: int = 60, plies: int = 4, seed: int = 1, judgement: Judgement = JUDGEMENT, **how: Any
) -> list[Judged]:
    return list(make_openings(M1, plies, judgement, seed=seed, tries=tries, **how))


def test_what_is_kept_is_what_minimax_would_keep() -> None:
    kept = made()
    candidates: dict[object, tuple[object, ...]] = {}
    for number in range(5_000):
        opening = random_opening(GAME, 4, f"1/{number}")
        candidates.setdefault(GAME.recurring(after(GAME, opening)), opening)
        if len(candidates) == 60:
            break
    expected = []
    for opening in candidates.values():
        position = after(GAME, opening)
        value = minimax(position, DEPTH)
        if abs(value) <= 900 and gap(position) >= 300:
            expected.append(Judged(opening, value, gap(position)))
    assert kept == expected
    assert 5 < len(kept) < 55


def test_positions_differ_and_none_is_over() -> None:
    wide = replace(JUDGEMENT, window=900_000, gap=0)
    positions = [after(GAME, each.opening) for each in made(200, judgement=wide)]
    assert len({(each.armies, each.player) for each in positions}) == len(positions) == 64, (
        "m1 has 64 after 4 plies"
    )
    assert all(GAME.outcome(each) is None for each in positions)


def test_another_seed_gives_another_order_and_tries_are_bounded() -> None:
    wide = replace(JUDGEMENT, window=900_000, gap=0)
    one, other = (made(20, seed=seed, judgement=wide) for seed in (1, 2))
    assert len(one) == len(other) == 20
    assert one != other
    assert made(20, seed=1, judgement=wide) == one


def test_who_has_enough_stops_and_what_was_judged_is_counted() -> None:
    counted: list[int] = []
    some = make_openings(M1, 4, JUDGEMENT, seed=1, tries=60, progress=counted.append)
    assert list(islice(some, 3)) == made()[:3]
    some.close()
    assert 3 <= sum(counted) < 60
    made(progress=counted.append)
    assert sum(counted[-4:]) == 60


def test_a_map_that_is_decided_has_none() -> None:
    judgement = Judgement("plain", exact=False, nodes=4_000, window=5_000, gap=1)
    assert not list(make_openings(load_map("path4"), 4, judgement, seed=1, tries=100))


@pytest.mark.parametrize("window", [0, 50, 400])
def test_a_narrower_window_keeps_a_part(window: int) -> None:
    narrow = made(judgement=replace(JUDGEMENT, window=window))
    assert all(abs(each.value) <= window for each in narrow)
    assert [each for each in made() if abs(each.value) <= window] == narrow
