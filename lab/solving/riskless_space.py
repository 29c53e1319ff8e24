"""Riskless for the solver: the successors of a board, and passes over all boards.

A board lists the armies on all territories; those of the player to move are positive. The number of a board has a digit
for each territory (solved.board_numbers), so a move changes two digits of the number of the board after training. The
opponent sees the board with all signs changed, and its number is found by one subtraction.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from arena.bots.compiled.cache import inlined
from arena.lab.solving.kernels import compile_solver_kernel
from arena.lab.solving.layers import GameSpace
from arena.lab.solving.rules_array import (
    CAP,
    GOAL,
    IMAGES,
    POWERS,
    ROADS,
    SYMMETRIES,
    TERRITORIES,
    TURNED,
    unpack,
)

PLAYING, DRAWN, LOST, WON = range(4)


@inlined
def write_successors(rules: Any, scratch: Any, number: Any) -> Any:
    """Write the numbers of the boards after each move, from the opponent's view, to `scratch`, and return their count."""
    size = rules[TERRITORIES]
    cap = rules[CAP]
    roads = rules[ROADS]
    targets = roads + size + 1
    here = rules[IMAGES] - targets
    trained = here + size
    unpack(rules, scratch, here, number)
    total = rules[TURNED] // 2
    for v in range(size):
        n = scratch[here + v]
        if 0 < n < cap:
            n += 1
        elif -cap < n < 0:
            n -= 1
        scratch[trained + v] = n
        total += n * rules[POWERS + v]
    count = 0
    for source in range(size):
        attackers = scratch[here + source]
        if attackers <= 0:
            continue
        code = total + (1 - scratch[trained + source]) * rules[POWERS + source]
        for road in range(rules[roads + source], rules[roads + source + 1]):
            target = rules[targets + road]
            after = attackers + scratch[here + target]
            after = min(after + 1, cap) if after >= 0 else max(after - 1, -cap)
            board = code + (after - scratch[trained + target]) * rules[POWERS + target]
            scratch[count] = rules[TURNED] - board
            count += 1
    return count


@inlined
def write_code(rules: Any, scratch: Any, number: Any, codes: Any, code: Any) -> None:
    """Write `code` as the code of a board and of all its symmetric images."""
    size = rules[TERRITORIES]
    images = rules[IMAGES]
    here = images - rules[ROADS] - size - 1
    unpack(rules, scratch, here, number)
    half = rules[TURNED] // 2
    for image in range(images, images + rules[SYMMETRIES] * size, size):
        place = half
        for v in range(size):
            place += scratch[here + v] * rules[image + v]
        codes[place] = code


RISKLESS = GameSpace("riskless", write_successors, write_code)


@cache
def make_survey_kernel() -> Any:
    """Return the compiled function `survey`, which makes the first pass over all boards."""

    @inlined
    def status(rules: Any, scratch: Any, here: Any) -> Any:
        mine = 0
        others = 0
        for v in range(rules[TERRITORIES]):
            n = scratch[here + v]
            if n > 0:
                mine += n
            else:
                others -= n
        goal = rules[GOAL]
        if mine == 0:
            return DRAWN if others == 0 else LOST
        if others == 0:
            return WON
        if mine >= goal:
            return DRAWN if others >= goal else WON
        return LOST if others >= goal else PLAYING

    @inlined
    def is_representative(rules: Any, scratch: Any, here: Any, number: Any) -> Any:
        size = rules[TERRITORIES]
        half = rules[TURNED] // 2
        images = rules[IMAGES]
        for image in range(images + size, images + rules[SYMMETRIES] * size, size):
            place = half
            for v in range(size):
                place += scratch[here + v] * rules[image + v]
            if place < number:
                return False
        return True

    def survey(rules: Any, scratch: Any, codes: Any, marks: Any, counts: Any, first: Any, last: Any) -> Any:
        """Find the finished boards in range(first, last), and the representatives among the others; `first` is a multiple of 8.

        codes    set to 2 for a finished board that is lost, and to 3 for one that is won
        marks    one bit per board, the lowest bit first: 1 for an unfinished representative
        counts   [0] increases by the number of unfinished boards, [1] by the number of representatives among them
        """
        here = rules[IMAGES] - rules[ROADS] - rules[TERRITORIES] - 1
        unpack(rules, scratch, here, first)
        mark = 0
        for number in range(first, last):
            outcome = status(rules, scratch, here)
            if outcome == PLAYING:
                counts[0] += 1
                if is_representative(rules, scratch, here, number):
                    counts[1] += 1
                    mark |= 1 << (number & 7)
            elif outcome != DRAWN:
                codes[number] = outcome
            if number & 7 == 7 or number == last - 1:
                marks[number >> 3] = mark
                mark = 0
            v = rules[TERRITORIES] - 1
            scratch[here + v] += 1
            while scratch[here + v] > rules[CAP] and v > 0:
                scratch[here + v] = -rules[CAP]
                v -= 1
                scratch[here + v] += 1

    return compile_solver_kernel(survey, "survey")


@cache
def make_gather_kernel() -> Any:
    """Return the compiled function `gather`, which lists the boards that `survey` marked."""

    def gather(marks: Any, live: Any, first: Any, last: Any, to: Any) -> Any:
        """Write the numbers of the marked boards in range(first, last) to live[to], live[to + 1] …; return the end index."""
        for number in range(first, last):
            if (marks[number >> 3] >> (number & 7)) & 1:
                live[to] = number
                to += 1
        return to

    return compile_solver_kernel(gather, "gather")


@cache
def make_restore_kernel() -> Any:
    """Return the compiled function `restore`, which restores the codes of a checkpoint."""

    def restore(rules: Any, scratch: Any, numbers: Any, layer: Any, codes: Any, live: Any, to: Any) -> Any:
        """Write the codes in `layer` to the boards in `numbers` and to their symmetric images.

        List the undecided boards at live[to], live[to + 1] …, and return the index after the last of them.
        """
        for at in range(numbers.size):
            if layer[at] >= 2:
                write_code(rules, scratch, numbers[at], codes, layer[at])
            else:
                live[to] = numbers[at]
                to += 1
        return to

    return compile_solver_kernel(restore, "restore")
