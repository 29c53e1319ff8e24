"""Step of retrograde analysis for any game: it finds all positions that are won or lost in n plies.

The step needs the results of all positions that are won or lost in at most n - 1 plies.

A position is won in n plies if a move leads to a position that is lost for the opponent in n - 1 plies, and no move to
one that is lost sooner. It is lost in n plies if all its moves lead to positions that the opponent wins, the slowest of
them in n - 1 plies. Positions that are never decided are draws: the player has a move that does not lose, and none that
wins.

Threads write codes (encoded values of positions) while others read them. A step can tell its own results from earlier ones
by their number of plies, so it gives the same results in any order and with any number of threads, and can be interrupted
and repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.lab.solving.kernels import compile_solver_kernel

MAX_VALUE_CODE = 65_535
"""Maximum code (encoded value) of a position. A code is stored in two bytes."""


class WinTooLong(ValueError):
    """Raised when a win takes more plies than a solved table can store."""


@dataclass(frozen=True)
class SolverGame:
    """Game in the form that the solver reads: positions are numbers, and two functions become machine code.

    name
        name of the game in the names of compiled functions
    write_successor_numbers(rules, scratch, number)
        writes the numbers of the positions after each move of an unfinished position to scratch[0], scratch[1] …, and
        returns their count
    write_value_code(rules, scratch, number, codes, code)
        writes `code` (an encoded value) to `codes`, for a position and for those that are symmetric to it

    `scratch` is an array for intermediate results. Each thread has its own.
    """

    name: str
    write_successor_numbers: Callable[..., Any]
    write_value_code: Callable[..., Any]


@cache
def compile_iteration_kernel(solver_game: SolverGame) -> Callable[..., Any]:
    """Return the compiled function `find_wins_and_losses` of a game, which finds the positions won or lost in n plies."""
    write_successor_numbers, write_value_code = (
        solver_game.write_successor_numbers,
        solver_game.write_value_code,
    )

    def find_wins_and_losses(
        rules: Any,
        scratch: Any,
        codes: Any,
        undecided_position_numbers: Any,
        first: Any,
        last: Any,
        plies: Any,
    ) -> Any:
        """Find the positions in undecided_position_numbers[first:last] that are won or lost in exactly `plies` plies.

        Write their codes (encoded values) to `codes`. Move the numbers of the positions that stay undecided to the front
        of undecided_position_numbers[first:last], in the same order, and return the index after the last of them. `scratch` is
        working memory.
        """
        undecided = 2 * plies + 2
        end = first
        for index in range(first, last):
            number = undecided_position_numbers[index]
            count = write_successor_numbers(rules, scratch, number)
            lost = 1
            won = 0
            for successor in range(count):
                code = codes[scratch[successor]]
                if code < 2 or code >= undecided:
                    lost = 0
                elif code & 1 == 0:
                    won = 1
                    break
            if won | lost:
                write_value_code(rules, scratch, number, codes, undecided + won)
            else:
                undecided_position_numbers[end] = number
                end += 1
        return end

    return compile_solver_kernel(find_wins_and_losses, f"step-{solver_game.name}")


@dataclass
class RetrogradeAnalysis:
    """State of the retrograde analysis of a game: the values known so far, and the positions that are still undecided.

    solver_game                 the game
    rules_array                 rules of the game, as the functions of `solver_game` read them
    codes                       code (encoded value, see solved.solved_value) of each position, by its number; less than 2 if no
                                win or loss is known
    undecided_position_numbers  numbers of the undecided representative positions (one of each set of symmetric positions),
                                which fill only some ranges of the array
    undecided_position_ranges   filled ranges of `undecided_position_numbers`, each as (index of its first number, index after
                                its last)
    scratch_word_count          size of each thread's scratch array, in words
    """

    solver_game: SolverGame
    rules_array: npt.NDArray[np.int64]
    codes: npt.NDArray[np.uint16]
    undecided_position_numbers: npt.NDArray[Any]
    undecided_position_ranges: list[tuple[int, int]]
    scratch_word_count: int
    solved_plies: int = 0
    """Number n of plies: all wins and losses in at most n plies are known."""

    @property
    def undecided_position_count(self) -> int:
        """Return the number of positions, one of each set of symmetric positions, that are not yet known to be won or lost."""
        return sum(last - first for first, last in self.undecided_position_ranges)

    def run_next_iteration(self, workers: Executor, on_range_done: Callable[[], None]) -> int:
        """Find all positions that are won or lost in `solved_plies` + 1 plies, and return their number.

        If the number is 0, all positions that are still undecided are draws.

        workers        executor whose threads share the work
        on_range_done  function that is called when one of the `undecided_position_ranges` is done

        Raises WinTooLong if a win takes more plies than a code (encoded value) can hold.
        """
        plies = self.solved_plies + 1
        if 2 * plies + 3 > MAX_VALUE_CODE:
            raise WinTooLong(
                f"a win on this map takes more than {plies - 1:,} plies, the most that a solved table can store; solve the map with lower army limits, e.g. MAP:cap=9,goal=40"
            )
        run = compile_iteration_kernel(self.solver_game)

        def search_range(undecided_range: tuple[int, int]) -> tuple[int, int]:
            scratch = np.zeros(self.scratch_word_count, np.int64)
            return undecided_range[0], run(
                self.rules_array,
                scratch,
                self.codes,
                self.undecided_position_numbers,
                *undecided_range,
                plies,
            )

        undecided_before = self.undecided_position_count
        undecided_position_ranges = []
        for undecided_range in workers.map(search_range, self.undecided_position_ranges):
            undecided_position_ranges.append(undecided_range)
            on_range_done()
        self.undecided_position_ranges = undecided_position_ranges
        decided = undecided_before - self.undecided_position_count
        if decided:
            self.solved_plies = plies
        return decided
