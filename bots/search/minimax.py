"""Minimax in four forms: the value of a node when both players play as well as they can.

Depth is the number of plies that are looked ahead. All four visit every node to that depth, give
the exact value, and answer with the leftmost best move. None of them can be stopped with a useful
answer: a stop raises `Stopped`.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Generic

from arena.bots.search.edges import Edge
from arena.bots.search.problem import Line, Problem, Result
from arena.bots.search.values import INFINITY
from arena.bots.search.watch import Path, Watch
from arena.games.core import M, P, Player


def minimax(problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None) -> Result[M]:
    """The two mutually recursive functions (003; 002's standard form; 000's maximize and minimize).

    A later move must be strictly better to replace an earlier one, so the leftmost wins ties.
    Erratum 7: the last equation of 000's `minimize` must take the minimum.
    """
    watch = watch or Watch()
    game = problem.game

    def maxie(position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        watch.enter(path, position, depth)
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return opened.value, ()
        best: int = -INFINITY
        line: Line[M] = ()
        for index, move in enumerate(opened.moves):
            value, rest = minnie(game.successor(position, move), depth - 1, (*path, index))
            if value > best:
                best, line = value, (move, *rest)
        watch.leave(path, position, Edge(best, line[0]))
        return best, line

    def minnie(position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        watch.enter(path, position, depth)
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return opened.value, ()
        best: int = INFINITY
        line: Line[M] = ()
        for index, move in enumerate(opened.moves):
            value, rest = maxie(game.successor(position, move), depth - 1, (*path, index))
            if value < best:
                best, line = value, (move, *rest)
        watch.leave(path, position, Edge(best, line[0]))
        return best, line

    first = maxie if game.player(position) is Player.MAXIE else minnie
    value, line = first(position, depth, ())
    return Result(value, line[0] if line else None, line)


class _State(Generic[P, M]):
    """A game state with what 002 asks of one; the watch is told what is done with it."""

    def __init__(
        self, problem: Problem[P, M], watch: Watch, position: P, depth: int, path: Path = ()
    ) -> None:
        watch.enter(path, position, depth)
        self._problem, self._watch, self._position, self._depth = problem, watch, position, depth
        self._path = path
        self._opened = problem.expand(position, depth, len(path))
        self.sign = problem.game.player(position).sign

    def is_gameover(self) -> bool:
        """Whether nothing is looked at below this state."""
        return not self._opened.moves

    def evaluate(self) -> int:
        """The value for Maxie of a state below which nothing is looked at."""
        self._watch.leaf(self._path, self._position, self._opened.value, horizon=self._opened.horizon)
        return self._opened.value

    def available_moves(self) -> Iterable[tuple[int, M]]:
        """The moves with their numbers."""
        return enumerate(self._opened.moves)

    def next_state(self, move: tuple[int, M]) -> _State[P, M]:
        """The state after one of the moves."""
        after = self._problem.game.successor(self._position, move[1])
        return _State(self._problem, self._watch, after, self._depth - 1, (*self._path, move[0]))

    def scored(self, score: int, move: M | None = None) -> int:
        """The score, which the watch is told as that of this state for Maxie."""
        self._watch.leave(self._path, self._position, Edge(score, move))
        return score


def higher_order(problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None) -> Result[M]:
    """The concise form: `max` and `min` over a `map`, with max play and min play apart (002).

    Python's `max` and `min` keep the first of equals, which is the leftmost move. As in 002, only the root works
    on pairs of a move and its score (erratum 8), so the main line is only that move.
    """

    def max_play(state: _State[P, M]) -> int:
        if state.is_gameover():
            return state.evaluate()
        scores = map(lambda move: min_play(state.next_state(move)), state.available_moves())  # noqa: C417 - 002's own words
        return state.scored(max(scores))

    def min_play(state: _State[P, M]) -> int:
        if state.is_gameover():
            return state.evaluate()
        scores = map(lambda move: max_play(state.next_state(move)), state.available_moves())  # noqa: C417 - 002's own words
        return state.scored(min(scores))

    root = _State(problem, watch or Watch(), position, depth)
    if root.is_gameover():
        return Result(root.evaluate(), None)
    best, play = (max, min_play) if root.sign > 0 else (min, max_play)
    pairs = map(lambda move: (move, play(root.next_state(move))), root.available_moves())  # noqa: C417
    (_, move), score = best(pairs, key=itemgetter(1))
    return Result(root.scored(score, move), move, (move,))


def one_line(problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None) -> Result[M]:
    """002's exercise: the concise form in a single expression, because max(a, b) = -min(-a, -b)."""

    def score(s: _State[P, M]) -> int:
        return s.sign * (s.evaluate() if s.is_gameover() else s.scored(s.sign * max(-score(s.next_state(m)) for m in s.available_moves())))  # fmt: skip

    root = _State(problem, watch or Watch(), position, depth)
    if root.is_gameover():
        return Result(root.evaluate(), None)
    pairs = (((-score(root.next_state(m))), m) for m in root.available_moves())
    best, (_, move) = max(pairs, key=itemgetter(0))
    return Result(root.scored(root.sign * best, move), move, (move,))


def negamax(problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None) -> Result[M]:
    """One function for both players, because max(a, b) = -min(-a, -b) (002).

    Inside, a value is for the player to move; the players must alternate.
    """
    watch = watch or Watch()
    game = problem.game

    def best(position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        watch.enter(path, position, depth)
        sign = game.player(position).sign
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return sign * opened.value, ()
        top: int = -INFINITY
        line: Line[M] = ()
        for index, move in enumerate(opened.moves):
            value, rest = best(game.successor(position, move), depth - 1, (*path, index))
            if -value > top:
                top, line = -value, (move, *rest)
        watch.leave(path, position, Edge(sign * top, line[0]))
        return top, line

    value, line = best(position, depth, ())
    return Result(game.player(position).sign * value, line[0] if line else None, line)
