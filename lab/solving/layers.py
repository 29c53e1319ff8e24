"""The step of retrograde analysis, compiled for any game: from what is known within n - 1 plies to what is known within n.

A position is won in n plies when one of its moves leads to one that is lost in n - 1 for the opponent, and none to one that is
lost sooner; it is lost in n when all its moves lead to won positions, the slowest of them in n - 1. Whatever is never decided
is a draw: its player has a move that does not lose, and none that wins.

A thread writes codes while others read them. What a step writes is told apart from what was known before it by its plies, so
a step finds the same in any order and with any number of threads, and may be broken off and done again.
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

MOST_CODE = 65_535


class TooLong(ValueError):
    """A win that takes more plies than a code has room for."""


@dataclass(frozen=True)
class Space:
    """A game as the solver sees it: positions as numbers, and two functions over words that are compiled into its step.

    expand(rules, scratch, number)               write the numbers of the positions after each move to scratch[0],
                                                 scratch[1] …; how many there are. The position is in play
    spread(rules, scratch, number, codes, code)  write the code of a position, and of all that look like it

    `scratch` belongs to a thread alone; `name` tells compiled kernels apart.
    """

    name: str
    expand: Callable[..., Any]
    spread: Callable[..., Any]


@cache
def step_kernel(space: Space) -> Any:
    """The step over a part of the undecided positions."""
    expand, spread = space.expand, space.spread

    def step(rules: Any, scratch: Any, codes: Any, live: Any, first: Any, last: Any, plies: Any) -> Any:
        """Decide those of live[first] to before live[last] that are decided in so many plies.

        The others are moved together at the front, in order. Returns the place after the last of these.
        """
        known = 2 * plies + 2
        kept = first
        for at in range(first, last):
            number = live[at]
            count = expand(rules, scratch, number)
            lost = 1
            won = 0
            for each in range(count):
                code = codes[scratch[each]]
                if code < 2 or code >= known:
                    lost = 0
                elif code & 1 == 0:
                    won = 1
                    break
            if won | lost:
                spread(rules, scratch, number, codes, known + won)
            else:
                live[kept] = number
                kept += 1
        return kept

    return solver_kernel(step, f"step-{space.name}")


@dataclass
class Layers:
    """What is known of all positions of a game, and the steps that make it more.

    codes     for each number of a position the code of what is known (solved.truth); 0 or 1: undecided
    parts     places in `live` between which the numbers of undecided positions stand
    scratch   the words that a thread needs beside
    """

    space: Space
    rules: npt.NDArray[np.int64]
    codes: npt.NDArray[np.uint16]
    live: npt.NDArray[Any]
    parts: list[tuple[int, int]]
    scratch: int
    plies: int = 0
    """All that is decided within so many plies is known."""

    @property
    def left(self) -> int:
        """How many positions that stand for others are undecided."""
        return sum(last - first for first, last in self.parts)

    def step(self, workers: Executor, advance: Callable[[], None]) -> int:
        """Find what is decided in one ply more; how many positions were. `advance` is called after each part.

        Raises TooLong where a win takes more plies than a code can tell.
        """
        plies = self.plies + 1
        if 2 * plies + 3 > MOST_CODE:
            raise TooLong(f"a win takes more than {plies - 1:,} plies, more than a table can tell")
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
