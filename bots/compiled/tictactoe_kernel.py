"""Tic-tac-toe for the compiled searches. A position is two words of nine bits, first the marks of the player to move."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, lowest_bit, popcount, put
from arena.bots.compiled.kernel import DRAW, LOST, PLAYING, CompiledGame, FeatureWeights, Kernel, Words
from arena.bots.evaluators.tictactoe import FEATURE_NAMES
from arena.bots.search.search_values import ESTIMATE_LIMIT
from arena.games.tictactoe import MARK_BY_PLAYER, WINNING_LINES, TicTacToe, TicTacToePosition

_WINNING_LINE_COUNT = len(WINNING_LINES)
_FULL_BOARD_MASK = (1 << 9) - 1


def compile_game(game: TicTacToe, weights: FeatureWeights) -> CompiledGame:
    """Return the game in the form that its kernel (compiled functions) reads."""

    def pack(position: TicTacToePosition) -> Words:
        own = game.player(position)
        masks = [
            sum(1 << cell for cell, mark in enumerate(position.cells) if mark == MARK_BY_PLAYER[player])
            for player in (own, own.opponent)
        ]
        return np.array(masks, np.int64)

    def plies_left(position: TicTacToePosition) -> int:
        return 9 - game.ply(position)

    lines = [sum(1 << cell for cell in line) for line in WINNING_LINES]
    rules = np.array(lines + [weights[name] for name in FEATURE_NAMES], np.int64)
    return CompiledGame(make_tictactoe_kernel(), rules, 9, pack, plies_left, int, int, observed_value_count=9)


@cache
def make_tictactoe_kernel() -> Kernel:
    """Return the kernel (compiled functions) of tic-tac-toe."""

    @inlined
    def moves(_rules: Any, mem: Any, pos: Any, out: Any) -> Any:
        empty_cells = ~(get(mem, pos) | get(mem, pos + 1)) & _FULL_BOARD_MASK
        count = 0
        while empty_cells != 0:
            put(mem, out + count, lowest_bit(empty_cells))
            empty_cells &= empty_cells - 1
            count += 1
        return count

    @inlined
    def play(_rules: Any, mem: Any, pos: Any, out: Any, move: Any) -> None:
        put(mem, out + 1, get(mem, pos) | (1 << move))
        put(mem, out, get(mem, pos + 1))

    @inlined
    def status(rules: Any, mem: Any, pos: Any) -> Any:
        foe = get(mem, pos + 1)
        for line in range(_WINNING_LINE_COUNT):
            if foe & get(rules, line) == get(rules, line):
                return LOST
        return DRAW if get(mem, pos) | foe == _FULL_BOARD_MASK else PLAYING

    @inlined
    def score_lines(rules: Any, own: Any, foe: Any) -> Any:
        value = 0
        for line in range(_WINNING_LINE_COUNT):
            mask = get(rules, line)
            if foe & mask == 0:
                marks = popcount(own & mask)
                value += get(rules, _WINNING_LINE_COUNT)
                if marks == 1 or marks == 2:  # noqa: PLR1714  # numba compiles no `in` over constants
                    value += get(rules, _WINNING_LINE_COUNT + marks)
        return value + get(rules, _WINNING_LINE_COUNT + 3) * ((own >> 4) & 1)

    @inlined
    def estimate(rules: Any, mem: Any, pos: Any) -> Any:
        own = get(mem, pos)
        foe = get(mem, pos + 1)
        value = score_lines(rules, own, foe) - score_lines(rules, foe, own)
        return min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)

    @inlined
    def score_move(rules: Any, mem: Any, pos: Any, move: Any) -> Any:
        own = get(mem, pos) | (1 << move)
        foe = get(mem, pos + 1)
        return score_lines(rules, own, foe) - score_lines(rules, foe, own)

    @inlined
    def observe(_rules: Any, mem: Any, pos: Any, observations: Any, row: Any) -> None:
        for cell in range(9):
            observations[row, cell] = ((get(mem, pos) >> cell) & 1) - ((get(mem, pos + 1) >> cell) & 1)

    return Kernel("tictactoe", 2, 2, moves, play, status, estimate, score_move, observe=observe)
