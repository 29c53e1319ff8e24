"""The step of retrograde analysis, compiled for any game: from results within n - 1 plies to results within n.

A position is won in n plies if one of its moves leads to a position lost in n - 1 for the opponent, and none to one
lost sooner. It is lost in n if all its moves lead to won positions, the slowest of them in n - 1. Positions that are
never decided are draws: their player has a move that does not lose, and none that wins.

A thread writes codes while others read them. New results differ from earlier ones in their number of plies, so
a step gives the same results in any order and with any number of threads, and can be interrupted and repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.lab.solving.kernels import solver_kernel

MAX_CODE = 65_535


class WinTooLong(ValueError):
    """Raised when a win takes more plies than a code can hold."""


@dataclass(frozen=True)
class Space:
    """Interface of a game for the solver: positions as numbers, and two functions that are compiled into the step.

    expand(rules, scratch, number)               write the numbers of the positions after each move to scratch[0],
                                                 scratch[1] …, and return their count; the position is in play
    spread(rules, scratch, number, codes, code)  write the code of a position and of all its symmetric images

    `scratch` belongs to one thread; `name` distinguishes compiled kernels.
    """

    name: str
    expand: Callable[..., Any]
    spread: Callable[..., Any]


@cache
def step_kernel(space: Space) -> Any:
    """Return the compiled step for a part of the undecided positions."""
    expand, spread = space.expand, space.spread

    def step(rules: Any, scratch: Any, codes: Any, live: Any, first: Any, last: Any, plies: Any) -> Any:
        """Decide all positions in live[first:last] that are decided in exactly `plies` plies.

        The others are moved together to the front, in order. Returns the index after the last of these.
        """
        undecided = 2 * plies + 2
        end = first
        for at in range(first, last):
            number = live[at]
            count = expand(rules, scratch, number)
            lost = 1
            won = 0
            for each in range(count):
                code = codes[scratch[each]]
                if code < 2 or code >= undecided:
                    lost = 0
                elif code & 1 == 0:
                    won = 1
                    break
            if won | lost:
                spread(rules, scratch, number, codes, undecided + won)
            else:
                live[end] = number
                end += 1
        return end

    return solver_kernel(step, f"step-{space.name}")


@dataclass
class Layers:
    """Known values of all positions of a game, and the step that extends them.

    codes     code of each position by its number (solved.truth); 0 or 1 if undecided
    parts     ranges of `live` that hold the numbers of undecided positions
    scratch   number of additional words that each thread needs
    """

    space: Space
    rules: npt.NDArray[np.int64]
    codes: npt.NDArray[np.uint16]
    live: npt.NDArray[Any]
    parts: list[tuple[int, int]]
    scratch: int
    plies: int = 0
    """Number of plies within which all results are known."""

    @property
    def left(self) -> int:
        """Number of undecided representative positions."""
        return sum(last - first for first, last in self.parts)

    def step(self, workers: Executor, advance: Callable[[], None]) -> int:
        """Find all results in one more ply, and return their number. `advance` is called after each part.

        Raises WinTooLong if a win takes more plies than a code can hold.
        """
        plies = self.plies + 1
        if 2 * plies + 3 > MAX_CODE:
            raise WinTooLong(f"a win takes more than {plies - 1:,} plies, more than a table can store")
        run = step_kernel(self.space)

        def decide(part: tuple[int, int]) -> tuple[int, int]:
            scratch = np.zeros(self.scratch, np.int64)
            return part[0], run(self.rules, scratch, self.codes, self.live, *part, plies)

        before = self.left
        parts = []
        for part in workers.map(decide, self.parts):
            parts.append(part)
            advance()
        self.parts = parts
        decided = before - self.left
        if decided:
            self.plies = plies
        return decided
