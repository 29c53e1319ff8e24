"""Matches in one process: random openings, seats and node limits."""

import random
from typing import Any

import pytest

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.core import Player
from arena.games.riskless import Riskless
from arena.lab.selfplay import (
    CUT_OFF_END_REASON,
    play_match,
    play_random_plies,
)
from arena.lab.variants import load_map_variant
from arena.maps.loader import load_map
from arena.protocol.adjudication import REPETITION_DETAIL_PREFIX

M1 = Riskless(load_map("m1"))
NODES = 100


def searcher(evaluator: str = "features") -> Searcher[Any, Any]:
    return Searcher(M1, weights_for(M1, evaluator), Settings(table_mb=1))


@pytest.mark.parametrize("plies", [0, 3, 9])
def test_random_starts_are_unfinished_positions(plies: int) -> None:
    rng = random.Random(plies)
    for _ in range(20):
        position = play_random_plies(M1, rng, plies)
        assert M1.outcome(position) is None
        assert M1.ply(position) == plies


def test_a_random_start_is_shorter_if_all_matches_end_sooner() -> None:
    game = Riskless(load_map_variant("path4:cap=3,goal=5"))
    for seed in range(5):
        position = play_random_plies(game, random.Random(seed), 40)
        assert game.outcome(position) is None
        assert position.ply <= 20


def test_a_match_is_a_sequence_of_legal_moves_to_its_end() -> None:
    one = searcher()
    ladder = play_match(M1, M1.start(), dict.fromkeys(Player, one), NODES)
    one.close()
    position = M1.start()
    for seen, report in zip(ladder.positions, ladder.search_reports, strict=True):
        assert seen == position
        position = M1.play(position, report.move)
    outcome = M1.outcome(position)
    if outcome is None:
        assert (ladder.winner, ladder.end_reason) == (None, REPETITION_DETAIL_PREFIX)
    else:
        assert (ladder.winner, ladder.end_reason) == (outcome.winner, outcome.reason_code)


def test_a_match_can_be_cut_short() -> None:
    one = searcher()
    ladder = play_match(M1, M1.start(), dict.fromkeys(Player, one), 50, max_plies=4)
    one.close()
    assert (len(ladder.positions), ladder.winner, ladder.end_reason) == (4, None, CUT_OFF_END_REASON)


def test_a_match_is_a_draw_when_a_position_occurs_for_the_third_time() -> None:
    one = searcher()
    ladder = play_match(M1, M1.start(), dict.fromkeys(Player, one), NODES)
    one.close()
    assert (ladder.winner, ladder.end_reason) == (None, REPETITION_DETAIL_PREFIX), (
        "a start that goes in circles is needed here"
    )
    last = M1.successor(ladder.positions[-1], ladder.search_reports[-1].move)
    places = [(each.armies, each.player) for each in (*ladder.positions, last)]
    assert places.count(places[-1]) == 3
    assert max(places[:-1].count(place) for place in places) == 2
