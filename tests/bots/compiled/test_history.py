"""Statistics of the selective search: histories of moves by player, and corrections of estimates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arena.bots.compiled.cache import compile_kernel
from arena.bots.compiled.history import (
    MAX_HISTORY_SCORE,
    EstimateCorrections,
    get_histories_offset,
    get_history_score,
    update_histories,
)
from arena.bots.compiled.intrinsics import put
from arena.bots.compiled.memory_layout import (
    FIRST_FRAME_OFFSET,
    FrameField,
    MemorySizes,
    SearchOption,
    ThreadField,
)
from arena.bots.compiled.riskless_kernel import make_riskless_kernel
from arena.bots.compiled.table import EXACT, LOWER, UPPER
from arena.bots.search.search_values import ESTIMATE_LIMIT
from arena.games.riskless import Riskless
from arena.maps.loader import load_map

WORDS, MOVES = 4, 10
SIZES = MemorySizes(WORDS, MOVES)
NODE = FIRST_FRAME_OFFSET + WORDS


def _cut_off(mem: Any, move: Any) -> Any:
    update_histories(mem, NODE)
    return get_history_score(mem, get_histories_offset(mem, NODE), move)


cut_off = compile_kernel(_cut_off, "test-history")


def make_memory(distance: int, root_player: int, searched_moves: list[int]) -> Any:
    """Return a memory with one node, whose last searched move caused a cutoff."""
    memory = np.zeros(SIZES.thread_memory_words, np.int64)
    memory[ThreadField.MOVE_LIST_WORDS] = MOVES
    memory[ThreadField.HISTORIES_OFFSET] = SIZES.histories_offset
    memory[ThreadField.ROOT_PLAYER] = root_player
    memory[NODE + FrameField.DEPTH] = 8
    memory[NODE + FrameField.DISTANCE_FROM_ROOT] = distance
    memory[NODE + FrameField.MOVE_LIST_OFFSET] = SIZES.move_lists_offset
    memory[SIZES.move_lists_offset : SIZES.move_lists_offset + len(searched_moves)] = searched_moves
    memory[NODE + FrameField.MOVE_RANK] = len(searched_moves) - 1
    memory[NODE + FrameField.CURRENT_MOVE] = searched_moves[-1]
    return memory


KERNEL = make_riskless_kernel(4)
CORRECTED_SIZES = MemorySizes(KERNEL.words, MOVES)
CORRECTED_NODE = FIRST_FRAME_OFFSET + KERNEL.words
SPREAD, ESTIMATE, DEPTH = 500, 100, 6


def _make_correct() -> Any:
    corrections = EstimateCorrections(KERNEL)
    update, correct_leaf_estimate = corrections.update_correction, corrections.correct_leaf_estimate
    get_corrected_estimate = corrections.get_corrected_estimate

    def correct(mem: Any, shared: Any, value: Any, bound: Any, out: Any) -> None:
        update(mem, shared, FIRST_FRAME_OFFSET, value, bound)
        put(out, 0, get_corrected_estimate(mem, FIRST_FRAME_OFFSET))
        put(out, 1, correct_leaf_estimate(mem, shared, FIRST_FRAME_OFFSET))

    return compile_kernel(correct, "test-corrections")


correct = _make_correct()


def learn_correction(value: int, bound: int, *, plies_left: int = 100, times: int = 1_000) -> tuple[int, int]:
    """Return the correction of an estimate and that of a leaf after `times` equal values of searches."""
    memory, out = np.zeros(CORRECTED_SIZES.thread_memory_words, np.int64), np.zeros(2, np.int64)
    shared = np.zeros(CORRECTED_SIZES.count_shared_memory_words(1), np.int64)
    memory[ThreadField.CORRECTIONS_OFFSET] = CORRECTED_SIZES.corrections_offset
    memory[CORRECTED_NODE + FrameField.ESTIMATE] = ESTIMATE
    memory[CORRECTED_NODE + FrameField.DEPTH] = DEPTH
    shared[SearchOption.IS_SELECTIVE], shared[SearchOption.VALUE_SPREAD] = 1, SPREAD
    shared[SearchOption.PLIES_LEFT_AT_ROOT] = plies_left
    for _ in range(times):
        correct(memory, shared, value, bound, out)
    return int(out[0]) - ESTIMATE, int(out[1])


def test_a_correction_approaches_the_difference_between_value_and_estimate() -> None:
    first, _ = learn_correction(ESTIMATE + 200, EXACT, times=1)
    assert 0 < first < 200
    assert learn_correction(ESTIMATE + 200, EXACT) == pytest.approx((200, 100), abs=1)
    assert learn_correction(ESTIMATE - 200, EXACT) == pytest.approx((-200, -100), abs=1)


def test_a_correction_is_at_most_three_spreads() -> None:
    assert learn_correction(ESTIMATE + 10 * SPREAD, EXACT)[0] == pytest.approx(3 * SPREAD, abs=1)


@pytest.mark.parametrize(("bound", "sign"), [(LOWER, 1), (UPPER, -1)])
def test_a_bound_that_agrees_with_the_estimate_corrects_nothing(bound: int, sign: int) -> None:
    assert learn_correction(ESTIMATE - sign * 200, bound) == (0, 0)
    assert learn_correction(ESTIMATE + sign * 200, bound)[0] == pytest.approx(sign * 200, abs=1)


@pytest.mark.parametrize(
    ("value", "plies_left"), [(ESTIMATE_LIMIT, 100), (ESTIMATE + 200, DEPTH)], ids=["win", "ply limit"]
)
def test_wins_and_searches_to_the_ply_limit_correct_nothing(value: int, plies_left: int) -> None:
    assert learn_correction(value, EXACT, plies_left=plies_left) == (0, 0)


def test_corrections_are_learned_without_moves_from_the_table(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("italy"))
    searcher = make(game, table=False)
    list(searcher.deepen(game.start(), max_depth=5))
    sizes, memory = searcher._memory_sizes, searcher._memories[0]
    assert np.any(memory[sizes.corrections_offset : sizes.thread_memory_words])


@pytest.mark.parametrize("root_player", [0, 1])
@pytest.mark.parametrize("distance", [2, 3])
def test_a_cutoff_changes_the_histories_of_its_player_only(root_player: int, distance: int) -> None:
    memory = make_memory(distance, root_player, [7, 3])
    cut_off(memory, 3)
    histories = memory[SIZES.histories_offset : SIZES.corrections_offset].reshape(2, MOVES)
    player = (distance + root_player) % 2
    assert histories[player, 3] > 0 > histories[player, 7]
    assert np.count_nonzero(histories) == 2


def test_histories_stay_within_their_limit() -> None:
    memory = make_memory(2, 0, [7, 3])
    for _ in range(1_000):
        raised = cut_off(memory, 3)
    assert raised == MAX_HISTORY_SCORE
    assert cut_off(memory, 7) == -MAX_HISTORY_SCORE


def test_the_search_knows_the_player_at_the_root(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("italy"))
    searcher = make(game)
    position = game.start()
    for player in (0, 1):
        *_, last = searcher.deepen(position, max_depth=5)
        assert searcher._memories[0][ThreadField.ROOT_PLAYER] == player
        position = game.successor(position, last.move)


def test_clear_forgets_the_statistics(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("italy"))
    searcher = make(game)
    first = list(searcher.deepen(game.start(), max_depth=6))
    searcher.clear()
    assert list(searcher.deepen(game.start(), max_depth=6)) == first
