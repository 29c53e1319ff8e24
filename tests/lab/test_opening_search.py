"""The search for openings keeps the same openings as tests by a simple minimax."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.core import Player
from arena.games.riskless import Riskless, RisklessPosition
from arena.lab.opening_search import OpeningCriteria, make_openings
from arena.lab.selfplay import play_match
from arena.maps.loader import load_map
from arena.match.openings import find_position_after, make_random_opening
from arena.protocol.values import Opening
from tests.bots.compiled.positions import minimax_value

M1 = load_map("m1")
GAME = Riskless(M1)
DEPTH = 2
STRENGTHS = (40, 120)
CRITERIA = OpeningCriteria(
    "plain",
    uses_exact_search=True,
    nodes_per_opening=4_000,
    max_winning_chance_deviation=0.3,
    min_reply_chance_gap=0.2,
    strengths_nodes_per_move=STRENGTHS,
    max_depth=DEPTH,
)
"""Criteria with enough nodes to search every opening to DEPTH plies."""


def estimate_chance(position: RisklessPosition) -> float:
    """Return Maxie's winning chance, from the mean value of the last two depths."""
    values = [
        minimax_value(GAME, position, depth, lambda each: 100 * sum(each.armies))
        for depth in (DEPTH - 1, DEPTH)
    ]
    decided = [value for value in values if abs(value) > 900_000]
    value = decided[0] if decided else round(sum(values) / 2)
    if abs(value) > 900_000:
        return float(value > 0)
    return 1 / (1 + math.exp(-16.7 * value / 100 / M1.armies_to_win))


def compute_gap(position: RisklessPosition) -> float:
    sign = position.player.sign
    chances = [estimate_chance(GAME.successor(position, move)) for move in GAME.moves(position)]
    replies = sorted((each if sign > 0 else 1 - each for each in chances), reverse=True)
    return replies[0] - replies[len(replies) // 2]


def is_even_in_matches(position: RisklessPosition) -> bool:
    """Return True if at each strength each player scores at least half a point in two matches between equal engines."""
    searcher = Searcher(GAME, weights_for(GAME, "plain"), Settings(table_mb=1, exact=True, foresee=False))
    split = True
    for strength in ((30, 50), (90, 150)):
        winners = [
            play_match(GAME, position, dict.fromkeys(Player, searcher), nodes).winner for nodes in strength
        ]
        split = split and (winners[0] is not winners[1] or None in winners)
    searcher.close()
    return split


def make_test_openings(
    tries: int = 60, plies: int = 4, seed: int = 1, criteria: OpeningCriteria = CRITERIA, **how: Any
) -> list[Opening]:
    return list(make_openings(M1, plies, criteria, seed=seed, max_candidates=tries, **how))


def test_the_kept_openings_are_those_that_minimax_keeps() -> None:
    kept = make_test_openings()
    candidates: dict[object, tuple[object, ...]] = {}
    for number in range(5_000):
        opening = make_random_opening(GAME, 4 + number % 2, f"1/{number}")
        candidates.setdefault(GAME.repetition_key(find_position_after(GAME, opening)), opening)
        if len(candidates) == 60:
            break
    found: dict[int, list[Opening]] = {4: [], 5: []}
    for opening in candidates.values():
        position = find_position_after(GAME, opening)
        if (
            abs(estimate_chance(position) - 0.5) <= 0.3
            and compute_gap(position) >= 0.2
            and is_even_in_matches(position)
        ):
            found[len(opening)].append(opening)
    assert kept == [opening for both in zip(found[4], found[5], strict=False) for opening in both]
    assert 5 < len(kept) < 55


def test_openings_lead_to_different_unfinished_positions() -> None:
    wide = replace(CRITERIA, max_winning_chance_deviation=0.5, min_reply_chance_gap=0)
    positions = [find_position_after(GAME, each) for each in make_test_openings(200, criteria=wide)]
    assert len({(each.armies, each.player) for each in positions}) == len(positions) > 20
    assert all(GAME.outcome(each) is None for each in positions)


def test_another_seed_gives_other_openings_and_candidates_are_limited() -> None:
    wide = replace(CRITERIA, max_winning_chance_deviation=0.5, min_reply_chance_gap=0)
    one, other = (make_test_openings(100, seed=seed, criteria=wide) for seed in (1, 2))
    assert 0 < len(one) <= 100
    assert one != other
    assert make_test_openings(100, seed=1, criteria=wide) == one


def test_the_search_stops_with_enough_openings_and_counts_all_tested() -> None:
    counted: list[int] = []
    some = make_openings(M1, 4, CRITERIA, seed=1, max_candidates=60, on_progress=counted.append)
    assert list(islice(some, 3)) == make_test_openings()[:3]
    some.close()
    assert 3 <= sum(counted) < 60
    make_test_openings(on_progress=counted.append)
    assert sum(counted[-4:]) == 60


def test_a_map_on_which_every_match_is_decided_has_no_openings() -> None:
    criteria = OpeningCriteria(
        "plain",
        uses_exact_search=False,
        nodes_per_opening=4_000,
        max_winning_chance_deviation=0.45,
        min_reply_chance_gap=0.01,
        strengths_nodes_per_move=STRENGTHS,
    )
    assert not list(make_openings(load_map("path4"), 4, criteria, seed=1, max_candidates=100))
