"""Connect Four for the compiled search engines: a position has two 64-bit words, one for each player's discs.

In a word, bit 7 · column + row stands for a cell. Each column has one more bit above its top cell, which is always 0, so
that the shifts that find four in a row never cross from one column to the next. A move is the number of its cell's bit.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from arena import DRAW, LOST, PLAYING, CompiledGame, Kernel, get, inlined, popcount, put

COLUMNS, ROWS, STRIDE = 7, 6, 7
BOTTOM_CELLS = sum(1 << STRIDE * column for column in range(COLUMNS))
ALL_CELLS = BOTTOM_CELLS * ((1 << ROWS) - 1)
FIRST_COLUMN_CELLS = (1 << ROWS) - 1


def compile_game(game: Any, lines: Any) -> CompiledGame:
    """Return the game in the form that the compiled search engines read.

    lines  all lines of four cells, as cell numbers
    """

    def cell_to_bit(cell: int) -> int:
        return STRIDE * (cell % COLUMNS) + cell // COLUMNS

    def bit_to_cell(bit: int) -> int:
        return bit // STRIDE + COLUMNS * (bit % STRIDE)

    def pack(position: Any) -> Any:
        own = "X" if game.player(position).sign > 0 else "O"
        masks = [
            sum(
                1 << cell_to_bit(cell)
                for cell, disc in enumerate(position.cells)
                if disc in "XO" and (disc == own) == mine
            )
            for mine in (True, False)
        ]
        return np.array(masks, np.int64)

    rules = np.array([sum(1 << cell_to_bit(each) for each in line) for line in lines], np.int64)
    return CompiledGame(
        make_kernel(),
        rules,
        STRIDE * COLUMNS,
        pack,
        lambda position: position.cells.count("."),
        bit_to_cell,
        cell_to_bit,
    )


@cache
def make_kernel() -> Kernel:
    """Return the functions of Connect Four for compiled searches: legal moves, position after a move, outcome, estimate."""

    @inlined
    def moves(_rules: Any, mem: Any, pos: Any, out: Any) -> Any:
        # Above the highest disc of each column stands the one bit that adding its bottom carries to.
        free = (get(mem, pos) | get(mem, pos + 1)) + BOTTOM_CELLS
        count = 0
        for column in range(COLUMNS):
            here = free & (FIRST_COLUMN_CELLS << STRIDE * column)
            if here != 0:
                put(mem, out + count, popcount(here - 1))
                count += 1
        return count

    @inlined
    def play(_rules: Any, mem: Any, pos: Any, out: Any, move: Any) -> None:
        put(mem, out + 1, get(mem, pos) | (1 << move))
        put(mem, out, get(mem, pos + 1))

    @inlined
    def has_four_in_row(discs: Any, direction_stride: Any) -> Any:
        two = discs & (discs >> direction_stride)
        return two & (two >> 2 * direction_stride)

    @inlined
    def status(_rules: Any, mem: Any, pos: Any) -> Any:
        other = get(mem, pos + 1)
        if (
            has_four_in_row(other, 1)
            | has_four_in_row(other, STRIDE)
            | has_four_in_row(other, STRIDE - 1)
            | has_four_in_row(other, STRIDE + 1)
            != 0
        ):
            return LOST
        return DRAW if get(mem, pos) | other == ALL_CELLS else PLAYING

    @inlined
    def score_lines(rules: Any, own_discs: Any, other_discs: Any) -> Any:
        value = 0
        for line in range(69):
            mask = get(rules, line)
            mine = popcount(own_discs & mask)
            theirs = popcount(other_discs & mask)
            if theirs == 0:
                value += mine * mine
            elif mine == 0:
                value -= theirs * theirs
        return 100 * value

    @inlined
    def estimate(rules: Any, mem: Any, pos: Any) -> Any:
        return score_lines(rules, get(mem, pos), get(mem, pos + 1))

    @inlined
    def score_move(rules: Any, mem: Any, pos: Any, move: Any) -> Any:
        return score_lines(rules, get(mem, pos) | (1 << move), get(mem, pos + 1))

    return Kernel("connect4", 2, 2, moves, play, status, estimate, score_move)
