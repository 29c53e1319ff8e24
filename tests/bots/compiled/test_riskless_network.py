"""A network's kernel computes the same estimates as the network in Python, for single positions and in a whole search."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest

from arena.bots.compiled.cache import compile_kernel
from arena.bots.compiled.intrinsics import put
from arena.bots.compiled.riskless_kernel import compile_game, count_army_planes, make_riskless_kernel
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.network import make_network_evaluator
from arena.games.core import Player
from arena.games.riskless import Riskless, RisklessPosition
from arena.maps.loader import load_map
from tests.bots.compiled.positions import make_random_map, make_random_position, minimax
from tests.bots.evaluators.networks import make_random_network


@cache
def probe(planes: int) -> Any:
    estimate = make_riskless_kernel(planes, has_network=True).estimate

    def call(rules: Any, mem: Any, out: Any) -> None:
        put(out, 0, estimate(rules, mem, 0))

    return compile_kernel(call, f"probe-riskless{planes}-network")


def check(game: Riskless, position: RisklessPosition, seed: int) -> None:
    network = make_random_network(seed)
    compiled = compile_game(game, network)
    assert compiled is not None
    assert not compiled.can_foresee
    mem, out = np.zeros(compiled.kernel.words, np.int64), np.zeros(1, np.int64)
    words = compiled.pack(position)
    mem[: len(words)] = words
    probe(count_army_planes(game))(compiled.rules, mem, out)
    assert out[0] == position.player.sign * make_network_evaluator(game, network)(position)


@pytest.mark.parametrize("caps", [(1, 2, 7, 10, 15), (16, 31, 50, 63), (64, 100, 255)])
def test_the_kernel_agrees_with_the_python_rules(caps: tuple[int, ...]) -> None:
    rng = random.Random(1)
    for seed in range(200):
        game = Riskless(make_random_map(rng, 12, caps))
        check(game, make_random_position(game, rng), seed)


def test_the_largest_map_and_the_largest_sums_fit() -> None:
    """The sum of the rows of 64 territories and of all roads does not overflow, even if every weight is the largest possible."""
    game = Riskless(load_map("grid:8x8"))
    most = game.map.armies_to_win // 32 - 1
    armies = tuple(most * (1, -1)[v % 2] for v in range(64))
    position = RisklessPosition(armies, Player.MAXIE, 0)
    for sign in (1, -1):
        network = make_random_network(1)
        network.hidden[:], network.output[:] = sign, 1
        compiled = compile_game(game, network)
        assert compiled is not None
        mem, out = np.zeros(compiled.kernel.words, np.int64), np.zeros(1, np.int64)
        words = compiled.pack(position)
        mem[: len(words)] = words
        probe(count_army_planes(game))(compiled.rules, mem, out)
        # Every share is 1, and there are four of them.
        wanted = 16 * 4 * 100 * game.map.armies_to_win / 16 if sign > 0 else 0
        assert out[0] == pytest.approx(wanted, rel=0.03)


@pytest.mark.slow
def test_an_exact_search_with_a_network_is_minimax() -> None:
    rng = random.Random(2)
    for seed in range(6):
        # one kernel, which takes ten seconds to compile
        game = Riskless(make_random_map(rng, 6, caps=(16, 31, 50)))
        position, network = make_random_position(game, rng), make_random_network(seed)
        searcher = Searcher(game, network, Settings(exact=True, table_mb=1))
        try:
            *_, report = searcher.deepen(position, max_depth=3)
        finally:
            searcher.close()
        assert (report.value, report.move) == minimax(
            game, position, report.depth, make_network_evaluator(game, network)
        )
