"""Holden's alpha-beta: the window also clamps what is returned (003).

Contract (fail-hard). An inner node with the window (α, β) returns its minimax value clamped into it:
max(α, min(β, MM)). A leaf returns its value as it is; the parent clamps it. The root's window is
beyond all values, so the root is exact, with the leftmost best move.
"""

from __future__ import annotations

from arena.bots.search.edges import Edge
from arena.bots.search.problem import Line, Problem, Result
from arena.bots.search.values import INFINITY
from arena.bots.search.watch import Path, Watch
from arena.games.core import M, P, Player


def clamped(problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None) -> Result[M]:
    """Holden's functions max and min, with the move kept beside the value. A stop raises `Stopped`."""
    watch = watch or Watch()
    game = problem.game

    def maxie(alpha: int, beta: int, position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        watch.enter(path, position, depth, alpha, beta)
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return opened.value, ()
        line: Line[M] = ()
        for index, move in enumerate(opened.moves):
            value, rest = minnie(alpha, beta, game.successor(position, move), depth - 1, (*path, index))
            if value > alpha:
                alpha, line = value, (move, *rest)
            if alpha >= beta:
                watch.leave(path, position, Edge(beta, line[0]), pruned=True)
                return beta, line
        watch.leave(path, position, Edge(alpha, line[0] if line else None))
        return alpha, line

    def minnie(alpha: int, beta: int, position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        watch.enter(path, position, depth, alpha, beta)
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return opened.value, ()
        line: Line[M] = ()
        for index, move in enumerate(opened.moves):
            value, rest = maxie(alpha, beta, game.successor(position, move), depth - 1, (*path, index))
            if value < beta:
                beta, line = value, (move, *rest)
            if beta <= alpha:
                watch.leave(path, position, Edge(alpha, line[0]), pruned=True)
                return alpha, line
        watch.leave(path, position, Edge(beta, line[0] if line else None))
        return beta, line

    first = maxie if game.player(position) is Player.MAXIE else minnie
    value, line = first(-INFINITY, INFINITY, position, depth, ())
    return Result(value, line[0] if line else None, line)
