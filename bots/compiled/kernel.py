"""Interface of a game for the compiled searches: functions on words of memory, and conversions.

A position is `words` signed 64-bit words in the array `mem` from the index `pos` on, seen by the player to move. The
first `key_word_count` of them identify it. The functions are compiled into the search, so they take only arrays and numbers:

    moves(rules, mem, pos, out)        write the numbers of all moves to mem[out], mem[out + 1] …, in
                                       ascending order, which is move order; return their count
    play(rules, mem, pos, out, move)   write the position after the move to mem[out], seen by the other
                                       player; `moves` has been called for the position before
    status(rules, mem, pos)            return PLAYING, DRAW, LOST or WON for the player to move
    estimate(rules, mem, pos)          return the evaluator's value for the player to move, in hundredths of an army
    score_move(rules, mem, pos, move)  return a cheap approximation of the estimate after the move, for the player who makes
                                       it; the search orders moves by it

Two optional functions value leaves without creating their positions, which is many times as fast:

    survey(rules, mem, pos)           after `moves`: store intermediate results shared by all moves from here
    foresee(rules, mem, pos, move)    after `survey`: return the estimate after the move, for the player who makes it,
                                      or UNSEEN if it is unknown, for example if the move ends the match

One optional function is for machine learning from many matches in parallel (`bots.compiled.batch`):

    observe(rules, mem, pos, observations, row)  write the observation of the player to move to observations[row], in
                                                 8-bit numbers

`rules` is the array `CompiledGame.rules`, made from the game and the evaluator's weights. A move is a
number below `CompiledGame.move_count`. To add a game, write these functions and a `CompiledGame` for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int64]

PLAYING, DRAW, LOST, WON = 0, 1, 2, 3
"""Results of the kernel function `status`, for the player to move: the match goes on, is drawn, lost, or won."""
UNSEEN = -3_000_000
"""Result of the compiled function `foresee` if it does not know the estimate after a move; lower than every value."""


@dataclass(frozen=True)
class Kernel:
    """Compiled functions of one game, and the size of its positions. The docstring of this module describes the functions."""

    name: str
    """Name of the kernel (compiled functions of a game) in the cache of compiled code. No two kernels may share a name."""
    words: int
    """Size of a position, in 64-bit words."""
    key_word_count: int
    """Number of words at the beginning of a position that identify it."""
    moves: Callable[..., Any]
    """Function that lists the legal moves of a position."""
    play: Callable[..., Any]
    """Function that writes the position after a move."""
    status: Callable[..., Any]
    """Function that returns whether the match goes on, is drawn, lost or won, for the player to move."""
    estimate: Callable[..., Any]
    """Evaluator: a function that returns the value of a position for the player to move, without a search."""
    score_move: Callable[..., Any]
    """Function that returns a cheap approximation of the estimate after a move, by which the search orders moves."""
    survey: Callable[..., Any] | None = None
    """Function that prepares `foresee` for all moves of a position; None if there is no `foresee`."""
    foresee: Callable[..., Any] | None = None
    """Function that returns the estimate after a move without playing the move; None if there is no `survey`."""
    observe: Callable[..., Any] | None = None
    """Function that writes a position as 8-bit numbers, as input for machine learning; None if the game has none."""
    shape_word_count: int = 0
    """Number of words, at the end of those that identify a position, that are its shape, such as the territories of each player.

    Positions of the same shape share a correction of their estimates (`history`). If the number is 0, estimates are not
    corrected.
    """


@dataclass(frozen=True)
class CompiledGame:
    """Game with one setup, such as a map, in the form that its kernel (compiled functions) reads.

    rules                 array that the kernel's functions read
    move_count            number of different moves in the whole game; the moves are numbered from 0
    pack                  function that converts a position to the words that encode it
    plies_left            function that returns the maximum number of plies that can follow a position
    number_to_move        function that converts the number of a move to the move as in the class Game
    move_to_number        function that is the inverse of `number_to_move`
    can_foresee           True if the kernel's `survey` and `foresee` can value leaves with the evaluator's weights
    observed_value_count  number of values that the kernel's `observe` writes; 0 if it has no `observe`
    """

    kernel: Kernel
    rules: Words
    move_count: int
    pack: Callable[[Any], Words]
    plies_left: Callable[[Any], int]
    number_to_move: Callable[[int], Any]
    move_to_number: Callable[[Any], int]
    can_foresee: bool = False
    observed_value_count: int = 0


FeatureWeights = Mapping[str, int]
"""Weight of each feature of an evaluator, by the feature's name."""
