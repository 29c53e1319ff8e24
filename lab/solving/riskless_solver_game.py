"""Riskless in the form that the solver reads: compiled functions that list a board's successors, or process all boards.

A board (position) lists the armies on all territories; those of the player to move are positive. The number of a board has a
digit for each territory (solved.board_numbers). To list the successors of a board, the code first computes the number of the
board on which all occupied territories have gained an army, as if nobody had moved. Each move then changes the digits of its
two territories. The opponent sees the result with all signs changed; one subtraction gives the number of that board.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from arena.bots.compiled.cache import inlined
from arena.lab.solving.checkpoint import CodeArray
from arena.lab.solving.kernels import compile_solver_kernel
from arena.lab.solving.retrograde import SolverGame
from arena.lab.solving.rules_array import (
    CAP,
    GOAL,
    NEGATION_SUM,
    PLACE_VALUES,
    ROADS_START,
    SYMMETRIES_START,
    SYMMETRY_COUNT,
    TERRITORY_COUNT,
    Int64Array,
    decode_board,
)

PLAYING, DRAWN, LOST, WON = range(4)


@inlined
def write_successor_numbers(rules: Int64Array, scratch: Int64Array, board_number: int) -> int:
    """Write the number of the board (position) after each move to scratch[0], scratch[1] …, and return the number of moves.

    In these boards, the armies of the opponent, who is then to move, are positive.
    """
    size = rules[TERRITORY_COUNT]
    cap = rules[CAP]
    roads = rules[ROADS_START]
    targets = roads + size + 1
    armies_start = rules[SYMMETRIES_START] - targets
    trained_start = armies_start + size
    decode_board(rules, scratch, armies_start, board_number)
    total = rules[NEGATION_SUM] // 2
    for territory in range(size):
        n = scratch[armies_start + territory]
        if 0 < n < cap:
            n += 1
        elif -cap < n < 0:
            n -= 1
        scratch[trained_start + territory] = n
        total += n * rules[PLACE_VALUES + territory]
    count = 0
    for source in range(size):
        moving_armies = scratch[armies_start + source]
        if moving_armies <= 0:
            continue
        code = total + (1 - scratch[trained_start + source]) * rules[PLACE_VALUES + source]
        for road in range(rules[roads + source], rules[roads + source + 1]):
            target = rules[targets + road]
            armies_after = moving_armies + scratch[armies_start + target]
            armies_after = min(armies_after + 1, cap) if armies_after >= 0 else max(armies_after - 1, -cap)
            board = code + (armies_after - scratch[trained_start + target]) * rules[PLACE_VALUES + target]
            scratch[count] = rules[NEGATION_SUM] - board
            count += 1
    return count


@inlined
def write_value_code(
    rules: Int64Array, scratch: Int64Array, board_number: int, codes: CodeArray, code: int
) -> None:
    """Write `code` (an encoded value) to `codes` for a board (position) and for all boards that are symmetric to it."""
    size = rules[TERRITORY_COUNT]
    images = rules[SYMMETRIES_START]
    armies_start = images - rules[ROADS_START] - size - 1
    decode_board(rules, scratch, armies_start, board_number)
    empty_board_number = rules[NEGATION_SUM] // 2
    for image in range(images, images + rules[SYMMETRY_COUNT] * size, size):
        image_number = empty_board_number
        for territory in range(size):
            image_number += scratch[armies_start + territory] * rules[image + territory]
        codes[image_number] = code


RISKLESS_SOLVER_GAME = SolverGame("riskless", write_successor_numbers, write_value_code)


@cache
def make_board_classification_kernel() -> Callable[..., Any]:
    """Return the compiled function `classify_boards`, which finds finished boards, and a representative of symmetric boards."""

    @inlined
    def find_outcome(rules: Any, scratch: Any, armies_start: Any) -> Any:
        own_armies = 0
        opponent_armies = 0
        for territory in range(rules[TERRITORY_COUNT]):
            n = scratch[armies_start + territory]
            if n > 0:
                own_armies += n
            else:
                opponent_armies -= n
        goal = rules[GOAL]
        if own_armies == 0:
            return DRAWN if opponent_armies == 0 else LOST
        if opponent_armies == 0:
            return WON
        if own_armies >= goal:
            return DRAWN if opponent_armies >= goal else WON
        return LOST if opponent_armies >= goal else PLAYING

    @inlined
    def is_representative(rules: Any, scratch: Any, armies_start: Any, board_number: Any) -> Any:
        size = rules[TERRITORY_COUNT]
        empty_board_number = rules[NEGATION_SUM] // 2
        images = rules[SYMMETRIES_START]
        for image in range(images + size, images + rules[SYMMETRY_COUNT] * size, size):
            image_number = empty_board_number
            for territory in range(size):
                image_number += scratch[armies_start + territory] * rules[image + territory]
            if image_number < board_number:
                return False
        return True

    def classify_boards(
        rules: Any, scratch: Any, codes: Any, representative_bits: Any, counts: Any, first: Any, last: Any
    ) -> Any:
        """Find the finished boards in range(first, last), and the representatives of symmetric boards among the others.

        Of the boards that are symmetric to each other, the one with the lowest number is the representative.

        first                first board's number, which must be a multiple of 8
        codes                set to 2 for a finished board that is lost for the player to move, and to 3 for one that is won
        representative_bits  one bit per board, the lowest bit first: 1 for an unfinished representative
        counts               [0] increases by the number of unfinished boards, [1] by the number of representatives among them
        """
        armies_start = rules[SYMMETRIES_START] - rules[ROADS_START] - rules[TERRITORY_COUNT] - 1
        decode_board(rules, scratch, armies_start, first)
        eight_bits = 0
        for board_number in range(first, last):
            outcome = find_outcome(rules, scratch, armies_start)
            if outcome == PLAYING:
                counts[0] += 1
                if is_representative(rules, scratch, armies_start, board_number):
                    counts[1] += 1
                    eight_bits |= 1 << (board_number & 7)
            elif outcome != DRAWN:
                codes[board_number] = outcome
            if board_number & 7 == 7 or board_number == last - 1:
                representative_bits[board_number >> 3] = eight_bits
                eight_bits = 0
            territory = rules[TERRITORY_COUNT] - 1
            scratch[armies_start + territory] += 1
            while scratch[armies_start + territory] > rules[CAP] and territory > 0:
                scratch[armies_start + territory] = -rules[CAP]
                territory -= 1
                scratch[armies_start + territory] += 1

    return compile_solver_kernel(classify_boards, "classify")


@cache
def make_undecided_board_listing_kernel() -> Callable[..., Any]:
    """Return the compiled function `list_undecided_boards`, which lists the boards (positions) whose values are unknown."""

    def list_undecided_boards(
        representative_bits: Any, undecided_numbers: Any, first: Any, last: Any, undecided_index: Any
    ) -> Any:
        """Write the numbers of the boards in range(first, last) whose bit in `representative_bits` is 1 to `undecided_numbers`.

        The first number is written at the index `undecided_index`. Return the index after the last number.
        """
        for board_number in range(first, last):
            if (representative_bits[board_number >> 3] >> (board_number & 7)) & 1:
                undecided_numbers[undecided_index] = board_number
                undecided_index += 1
        return undecided_index

    return compile_solver_kernel(list_undecided_boards, "gather")


@cache
def make_checkpoint_restore_kernel() -> Callable[..., Any]:
    """Return the compiled function `restore_checkpoint_codes`, which copies the boards' codes (encoded values) from a checkpoint."""

    def restore_checkpoint_codes(
        rules: Any,
        scratch: Any,
        board_numbers: Any,
        saved_codes: Any,
        codes: Any,
        undecided_numbers: Any,
        undecided_index: Any,
    ) -> Any:
        """Write the codes (encoded values) in `saved_codes`, which come from a checkpoint, to `codes`.

        The codes belong to the boards in `board_numbers`, and to the boards that are symmetric to them. Write the numbers of
        the undecided boards to `undecided_numbers`, the first at the index `undecided_index`. Return the index after the
        last.
        """
        for index in range(board_numbers.size):
            if saved_codes[index] >= 2:
                write_value_code(rules, scratch, board_numbers[index], codes, saved_codes[index])
            else:
                undecided_numbers[undecided_index] = board_numbers[index]
                undecided_index += 1
        return undecided_index

    return compile_solver_kernel(restore_checkpoint_codes, "restore")
