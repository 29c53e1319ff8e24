"""Minimax search, written in four forms. A node's minimax value is its value if both players play optimally from there.

Depth is the number of plies to look ahead. All four forms visit every node to that depth, compute the exact minimax
value for that depth, and return the first of the best moves in move order, the leftmost in the drawing of a tree. A
search that is stopped has no usable result, so it raises `SearchStopped`.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Generic

from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.move_values import MoveValue
from arena.bots.search.problem import Line, Problem, SearchResult
from arena.bots.search.search_values import INFINITY
from arena.games.core import M, P, Player


def minimax(
    problem: Problem[P, M], position: P, depth: int, monitor: SearchMonitor | None = None
) -> SearchResult[M]:
    """Search `position` to `depth` plies by minimax with two mutually recursive functions, one for each player.

    The two functions are `maximize` and `minimize` in the paper by Hughes, and occur also in Holden's lecture on games (sources
    000 and 003 in docs/search.md). A later move must be strictly better to replace an earlier one, so of equally good
    moves the first in move order is chosen. (In Hughes's text, the last equation of `minimize` takes the maximum by
    mistake.)
    """
    monitor = monitor or SearchMonitor()
    game = problem.game

    def search_maxie_node(position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        expansion = problem.enter_node(monitor, path, position, depth)
        if not expansion.moves:
            return expansion.value, ()
        best: int = -INFINITY
        line: Line[M] = ()
        for index, move in enumerate(expansion.moves):
            value, rest = search_child(game.successor(position, move), depth - 1, (*path, index))
            if value > best:
                best, line = value, (move, *rest)
        monitor.leave_node(path, position, MoveValue(best, line[0]))
        return best, line

    def search_minnie_node(position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        expansion = problem.enter_node(monitor, path, position, depth)
        if not expansion.moves:
            return expansion.value, ()
        best: int = INFINITY
        line: Line[M] = ()
        for index, move in enumerate(expansion.moves):
            value, rest = search_child(game.successor(position, move), depth - 1, (*path, index))
            if value < best:
                best, line = value, (move, *rest)
        monitor.leave_node(path, position, MoveValue(best, line[0]))
        return best, line

    def search_child(position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        # If the players alternate, this calls the source's minnie below maxie, and maxie below minnie.
        return (search_maxie_node if game.player(position) is Player.MAXIE else search_minnie_node)(
            position, depth, path
        )

    value, line = search_child(position, depth, ())
    return SearchResult(value, line[0] if line else None, line)


class _SearchState(Generic[P, M]):
    """Position in the search of `higher_order_minimax`, with the methods of a game state in source 002 (docs/search.md).

    The methods also report each step of the search to the monitor.
    """

    def __init__(
        self, problem: Problem[P, M], monitor: SearchMonitor, position: P, depth: int, path: Path = ()
    ) -> None:
        self._problem, self._monitor, self._position, self._depth = problem, monitor, position, depth
        self._path = path
        self._expansion = problem.enter_node(monitor, path, position, depth)
        self.sign = problem.game.player(position).sign

    def is_gameover(self) -> bool:
        """Return True if this state is a leaf of the search: the match is over, or the depth is reached."""
        return not self._expansion.moves

    def evaluate(self) -> int:
        """Return the value of this state, a leaf, for Maxie."""
        return self._expansion.value

    def available_moves(self) -> Iterable[tuple[int, M]]:
        """Return the legal moves, each as its index in move order and the move."""
        return enumerate(self._expansion.moves)

    def next_state(self, move: tuple[int, M]) -> _SearchState[P, M]:
        """Return the state after `move`, a pair (index in move order, move) from `available_moves`."""
        position_after = self._problem.game.successor(self._position, move[1])
        return _SearchState(
            self._problem, self._monitor, position_after, self._depth - 1, (*self._path, move[0])
        )

    def report_score(self, score: int, move: M | None = None) -> int:
        """Return `score` unchanged, and report it to the monitor as this state's value for Maxie, with the best move."""
        self._monitor.leave_node(self._path, self._position, MoveValue(score, move))
        return score


def higher_order_minimax(
    problem: Problem[P, M], position: P, depth: int, monitor: SearchMonitor | None = None
) -> SearchResult[M]:
    """Search `position` to `depth` plies by minimax in a concise form: the `max` or `min` of a `map` over the moves.

    Python's `max` and `min` keep the first of equal values, which belongs to the first move in move order. Only the root keeps the move of
    each score, so the returned main line has only the best move. Source 002 in docs/search.md has this form.
    """

    def max_play(state: _SearchState[P, M]) -> int:
        if state.is_gameover():
            return state.evaluate()
        scores = map(lambda move: play(state.next_state(move)), state.available_moves())  # noqa: C417 - source 002's own words
        return state.report_score(max(scores))

    def min_play(state: _SearchState[P, M]) -> int:
        if state.is_gameover():
            return state.evaluate()
        scores = map(lambda move: play(state.next_state(move)), state.available_moves())  # noqa: C417 - source 002's own words
        return state.report_score(min(scores))

    def play(state: _SearchState[P, M]) -> int:
        # If the players alternate, this calls source 002's min_play after max_play, and max_play after min_play.
        return max_play(state) if state.sign > 0 else min_play(state)

    root = _SearchState(problem, monitor or SearchMonitor(), position, depth)
    if root.is_gameover():
        return SearchResult(root.evaluate(), None)
    choose_best = max if root.sign > 0 else min
    pairs = map(lambda move: (move, play(root.next_state(move))), root.available_moves())  # noqa: C417
    (_, move), score = choose_best(pairs, key=itemgetter(1))
    return SearchResult(root.report_score(score, move), move, (move,))


def one_line_minimax(
    problem: Problem[P, M], position: P, depth: int, monitor: SearchMonitor | None = None
) -> SearchResult[M]:
    """Search `position` to `depth` plies by minimax with a single expression for both players.

    One expression suffices because min(a, b) = -max(-a, -b). This form is an exercise in source 002 (docs/search.md).
    """

    def score(s: _SearchState[P, M]) -> int:
        return s.evaluate() if s.is_gameover() else s.report_score(s.sign * max(s.sign * score(s.next_state(m)) for m in s.available_moves()))  # fmt: skip

    root = _SearchState(problem, monitor or SearchMonitor(), position, depth)
    if root.is_gameover():
        return SearchResult(root.evaluate(), None)
    pairs = ((root.sign * score(root.next_state(m)), m) for m in root.available_moves())
    best, (_, move) = max(pairs, key=itemgetter(0))
    return SearchResult(root.report_score(root.sign * best, move), move, (move,))


def negamax(
    problem: Problem[P, M], position: P, depth: int, monitor: SearchMonitor | None = None
) -> SearchResult[M]:
    """Search `position` to `depth` plies by minimax with one function for both players.

    One function suffices because max(a, b) = -min(-a, -b). This form is from source 002 (docs/search.md). Inside the
    search, values are for the player to move, so the sign of a value is changed when the turn passes to the other
    player.
    """
    monitor = monitor or SearchMonitor()
    game = problem.game

    def search_node(position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        sign = game.player(position).sign
        expansion = problem.enter_node(monitor, path, position, depth)
        if not expansion.moves:
            return sign * expansion.value, ()
        best: int = -INFINITY
        line: Line[M] = ()
        for index, move in enumerate(expansion.moves):
            child = game.successor(position, move)
            value, rest = search_node(child, depth - 1, (*path, index))
            value *= sign * game.player(child).sign
            if value > best:
                best, line = value, (move, *rest)
        monitor.leave_node(path, position, MoveValue(sign * best, line[0]))
        return best, line

    value, line = search_node(position, depth, ())
    return SearchResult(game.player(position).sign * value, line[0] if line else None, line)
