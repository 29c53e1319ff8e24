"""bots.compiled.jamboree: split points under load."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bots.compiled.catalogue import weights_for
from bots.compiled.searcher import Searcher, Settings
from games.riskless import Riskless
from maps.loader import load_map


@pytest.fixture
def make() -> Iterator[Callable[..., Searcher[Any, Any]]]:
    made: list[Searcher[Any, Any]] = []

    def build(game: Any, evaluator: str = "features", **settings: Any) -> Searcher[Any, Any]:
        made.append(Searcher(game, weights_for(game, evaluator), Settings(**{"table_mb": 4, **settings})))
        return made[-1]

    yield build
    for searcher in made:
        searcher.close()


@pytest.mark.parametrize("form", [{}, {"course": True, "prune": 0.5}])
def test_threads_find_what_one_finds_where_split_points_are_used(
    make: Callable[..., Any], form: dict[str, Any]
) -> None:
    game = Riskless(load_map("m2"))
    rng = random.Random(5)
    one = make(game, exact=True)
    many = make(game, exact=True, threads=3, split_depth=2, **form)
    for _ in range(4):
        position = game.start()
        for _ in range(10):
            position = game.successor(position, rng.choice(list(game.moves(position))))
        expected = list(one.deepen(position, max_depth=7))[-1]
        found = list(many.deepen(position, max_depth=7))[-1]
        assert (found.depth, found.value, found.move) == (7, expected.value, expected.move)
