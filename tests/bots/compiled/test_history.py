"""Statistics of the selective search: histories of moves by player, and corrections of estimates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arena.bots.compiled.cache import compile_kernel
from arena.bots.compiled.history import (
    HISTORY_SCORE_LIMIT,
    find_histories,
    score_history,
    update_histories,
)
from arena.bots.compiled.memory_layout import FIRST_FRAME_OFFSET, Frame, MemorySizes, Register
from arena.games.riskless import Riskless
from arena.maps.loader import load_map

WORDS, MOVES = 4, 10
SIZES = MemorySizes(WORDS, MOVES)
NODE = FIRST_FRAME_OFFSET + WORDS


def _cut_off(mem: Any, move: Any) -> Any:
    update_histories(mem, NODE)
    return score_history(mem, find_histories(mem, NODE), move)


cut_off = compile_kernel(_cut_off, "test-history")


def make_memory(distance: int, root_player: int, searched_moves: list[int]) -> Any:
    """Return a memory with one node, whose last searched move caused a cutoff."""
    memory = np.zeros(SIZES.thread_words, np.int64)
    memory[Register.WIDTH] = MOVES
    memory[Register.HISTORY] = SIZES.history_offset
    memory[Register.ROOT_PLAYER] = root_player
    memory[NODE + Frame.DEPTH] = 8
    memory[NODE + Frame.DISTANCE] = distance
    memory[NODE + Frame.LIST] = SIZES.move_lists_offset
    memory[SIZES.move_lists_offset : SIZES.move_lists_offset + len(searched_moves)] = searched_moves
    memory[NODE + Frame.RANK] = len(searched_moves) - 1
    memory[NODE + Frame.MOVE] = searched_moves[-1]
    return memory


@pytest.mark.parametrize("root_player", [0, 1])
@pytest.mark.parametrize("distance", [2, 3])
def test_a_cutoff_changes_the_histories_of_its_player_only(root_player: int, distance: int) -> None:
    memory = make_memory(distance, root_player, [7, 3])
    cut_off(memory, 3)
    histories = memory[SIZES.history_offset : SIZES.corrections_offset].reshape(2, MOVES)
    player = (distance + root_player) % 2
    assert histories[player, 3] > 0 > histories[player, 7]
    assert np.count_nonzero(histories) == 2


def test_histories_stay_within_their_limit() -> None:
    memory = make_memory(2, 0, [7, 3])
    for _ in range(1_000):
        raised = cut_off(memory, 3)
    assert raised == HISTORY_SCORE_LIMIT
    assert cut_off(memory, 7) == -HISTORY_SCORE_LIMIT


def test_the_search_knows_the_player_at_the_root(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("italy"))
    searcher = make(game)
    position = game.start()
    for player in (0, 1):
        *_, last = searcher.deepen(position, max_depth=5)
        assert searcher._memories[0][Register.ROOT_PLAYER] == player
        position = game.successor(position, last.move)


def test_clear_forgets_the_statistics(make: Callable[..., Any]) -> None:
    game = Riskless(load_map("italy"))
    searcher = make(game)
    first = list(searcher.deepen(game.start(), max_depth=6))
    searcher.clear()
    assert list(searcher.deepen(game.start(), max_depth=6)) == first
