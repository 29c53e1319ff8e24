"""Kernels of games of somebody's own: Connect Four's against plain minimax, and what is no kernel."""

from __future__ import annotations

import random
from typing import Any

import pytest

from testkit.tools import skip_without

skip_without("numba")

from arena.bots.compiled.availability import has_compiled_search, has_custom_kernel  # noqa: E402
from arena.bots.compiled.catalogue import compile_game, weights_for  # noqa: E402 - the extra is there
from arena.bots.compiled.searcher import Searcher, Settings  # noqa: E402
from arena.bots.evaluators.catalogue import evaluator_for  # noqa: E402
from arena.games.core import BadGame, Game  # noqa: E402
from arena.games.hexapawn import Hexapawn  # noqa: E402
from arena.games.loading import load_game_class_from_file  # noqa: E402
from arena.lab.variants import load_map_variant  # noqa: E402
from arena.maps.loader import load_map  # noqa: E402
from tests.bots.compiled.positions import minimax  # noqa: E402
from tests.games.own import EXAMPLES, nim  # noqa: E402
from tests.games.setups import random_match  # noqa: E402

FOUR: Game[Any, Any] = load_game_class_from_file(EXAMPLES / "connect4.py", "")()
CAPITALS: Any = load_game_class_from_file(EXAMPLES / "capitals_kernel.py", "")
EXACT: dict[str, Any] = {"exact": True, "table_mb": 1, "split_depth": 2}


def test_a_game_that_brings_a_kernel_fits() -> None:
    assert has_compiled_search(FOUR)
    assert has_custom_kernel(FOUR)
    assert not has_compiled_search(Hexapawn())
    assert compile_game(Hexapawn(), {}) is None


def test_the_numbers_of_moves_ascend_in_move_order() -> None:
    compiled = compile_game(FOUR, {})
    assert compiled is not None
    assert compiled.kernel.name.startswith("own-connect4-")
    for position in random_match(FOUR, 3).positions:
        numbers = [compiled.move_to_number(move) for move in FOUR.moves(position)]
        assert numbers == sorted(numbers)
        assert [compiled.number_to_move(number) for number in numbers] == list(FOUR.moves(position))


@pytest.mark.parametrize("threads", [1, 2])
def test_connect_four(threads: int) -> None:
    """The value and the move of the readable minimax, at each depth, from positions of random matches."""
    rng = random.Random(4)
    evaluate = evaluator_for(FOUR)
    searcher = Searcher(FOUR, weights_for(FOUR, "plain"), Settings(**EXACT, threads=threads))
    for seed in range(12):
        positions = random_match(FOUR, seed).positions
        position = positions[rng.randrange(len(positions))]
        if FOUR.outcome(position):
            continue
        for report in searcher.deepen(position, max_depth=4):
            if report.depth:
                assert (report.value, report.move) == minimax(FOUR, position, report.depth, evaluate)
    searcher.close()


@pytest.mark.parametrize(("name", "depth"), [("m1", 3), ("italy", 2), ("world:cap=1000", 2)])
def test_capitals(name: str, depth: int) -> None:
    """The value and the move of the readable minimax, at each depth, from positions of random matches."""
    game = CAPITALS(load_map_variant(name))
    evaluate = evaluator_for(game)
    searcher = Searcher(game, weights_for(game, "plain"), Settings(**EXACT))
    for seed in range(4):
        positions = random_match(game, seed).positions
        for report in searcher.deepen(
            position := positions[len(positions) * (seed + 1) // 6], max_depth=depth
        ):
            if report.depth:
                assert (report.value, report.move) == minimax(game, position, report.depth, evaluate)
    searcher.close()


def test_a_map_of_over_64_territories_has_no_kernel_of_capitals() -> None:
    assert compile_game(CAPITALS(load_map("ring:65")), {}) is None
    assert compile_game(CAPITALS(load_map("ring:64")), {}) is not None


def test_an_invalid_kernel_is_refused(tmp_path: Any) -> None:
    file = nim(tmp_path, ("    size = 9\n", "    size = 9\n\n    def compiled(self):\n        return 5\n"))
    with pytest.raises(BadGame, match=r"nim: compiled.. must return a CompiledGame .* not 5"):
        compile_game(load_game_class_from_file(file, "")(), {})
