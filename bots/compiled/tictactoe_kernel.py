"""Tic-tac-toe for the compiled searches. A position is two words of nine bits, one for each player's marks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, lowest_bit, popcount, put
from arena.bots.compiled.kernel import DRAW, LOST, PLAYING, CompiledGame, Kernel, Weights, Words
from arena.bots.evaluators.tictactoe import NAMES
from arena.bots.search.search_values import ESTIMATE_LIMIT
from arena.games.tictactoe import LINES, MARKS, Board, TicTacToe

_WEIGHTS = len(LINES)
_FULL = (1 << 9) - 1


def compile_game(game: TicTacToe, weights: Weights) -> CompiledGame:
    """Return the game as its kernel reads it."""

    def pack(position: Board) -> Words:
        own = game.player(position)
        masks = [
            sum(1 << cell for cell, mark in enumerate(position.cells) if mark == MARKS[player])
            for player in (own, own.opponent)
        ]
        return np.array(masks, np.int64)

    def plies_left(position: Board) -> int:
        return 9 - game.ply(position)

    lines = [sum(1 << cell for cell in line) for line in LINES]
    rules = np.array(lines + [weights[name] for name in NAMES], np.int64)
    return CompiledGame(make_tictactoe_kernel(), rules, 9, pack, plies_left, int, int, cells=9)


@cache
def make_tictactoe_kernel() -> Kernel:
    """Return the kernel of tic-tac-toe."""

    @inlined
    def moves(_rules: Any, mem: Any, at: Any, to: Any) -> Any:
        left = ~(get(mem, at) | get(mem, at + 1)) & _FULL
        count = 0
        while left != 0:
            put(mem, to + count, lowest_bit(left))
            left &= left - 1
            count += 1
        return count

    @inlined
    def play(_rules: Any, mem: Any, at: Any, to: Any, move: Any) -> None:
        put(mem, to + 1, get(mem, at) | (1 << move))
        put(mem, to, get(mem, at + 1))

    @inlined
    def status(rules: Any, mem: Any, at: Any) -> Any:
        other = get(mem, at + 1)
        for line in range(_WEIGHTS):
            if other & get(rules, line) == get(rules, line):
                return LOST
        return DRAW if get(mem, at) | other == _FULL else PLAYING

    @inlined
    def line_score(rules: Any, own: Any, other: Any) -> Any:
        value = 0
        for line in range(_WEIGHTS):
            mask = get(rules, line)
            if other & mask == 0:
                marks = popcount(own & mask)
                value += get(rules, _WEIGHTS)
                if marks == 1 or marks == 2:  # noqa: PLR1714  # numba compiles no `in` over constants
                    value += get(rules, _WEIGHTS + marks)
        return value + get(rules, _WEIGHTS + 3) * ((own >> 4) & 1)

    @inlined
    def estimate(rules: Any, mem: Any, at: Any) -> Any:
        own = get(mem, at)
        other = get(mem, at + 1)
        value = line_score(rules, own, other) - line_score(rules, other, own)
        return min(max(value, -ESTIMATE_LIMIT), ESTIMATE_LIMIT)

    @inlined
    def promise(rules: Any, mem: Any, at: Any, move: Any) -> Any:
        own = get(mem, at) | (1 << move)
        other = get(mem, at + 1)
        return line_score(rules, own, other) - line_score(rules, other, own)

    @inlined
    def observe(_rules: Any, mem: Any, at: Any, seen: Any, row: Any) -> None:
        for cell in range(9):
            seen[row, cell] = ((get(mem, at) >> cell) & 1) - ((get(mem, at + 1) >> cell) & 1)

    return Kernel("tictactoe", 2, 2, moves, play, status, estimate, promise, observe=observe)
