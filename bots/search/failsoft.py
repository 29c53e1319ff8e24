"""Fail-soft alpha-beta: a node returns the best value that it has seen, also outside its window.

Contract. The bounds of `bots.search.alphabeta` hold, and are tighter: a result at or below α is the
best upper bound that was found, one at or above β the best lower bound. It visits the same nodes.
The root is exact, with the leftmost best move and the main line. (Fishburn's form; the sources have
only the two others. Tables and null windows live on the tighter bounds.)
"""

from __future__ import annotations

from arena.bots.search.edges import Edge
from arena.bots.search.problem import Line, Problem, Result
from arena.bots.search.values import INFINITY
from arena.bots.search.watch import Path, Watch
from arena.games.core import M, P


def failsoft(problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None) -> Result[M]:
    """Search the root with no bounds; inside, values are for the player to move (negamax)."""
    watch = watch or Watch()
    game = problem.game

    def best(alpha: int, beta: int, position: P, depth: int, path: Path) -> tuple[int, Line[M]]:
        sign = game.player(position).sign
        watch.enter(path, position, depth, *((alpha, beta) if sign > 0 else (-beta, -alpha)))
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return sign * opened.value, ()
        top: int = -INFINITY
        line: Line[M] = ()
        for index, move in enumerate(opened.moves):
            child = game.successor(position, move)
            value, rest = best(-beta, -max(alpha, top), child, depth - 1, (*path, index))
            if -value > top:
                top, line = -value, (move, *rest)
            if top >= beta:
                break
        watch.leave(path, position, Edge(sign * top, line[0]), pruned=top >= beta)
        return top, line

    value, line = best(-INFINITY, INFINITY, position, depth, ())
    return Result(game.player(position).sign * value, line[0] if line else None, line)
