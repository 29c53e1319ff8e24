"""What the searches that play have in common: how they are called, and how they treat the root."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol

from arena.bots.search.ordering import Choice
from arena.bots.search.problem import Line, Problem, Result
from arena.bots.search.values import INFINITY
from arena.bots.search.watch import Watch
from arena.games.core import Game, M, P

Progress = Callable[[Result[M]], None]
"""A function that is told the best root move so far."""


class Search(Protocol[P, M]):
    """A fixed-depth search, as the module's docstring says. One object serves one match."""

    def __call__(
        self,
        game: Game[P, M],
        position: P,
        depth: int,
        *,
        order: Sequence[M],
        watch: Watch,
        progress: Progress[M],
    ) -> Result[M]:
        """Search `position` `depth` plies deep, its moves in the given order, each at most once; those left out are not searched."""


class Root(Generic[P, M]):
    """The best root move so far, with the window that the next one needs.

    Ties go to the leftmost move, but moves may come in any order. So a move to the left of the best
    is searched with alpha one lower: then a value equal to the best is exact, and takes its place.
    """

    def __init__(self, sign: int, progress: Progress[M]) -> None:
        self._sign = sign
        self._progress = progress
        self.value = -INFINITY
        self.index = -1
        self.line: Line[M] = ()

    def alpha(self, index: int) -> int:
        """The lower end of the window for the move of this number, for the player to move."""
        return self.value - 1 if index < self.index else self.value

    def take(self, choice: Choice[P, M], value: int, line: Line[M]) -> None:
        """A move has been searched; `value` is for the player to move, exact above its alpha."""
        if value > self.value or (value == self.value and choice.number < self.index):
            self.value, self.index, self.line = value, choice.number, (choice.move, *line)

    def tell(self) -> None:
        """Report the best so far."""
        self._progress(self.result())

    def result(self) -> Result[M]:
        """The best so far as an answer, its value for Maxie."""
        return Result(self._sign * self.value, self.line[0], self.line)


def root_choices(problem: Problem[P, M], position: P, order: Sequence[M]) -> list[Choice[P, M]]:
    """The root's moves in the order in which they are to be searched."""
    numbers = {move: index for index, move in enumerate(problem.game.moves(position))}
    successor = problem.game.successor
    return [Choice(numbers[move], move, successor(position, move)) for move in order]
