"""The functions of the Riskless kernel agree with the rules and the evaluator in Python."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest

from arena.bots.compiled.availability import has_compiled_search
from arena.bots.compiled.cache import compile_kernel
from arena.bots.compiled.intrinsics import put
from arena.bots.compiled.kernel import DRAW, LOST, PLAYING, WON
from arena.bots.compiled.riskless_kernel import (
    compile_game,
    count_army_planes,
    make_riskless_kernel,
    make_riskless_layout,
)
from arena.bots.evaluators import riskless
from arena.bots.evaluators.linear import make_linear_evaluator
from arena.games.core import Outcome, Player
from arena.games.riskless import Riskless, RisklessPosition
from tests.bots.compiled.positions import draw_random_weights, make_random_map, make_random_position

MOVES_AT = 64


@cache
def probe(planes: int) -> Any:
    """Return a compiled function that calls the kernel's status, estimate and moves, and plays one move."""
    game = make_riskless_kernel(planes)
    moves, play, status, estimate, score_move = (
        game.moves,
        game.play,
        game.status,
        game.estimate,
        game.score_move,
    )

    def call(rules: Any, mem: Any, move: Any, out: Any) -> None:
        put(out, 0, status(rules, mem, 0))
        put(out, 1, estimate(rules, mem, 0))
        put(out, 2, moves(rules, mem, 0, MOVES_AT))
        play(rules, mem, 0, 32, move)
        put(out, 3, score_move(rules, mem, 0, move))

    return compile_kernel(call, f"probe-riskless{planes}")


def compute_status(outcome: Outcome | None, mover: Player) -> int:
    if outcome is None:
        return PLAYING
    if outcome.winner is None:
        return DRAW
    return WON if outcome.winner is mover else LOST


def check(game: Riskless, position: RisklessPosition, rng: random.Random) -> None:
    weights = draw_random_weights(rng, riskless.FEATURE_NAMES)
    compiled = compile_game(game, weights)
    assert compiled is not None
    planes = count_army_planes(game)
    legal = game.moves(position)
    move = rng.choice(legal)
    mem, out = np.zeros(MOVES_AT + compiled.move_count, np.int64), np.zeros(4, np.int64)
    words = compiled.pack(position)
    mem[: len(words)] = words
    probe(planes)(compiled.rules, mem, compiled.move_to_number(move), out)
    evaluate = make_linear_evaluator(riskless.make_feature_function(game), riskless.FEATURE_NAMES, weights)
    assert out[0] == PLAYING
    assert out[1] == position.player.sign * evaluate(position)
    listed = [compiled.number_to_move(int(number)) for number in mem[MOVES_AT : MOVES_AT + out[2]]]
    assert listed == list(legal)
    after = game.successor(position, move)
    kept = make_riskless_layout(planes).total_armies_offset + 1
    assert np.array_equal(mem[32 : 32 + kept], compiled.pack(after)[:kept])
    assert out[3] == 100 * position.player.sign * game.estimate(after)
    probe(planes)(compiled.rules, np.concatenate([compiled.pack(after), mem]), 0, out)
    outcome = game.outcome(after) if after.ply < game.map.ply_limit else None
    if after.ply < game.map.ply_limit:
        assert out[0] == compute_status(outcome, after.player)


@pytest.mark.parametrize("caps", [(1, 2, 7, 10, 15), (16, 31, 50, 63), (64, 100, 255)])
def test_kernel_functions_agree_with_the_rules_and_the_features(caps: tuple[int, ...]) -> None:
    rng = random.Random(1)
    for _ in range(500):
        game = Riskless(make_random_map(rng, 12, caps))
        check(game, make_random_position(game, rng), rng)


def test_the_largest_maps() -> None:
    rng = random.Random(2)
    game = Riskless(make_random_map(rng, 12))
    found = 0
    while found < 20:
        map = make_random_map(rng, 64)
        if map.territory_count < 60:
            continue
        found += 1
        game = Riskless(map)
        check(game, make_random_position(game, rng), rng)


def test_a_cap_above_255_does_not_fit_the_kernel() -> None:
    assert not has_compiled_search(Riskless(make_random_map(random.Random(3), 5, caps=(256,))))
