"""What a game is to the solver: positions as numbers, and what follows each of them.

Two functions over arrays of 64-bit words, which are compiled into the solver as the games' kernels are into the search:

    expand(rules, scratch, number)               write the numbers of the positions after each move to scratch[0],
                                                 scratch[1] …; how many there are
    spread(rules, scratch, number, codes, code)  write the code of a position, and of all that look like it

`scratch` belongs to a thread alone. `expand` is asked only of positions that are in play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Space:
    """The functions of one kind of game. `name` tells compiled kernels apart."""

    name: str
    expand: Callable[..., Any]
    spread: Callable[..., Any]
