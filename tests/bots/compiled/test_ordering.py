"""The moves of a node are scored by the kernel's `score_move`, or by estimates at deep nodes of a selective search."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from arena.bots.compiled.cache import compile_kernel
from arena.bots.compiled.intrinsics import put
from arena.bots.compiled.memory_layout import FIRST_FRAME_OFFSET, FrameField, MemorySizes, SearchOption
from arena.bots.compiled.ordering import MIN_DEPTH_TO_ESTIMATE_MOVES, MoveOrdering
from arena.bots.compiled.riskless_kernel import compile_game, make_riskless_kernel
from arena.bots.evaluators import riskless
from arena.bots.evaluators.linear import make_linear_evaluator
from arena.bots.search.search_values import WIN_VALUE
from arena.games.riskless import Riskless, RisklessPosition
from tests.bots.compiled.positions import draw_random_weights, make_random_map, make_random_position


@cache
def compile_order() -> Any:
    """Return a compiled function that writes the moves of the node in frame 0 to its list, in search order."""
    kernel = make_riskless_kernel(4)
    ordering = MoveOrdering(kernel)
    score_moves, select_best_move = ordering.score_moves, ordering.select_best_move
    node, moves = FIRST_FRAME_OFFSET + kernel.words, kernel.moves

    def call(mem: Any, shared: Any, rules: Any, list_at: Any) -> Any:
        count = moves(rules, mem, FIRST_FRAME_OFFSET, list_at)
        put(mem, node + FrameField.MOVE_LIST_OFFSET, list_at)
        put(mem, node + FrameField.MOVE_COUNT, count)
        score_moves(mem, shared, rules, FIRST_FRAME_OFFSET)
        for i in range(count):
            select_best_move(mem, node, i)
        return count

    return compile_kernel(call, "order-riskless4")


def compute_score(
    game: Riskless, after: RisklessPosition, evaluate: Callable[[RisklessPosition], int]
) -> int:
    """Return the score of a move that leads to `after`, for Maxie."""
    outcome = game.outcome(after)
    if outcome is None or evaluate == game.estimate:
        return evaluate(after)
    return 0 if outcome.winner is None else WIN_VALUE * outcome.winner.sign


@pytest.mark.parametrize(
    ("depth", "is_selective", "is_estimated"),
    [
        (MIN_DEPTH_TO_ESTIMATE_MOVES, True, True),
        (MIN_DEPTH_TO_ESTIMATE_MOVES - 1, True, False),
        (MIN_DEPTH_TO_ESTIMATE_MOVES, False, False),
    ],
)
def test_only_deep_nodes_of_selective_searches_are_ordered_by_estimates(
    depth: int, is_selective: bool, is_estimated: bool
) -> None:
    rng = random.Random(1)
    for _ in range(50):
        game = Riskless(make_random_map(rng))
        weights = draw_random_weights(rng, riskless.FEATURE_NAMES)
        features = riskless.make_feature_function(game)
        evaluator = make_linear_evaluator(features, riskless.FEATURE_NAMES, weights)
        position = make_random_position(game, rng)
        if position.ply + 1 >= game.map.ply_limit:
            continue  # the kernel does not know the ply limit
        compiled = compile_game(game, weights)
        assert compiled is not None
        sizes = MemorySizes(compiled.kernel.words, compiled.move_count)
        mem, shared = (
            np.zeros(sizes.thread_memory_words, np.int64),
            np.zeros(SearchOption.TOTAL_WORDS, np.int64),
        )
        words = compiled.pack(position)
        mem[FIRST_FRAME_OFFSET : FIRST_FRAME_OFFSET + len(words)] = words
        mem[FIRST_FRAME_OFFSET + len(words) + FrameField.DEPTH] = depth
        shared[SearchOption.ORDER_BY_SCORE] = 1
        shared[SearchOption.EXAMINED_MOVES_AT_DEPTH_1] = 3 * is_selective
        list_at = sizes.move_lists_offset
        count = int(compile_order()(mem, shared, compiled.rules, list_at))
        ordered = [compiled.number_to_move(int(number)) for number in mem[list_at : list_at + count]]
        evaluate = evaluator if is_estimated else game.estimate
        successors = {move: game.successor(position, move) for move in game.moves(position)}
        scores = {
            move: position.player.sign * compute_score(game, after, evaluate)
            for move, after in successors.items()
        }
        expected = sorted(successors, key=scores.__getitem__, reverse=True)
        assert ordered == expected, (game.map, position)
