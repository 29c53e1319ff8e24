"""The selective search: its measurements before the first search, and positions in which it must skip nothing."""

from __future__ import annotations

import dataclasses
import random

import pytest

from arena.bots.compiled.calibrate import sample_positions
from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.memory_layout import SearchOption
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.compiled.selective import MIN_LATE_MOVE_REDUCTION_DEPTH
from arena.bots.evaluators import riskless
from arena.bots.evaluators.linear import make_linear_evaluator
from arena.bots.search.search_values import ESTIMATE_LIMIT, INFINITY, WIN_VALUE
from arena.games.riskless import Riskless
from arena.maps.loader import load_map
from tests.bots.compiled.positions import draw_random_weights, make_random_map, make_random_position, minimax


@pytest.mark.parametrize("map", ["m2", "usa", "world"])
def test_the_measured_tempo_removes_the_swing_of_the_values(map: str) -> None:
    game = Riskless(load_map(map))
    swings = []
    for settings in (Settings(table_mb=4), Settings(table_mb=4, exact=True)):
        searcher = Searcher(game, weights_for(game, "features"), settings)
        swing = 0
        for position in list(sample_positions(game, random.Random(7)))[::4]:
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
        map = make_random_map(rng, 7)
        game = Riskless(map)
        weights = draw_random_weights(rng, riskless.FEATURE_NAMES)
        evaluate = make_linear_evaluator(
            riskless.make_feature_function(game), riskless.FEATURE_NAMES, weights
        )
        searcher = Searcher(game, weights, Settings(table_mb=1))
        for _ in range(3):
            position = make_random_position(game, rng)._replace(ply=map.ply_limit - rng.randint(1, 5))
            *_, last = searcher.deepen(position)
            expected, _ = minimax(game, position, map.ply_limit - position.ply, evaluate)
            assert last.value == expected, (map, position)
        searcher.close()


def test_a_win_beyond_the_ply_limit_is_not_used() -> None:
    """The table has deep entries of the positions after each move, from searches that were far from the limit."""
    rng = random.Random(1)
    late_win_count = 0
    for _ in range(300):
        map = make_random_map(rng, 8, caps=(3, 7, 15))
        early = make_random_position(Riskless(map), rng)._replace(ply=0)
        plies_left = rng.randint(7, 9)
        game = Riskless(dataclasses.replace(map, ply_limit=30 + plies_left))
        weights = weights_for(game, "features")
        searcher = Searcher(game, weights, Settings(table_mb=1))
        for move in game.moves(early):
            child = game.successor(early, move)
            if game.outcome(child) is None:
                *_, last = searcher.deepen(child, max_depth=18, max_nodes=20_000)
                late_win_count += ESTIMATE_LIMIT < abs(last.value) < WIN_VALUE - plies_left
        late = early._replace(ply=30)
        exact = Searcher(game, weights, Settings(table_mb=1, exact=True))
        expected, _ = exact.search(late, plies_left, -INFINITY, INFINITY)
        for depth in range(6, plies_left):
            for alpha in (-2_000, -1, 2_000):
                value, _ = searcher.search(late, depth, alpha, alpha + 1)
                assert _winner(value) in (0, _winner(expected)), (game.map, late, depth, alpha)
        searcher.close()
        exact.close()
    assert late_win_count >= 10


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("plies_left", "is_before_limit"), [(6, False), (7, True)])
def test_only_a_selective_search_uses_deeper_entries_that_ended_before_the_ply_limit(
    plies_left: int, is_before_limit: bool, exact: bool
) -> None:
    game = Riskless(dataclasses.replace(load_map("italy"), ply_limit=40))
    searcher = Searcher(game, weights_for(game, "features"), Settings(table_mb=4, exact=exact))
    searcher.warm_up()
    if not exact:
        searcher._shared[SearchOption.VALUE_SPREAD] = 1_000_000  # no node is left because of an estimate
    start = game.start()
    children = [game.successor(start, move) for move in game.moves(start)]
    for child in children:
        searcher.search(child._replace(ply=0), 5, -INFINITY, INFINITY)
    _, nodes = searcher.search(start._replace(ply=40 - plies_left), 3, -INFINITY, INFINITY)
    # A child is entered once, or twice if its null window fails high. Otherwise its own moves are searched.
    assert (nodes <= 1 + 2 * len(children)) == (is_before_limit and not exact)
    searcher.close()


def _winner(value: int) -> int:
    return (value > ESTIMATE_LIMIT) - (value < -ESTIMATE_LIMIT)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_win_or_loss_that_a_selective_search_reports_is_proven(threads: int) -> None:
    rng = random.Random(9)
    decided_count = 0
    for _ in range(60):
        game = Riskless(make_random_map(rng, 8, caps=(3, 7, 15)))
        weights = weights_for(game, "features")
        selective = Searcher(game, weights, Settings(table_mb=1, threads=threads))
        exact = Searcher(game, weights, Settings(table_mb=1, exact=True))
        position = make_random_position(game, rng)
        *_, last = selective.deepen(position, max_depth=9, max_nodes=200_000)
        if last.is_depth_finished and abs(last.value) > ESTIMATE_LIMIT:
            decided_count += 1
            *_, expected = exact.deepen(position, max_depth=WIN_VALUE - abs(last.value))
            assert _winner(expected.value) == _winner(last.value), (game.map, position)
        selective.close()
        exact.close()
    assert decided_count >= 10


def test_shallower_searches_settle_many_nodes_of_a_deep_search() -> None:
    """Depth 9 takes 42 times as many nodes as depth 5 on these positions; without ProbCut, it takes 62 times as many."""
    game = Riskless(load_map("italy"))
    searcher = Searcher(game, weights_for(game, "features"), Settings(table_mb=16))
    searcher.warm_up()
    searcher._shared[SearchOption.EXAMINED_MOVES_AT_DEPTH_1] = 0  # late moves are neither skipped nor reduced
    nodes = dict.fromkeys((5, 9), 0)
    for position in list(sample_positions(game, random.Random(7)))[::8]:
        for depth in nodes:
            searcher.clear()
            *_, last = searcher.deepen(position, max_depth=depth)
            nodes[depth] += last.nodes
    searcher.close()
    assert nodes[9] < 52 * nodes[5]


def test_late_moves_are_searched_less_deep() -> None:
    game = Riskless(load_map("world"))
    nodes = {}
    for moves_per_ply in (0, 1_000):
        searcher = Searcher(game, weights_for(game, "features"), Settings(table_mb=4))
        searcher.warm_up()
        # more moves than any node has, so that none are skipped; with 0, none are reduced either
        searcher._shared[SearchOption.EXAMINED_MOVES_AT_DEPTH_1] = moves_per_ply
        nodes[moves_per_ply] = [report.nodes for report in searcher.deepen(game.start(), max_depth=8)]
        searcher.close()
    assert nodes[1_000][:MIN_LATE_MOVE_REDUCTION_DEPTH] == nodes[0][:MIN_LATE_MOVE_REDUCTION_DEPTH]
    assert 2 * nodes[1_000][-1] < nodes[0][-1]


def test_the_exact_mode_measures_nothing() -> None:
    game = Riskless(load_map("m2"))
    searcher = Searcher(game, weights_for(game, "features"), Settings(table_mb=1, exact=True))
    searcher.warm_up()
    for option in (
        SearchOption.TEMPO_VALUE,
        SearchOption.VALUE_SPREAD,
        SearchOption.IS_SELECTIVE,
        SearchOption.EXAMINED_MOVES_AT_DEPTH_1,
    ):
        assert searcher._shared[option] == 0
    searcher.close()


def test_the_first_search_with_a_window_measures_too() -> None:
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
