"""The value of a leaf computed from the position above it equals the estimate of the leaf's own position."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest

from arena.bots.compiled.cache import compile_kernel
from arena.bots.compiled.intrinsics import get, put
from arena.bots.compiled.kernel import PLAYING, UNSEEN
from arena.bots.compiled.riskless_kernel import (
    compile_game,
    count_army_planes,
    make_riskless_kernel,
    make_riskless_layout,
)
from arena.bots.compiled.riskless_leaves import LEAF_ONLY_FEATURES
from arena.bots.evaluators import riskless
from arena.games.riskless import Riskless
from tests.bots.compiled.positions import draw_random_weights, make_random_map, make_random_position


@cache
def probe(planes: int) -> Any:
    """Return a compiled function that values the position after each move in both ways, and returns the number of moves.

    For each move, the function writes the value by `foresee` and the estimate of the position itself to `out`.
    """
    kernel = make_riskless_kernel(planes)
    moves, play, status, estimate = kernel.moves, kernel.play, kernel.status, kernel.estimate
    survey: Any = kernel.survey
    foresee: Any = kernel.foresee
    words = make_riskless_layout(planes).position_words

    def call(rules: Any, mem: Any, out: Any) -> Any:
        count = moves(rules, mem, 0, 2 * words)
        survey(rules, mem, 0)
        for i in range(count):
            move = get(mem, 2 * words + i)
            put(out, 2 * i, foresee(rules, mem, 0, move))
            play(rules, mem, 0, words, move)
            estimated = -estimate(rules, mem, words) if status(rules, mem, words) == PLAYING else UNSEEN
            put(out, 2 * i + 1, estimated)
        return count

    return compile_kernel(call, f"probe-leaves{planes}")


def check(game: Riskless, rng: random.Random, weights: dict[str, int]) -> int:
    """Check the values after all moves of a random position, and return the number of moves."""
    compiled = compile_game(game, weights)
    assert compiled is not None
    planes = count_army_planes(game)
    words = compiled.pack(make_random_position(game, rng))
    mem = np.zeros(2 * make_riskless_layout(planes).position_words + compiled.move_count, np.int64)
    out = np.zeros(2 * compiled.move_count, np.int64)
    mem[: len(words)] = words
    count = int(probe(planes)(compiled.rules, mem, out))
    assert compiled.can_foresee == (not any(weights[name] for name in LEAF_ONLY_FEATURES))
    if compiled.can_foresee:
        foreseen, estimated = out[: 2 * count : 2], out[1 : 2 * count : 2]
        assert np.array_equal(foreseen, estimated), (game.map, weights)
    return count


@pytest.mark.parametrize("caps", [(1, 2, 7, 10, 15), (16, 31, 50, 63), (64, 100, 255)])
def test_incremental_leaf_values_equal_full_ones(caps: tuple[int, ...]) -> None:
    rng = random.Random(4)
    moves = 0
    for _ in range(500):
        weights = dict(draw_random_weights(rng, riskless.FEATURE_NAMES)) | dict.fromkeys(
            LEAF_ONLY_FEATURES, 0
        )
        for name in riskless.FEATURE_NAMES[1:]:
            weights[name] *= rng.random() < 0.7
        moves += check(Riskless(make_random_map(rng, 14, caps)), rng, weights)
    assert moves > 2000


def test_leaf_values_of_armies_alone_and_of_features_that_need_the_position() -> None:
    rng = random.Random(5)
    for _ in range(40):
        game = Riskless(make_random_map(rng, 10))
        check(game, rng, dict.fromkeys(riskless.FEATURE_NAMES, 0) | {"armies": 100})
        check(
            game,
            rng,
            dict.fromkeys(riskless.FEATURE_NAMES, 0) | {"armies": 100, rng.choice(LEAF_ONLY_FEATURES): 7},
        )
