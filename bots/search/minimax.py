"""Minimax in three forms: the value of a node when both players play as well as they can.

Depth is the number of plies that are looked ahead. All three visit every node to that depth, give
the exact value, and answer with the leftmost best move. None of them can be stopped with a useful
answer: a stop raises `Stopped`.
"""

from __future__ import annotations

from operator import itemgetter

from bots.search.edges import Edge
from bots.search.problem import Line, Problem, Result
from bots.search.values import INFINITY
from bots.search.watch import Path, Watch
from games.core import M, P, Player


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


def higher_order(problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None) -> Result[M]:
    """The concise form: `max` and `min` over a `map` (002).

    Python's `max` and `min` keep the first of equals, which is the leftmost move. As in 002, the
    root works on pairs of a move and its score (erratum 8), so the main line is only that move.
    """
    watch = watch or Watch()
    game = problem.game

    def scored(position: P, depth: int, path: Path) -> tuple[M | None, int]:
        watch.enter(path, position, depth)
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return None, opened.value

        def after(numbered: tuple[int, M]) -> tuple[M, int]:
            index, move = numbered
            return move, scored(game.successor(position, move), depth - 1, (*path, index))[1]

        best = max if game.player(position) is Player.MAXIE else min
        move, score = best(map(after, enumerate(opened.moves)), key=itemgetter(1))
        watch.leave(path, position, Edge(score, move))
        return move, score

    move, score = scored(position, depth, ())
    return Result(score, move, () if move is None else (move,))


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
