"""Interface of the engines' searches (`Search`), and the best move and window that they keep at the root (`BestRootMove`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol

from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.ordering import OrderedMove
from arena.bots.search.problem import Line, Problem, SearchResult
from arena.bots.search.search_values import INFINITY
from arena.games.core import Game, M, P

ProgressCallback = Callable[[SearchResult[M]], None]
"""Function that a running search calls with its best result so far: the best root move, its value and its line."""


class Search(Protocol[P, M]):
    """Fixed-depth search; `bots.search.play` describes what every such search promises.

    An object serves one match, because it may keep a transposition table, and the best move of each position, between calls.
    """

    def __call__(
        self,
        game: Game[P, M],
        position: P,
        depth: int,
        *,
        root_moves: Sequence[M],
        monitor: SearchMonitor,
        on_progress: ProgressCallback[M],
    ) -> SearchResult[M]:
        """Search `position` to `depth` plies, and return its value, the best move and the main line.

        root_moves   moves to search from the root, in this order, each at most once; other root moves are not searched
        monitor      monitor that counts the nodes and can stop the search
        on_progress  function that is called with the best result so far, each time that root moves have been searched

        Raises SearchStopped if the monitor stops the search.
        """


class BestRootMove(Generic[P, M]):
    """Best root move so far, and the window for the next root move.

    sign   1 if Maxie is to move at the root, -1 if Minnie is
    value  best value so far, for the player to move at the root
    index  index of the best move in the game's move order; -1 before the first result
    line   main line, starting with the best move

    Of equally good moves, the first in the game's move order wins, but moves may be searched in any order. So a move
    that comes before the best move in move order is searched with an alpha that is lower by one. Then a value equal to
    the best value is exact, not a bound, and the move replaces the best move.
    """

    def __init__(self, sign: int, on_progress: ProgressCallback[M]) -> None:
        self.sign = sign
        self._on_progress = on_progress
        self.value = -INFINITY
        self.index = -1
        self.line: Line[M] = ()

    def get_alpha(self, move_index: int) -> int:
        """Return alpha, for the player to move at the root, with which to search the root move `move_index` (in move order)."""
        return self.value - 1 if move_index < self.index else self.value

    def record_result(self, ordered_move: OrderedMove[P, M], value: int, line: Line[M]) -> None:
        """Record the value and the main line of a root move that was searched, and keep the move if it is the best so far.

        `value` is for the player to move, and exact if it exceeds the alpha of this move (`get_alpha`).
        """
        if value > self.value or (value == self.value and ordered_move.move_index < self.index):
            self.value, self.index, self.line = value, ordered_move.move_index, (ordered_move.move, *line)

    def report_progress(self) -> None:
        """Call the function `on_progress` with the best root move so far, its value and its line."""
        self._on_progress(self.make_result())

    def make_result(self) -> SearchResult[M]:
        """Return the best result so far, with its value for Maxie."""
        return SearchResult(self.sign * self.value, self.line[0], self.line)


def list_ordered_root_moves(
    problem: Problem[P, M], position: P, root_moves: Sequence[M]
) -> list[OrderedMove[P, M]]:
    """Return `root_moves` in the same order, each with its index in the game's move order and the position after it."""
    index_by_move = {move: index for index, move in enumerate(problem.game.moves(position))}
    successor = problem.game.successor
    return [OrderedMove(index_by_move[move], move, successor(position, move)) for move in root_moves]
