"""The raw loop is plain alpha-beta: the reference's value, leftmost move and node count."""

from __future__ import annotations

import random

import numpy as np
import pytest

from arena.bots.compiled.catalogue import compile_game, weights_for
from arena.bots.compiled.plain import FRAMES, frame_words, make_plain, result
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.search.values import INFINITY, WIN, outcome_value
from arena.games.riskless import Armies, Riskless
from tests.bots.compiled.positions import random_map, random_position


class Reference:
    """Alpha-beta as everybody writes it, and how many nodes it enters."""

    def __init__(self, game: Riskless) -> None:
        self.game = game
        self.nodes = 0
        self.best: object = None

    def search(self, position: Armies, depth: int, distance: int, alpha: int, beta: int) -> int:
        self.nodes += 1
        outcome = self.game.outcome(position)
        sign = position.player.sign
        if outcome is not None:
            return sign * outcome_value(outcome, distance)
        if depth == 0:
            return 100 * sign * self.game.estimate(position)
        for move in self.game.moves(position):
            child = self.game.successor(position, move)
            value = -self.search(child, depth - 1, distance + 1, -beta, -alpha)
            if value > alpha:
                alpha = value
                if distance == 0:
                    self.best = move
                if alpha >= beta:
                    break
        return alpha


@pytest.mark.parametrize("caps", [(1, 2, 3, 7, 10, 15), (16, 63), (64, 100, 255)])
def test_value_move_and_nodes(caps: tuple[int, ...]) -> None:
    rng = random.Random(8)
    planes = {1: 4, 16: 6, 64: 8}[caps[0]]
    memory = np.zeros(FRAMES * frame_words(planes), np.int64)
    for _ in range(150):
        game = Riskless(random_map(rng, 8, caps))
        position = random_position(game, rng)
        compiled = compile_game(game, weights_for(game, "plain"))
        assert compiled is not None
        for depth in (1, 2, 4):
            reference = Reference(game)
            value = reference.search(position, depth, 0, -INFINITY, INFINITY)
            words = compiled.pack(position)
            memory[: len(words)] = words
            nodes = make_plain(planes)(memory, compiled.rules, compiled.plies_left(position), depth)
            found, move = result(memory, planes)
            assert (nodes, found, compiled.move(move)) == (reference.nodes, value, reference.best)
            assert abs(value) <= WIN


def test_the_whole_search_with_every_device_off_enters_the_same_nodes() -> None:
    rng = random.Random(9)
    off = Settings(
        exact=True,
        table=False,
        hints=False,
        promise=False,
        null_windows=False,
        table_mb=1,
    )
    for _ in range(40):
        game = Riskless(random_map(rng, 8))
        position = random_position(game, rng)
        searcher = Searcher(game, weights_for(game, "plain"), off)
        for depth in (1, 2, 4):
            reference = Reference(game)
            value = reference.search(position, depth, 0, -INFINITY, INFINITY)
            assert searcher.search(position, depth, -INFINITY, INFINITY) == (value, reference.nodes)
        searcher.close()
