"""What the selective mode measures before it plays, and where it leaves nothing out."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from bots.compiled.calibrate import WALKS, calibrate, walked
from bots.compiled.catalogue import weights_for
from bots.compiled.layout import Option
from bots.compiled.searcher import Searcher, Settings
from bots.evaluators import riskless
from bots.evaluators.linear import weighted
from games.riskless import Riskless
from games.tictactoe import TicTacToe
from maps.loader import load_map
from tests.bots.compiled.positions import minimax, random_map, random_position, some_weights


def test_the_tempo_is_a_quarter_of_the_second_difference() -> None:
    game = Riskless(load_map("m2"))
    noise = {1: 0, 2: 30, 3: 0}
    asked: list[Any] = []

    def value(position: Any, depth: int) -> int:
        asked.append(position)
        sign = -1 if len(asked) // 3 % 2 else 1
        return 1000 + (140 if depth % 2 else -140) + sign * noise[depth]

    # who moved last is better off by 2 × 140; every second position moves by 30 up, every other down
    measured = calibrate(game, value)
    assert measured is not None
    assert abs(measured.tempo - 140) <= 15
    assert measured.spread in (29, 30)


def test_positions_for_measuring_are_in_play_and_the_same_each_time() -> None:
    for game in (Riskless(load_map("m2")), TicTacToe()):
        found = list(walked(game, random.Random(1)))
        assert len(found) >= WALKS
        assert all(game.outcome(position) is None for position in found)
        assert found == list(walked(game, random.Random(1)))


def test_a_game_too_short_to_measure_is_searched_exactly() -> None:
    game = TicTacToe()
    assert len(list(walked(game, random.Random(1)))) <= 2 * WALKS
    assert calibrate(game, lambda position, depth: 2_000_000) is None
    searcher = Searcher(game, weights_for(game, "features"), Settings(table_mb=1))
    exact = Searcher(game, weights_for(game, "features"), Settings(table_mb=1, exact=True))
    for depth, (one, other) in enumerate(
        zip(searcher.deepen(game.start()), exact.deepen(game.start()), strict=True)
    ):
        assert one.depth == other.depth == depth
        assert one.value == other.value
    searcher.close()
    exact.close()


@pytest.mark.parametrize("map", ["m2", "usa", "world"])
def test_the_measured_tempo_takes_the_swing_out_of_the_values(map: str) -> None:
    game = Riskless(load_map(map))
    swings = []
    for settings in (Settings(table_mb=4), Settings(table_mb=4, exact=True)):
        searcher = Searcher(game, weights_for(game, "features"), settings)
        swing = 0
        for position in list(walked(game, random.Random(7)))[::4]:
            searcher.clear()
            values = [report.value for report in searcher.deepen(position, max_depth=4)][1:]
            swing += sum(abs(a - 2 * b + c) for a, b, c in zip(values, values[1:], values[2:], strict=False))
        swings.append(swing)
        searcher.close()
    selective, exact = swings
    assert 2 * selective < exact


def test_nothing_is_left_out_of_a_search_to_the_ply_limit() -> None:
    rng = random.Random(3)
    for _ in range(150):
        map = random_map(rng, 7)
        game = Riskless(map)
        weights = some_weights(rng, riskless.NAMES)
        evaluate = weighted(riskless.features(game), riskless.NAMES, weights)
        searcher = Searcher(game, weights, Settings(table_mb=1))
        for _ in range(3):
            position = replace(random_position(game, rng), ply=map.ply_limit - rng.randint(1, 5))
            *_, last = searcher.deepen(position)
            expected, _ = minimax(game, position, map.ply_limit - position.ply, evaluate)
            assert last.value == expected, (map, position)
        searcher.close()


def test_the_exact_mode_measures_nothing() -> None:
    game = Riskless(load_map("m2"))
    searcher = Searcher(game, weights_for(game, "features"), Settings(table_mb=1, exact=True))
    searcher.warm_up()
    for option in (Option.TEMPO, Option.SPREAD, Option.SETTLE, Option.LATE, Option.REDUCE):
        assert searcher._shared[option] == 0
    searcher.close()


def test_a_search_with_a_window_is_measured_for_like_any_other() -> None:
    game = Riskless(load_map("m2"))
    one = Searcher(game, weights_for(game, "features"), Settings(table_mb=1))
    other = Searcher(game, weights_for(game, "features"), Settings(table_mb=1))
    other.warm_up()
    for depth in range(1, 5):
        other.clear()
        one.clear()
        assert one.search(game.start(), depth, -50, 50) == other.search(game.start(), depth, -50, 50)
    one.close()
    other.close()
