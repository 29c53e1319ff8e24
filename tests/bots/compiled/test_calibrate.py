from __future__ import annotations

import random
from typing import Any

from arena.bots.compiled.calibrate import CALIBRATION_MATCH_COUNT, calibrate_pruning, sample_positions
from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map


def test_the_tempo_and_the_spread_come_from_values_of_three_depths() -> None:
    game = Riskless(load_map("m2"))
    noise = {1: 0, 2: 0, 3: 30}
    requests: list[Any] = []

    def value(position: Any, depth: int) -> int:
        requests.append(position)
        sign = -1 if len(requests) // 3 % 2 else 1
        return 1000 + (140 if depth % 2 else -140) + sign * noise[depth]

    # values swing by 2 × 140 from depth to depth; at depth 3 they change by 30 more, up and down in turn
    measured = calibrate_pruning(game, value)
    assert measured is not None
    assert abs(measured.tempo - 140) <= 15
    assert measured.spread in (29, 30)


def test_positions_for_measuring_are_in_play_and_the_same_each_time() -> None:
    for game in (Riskless(load_map("m2")), TicTacToe()):
        found = list(sample_positions(game, random.Random(1)))
        assert len(found) >= CALIBRATION_MATCH_COUNT
        assert all(game.outcome(position) is None for position in found)
        assert found == list(sample_positions(game, random.Random(1)))


def test_a_game_too_short_to_measure_is_searched_exactly() -> None:
    game = TicTacToe()
    assert len(list(sample_positions(game, random.Random(1)))) <= 2 * CALIBRATION_MATCH_COUNT
    assert calibrate_pruning(game, lambda position, depth: 2_000_000) is None
    searcher = Searcher(game, weights_for(game, "features"), Settings(table_mb=1))
    exact = Searcher(game, weights_for(game, "features"), Settings(table_mb=1, exact=True))
    for depth, (one, other) in enumerate(
        zip(searcher.deepen(game.start()), exact.deepen(game.start()), strict=True)
    ):
        assert one.depth == other.depth == depth
        assert one.value == other.value
    searcher.close()
    exact.close()
