"""What a game is to the compiled searches: four functions over words of memory, and the way in and out.

A position is `words` signed 64-bit words at mem[at], seen by the player to move; the first `key_words`
of them identify it. The functions are compiled into the search, so they take arrays and numbers only:

    moves(rules, mem, at, to)         write the numbers of all moves to mem[to], mem[to + 1] …, in
                                      ascending order, which is move order; their count
    play(rules, mem, at, to, move)    write the position after the move to mem[to], seen by the other
                                      player; `moves` has been called at `at`
    status(rules, mem, at)            PLAYING, DRAW, LOST or WON for the player to move
    estimate(rules, mem, at)          the evaluator's value for the player to move, in hundredths

    promise(rules, mem, at, move)     a cheap approximation of the estimate after the move, for ordering

Where leaves can be told without being built, which is many times as fast, two more:

    survey(rules, mem, at)            after `moves`: write down what all moves from here have in common
    foresee(rules, mem, at, move)     after `survey`: what the estimate is after the move, for the player who makes it, or
                                      UNSEEN, as where the move ends the match

and where tables of solved maps are made of a game's boards (`solved.boards`), two more:

    number(rules, mem, at)            the number of the board
    pieces(rules, mem, at)            how many territories the player has who has fewer

`rules` is an array that `Compiled.rules` makes from the game and the evaluator's weights. A move is a
number below `Compiled.moves`. To add a game, write these functions and a `Compiled` for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int64]

PLAYING, DRAW, LOST, WON = 0, 1, 2, 3
UNSEEN = -3_000_000
"""Below every value."""


@dataclass(frozen=True)
class Kernel:
    """The functions of one game, and the size of its positions. `name` tells kernels apart."""

    name: str
    words: int
    key_words: int
    moves: Callable[..., Any]
    play: Callable[..., Any]
    status: Callable[..., Any]
    estimate: Callable[..., Any]
    promise: Callable[..., Any]
    survey: Callable[..., Any] | None = None
    foresee: Callable[..., Any] | None = None
    number: Callable[..., Any] | None = None
    pieces: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Compiled:
    """One game on one setup, ready for a kernel.

    rules      what the kernel's functions read
    moves      how many moves there are in all positions together
    pack       a position to its words
    plies_left how many more plies a match can last from a position, at most
    move       the number of a move to the move, in the game's terms
    number     the inverse
    foreseen   whether the kernel's `survey` and `foresee` can tell leaves with these weights
    """

    kernel: Kernel
    rules: Words
    moves: int
    pack: Callable[[Any], Words]
    plies_left: Callable[[Any], int]
    move: Callable[[int], Any]
    number: Callable[[Any], int]
    foreseen: bool = False


Weights = Mapping[str, int]
