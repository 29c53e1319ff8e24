"""Jamboree as the course has it: alpha-beta for some children, then the rest in parallel (001, section 6).

Of a node's n children the first floor(prune_percentage × n) are searched in sequence, each with the
bounds that its predecessors left (erratum 5: the floor of a real number). The others are searched in
parallel, all with the bounds as they are then, and the best of their results is taken in move order.
With 0 it visits what minimax visits, with 1 what alpha-beta visits.

Contract: as `bots.search.alphabeta`. The window of a child never depends on when another thread
finishes, so value, move, nodes and trace are the same in every run and on every pool.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.bots.search.edges import NO_ALPHA, NO_BETA, Edge, leaf, max_alpha, min_beta, step
from arena.bots.search.pool import Pool
from arena.bots.search.problem import Problem, Result
from arena.bots.search.splitting import split_moves
from arena.bots.search.watch import Path, Watch
from arena.games.core import M, P, Player

Numbered = tuple[int, M]
"""A move with its number in move order."""


def jamboree(
    problem: Problem[P, M],
    position: P,
    depth: int,
    watch: Watch | None = None,
    *,
    pool: Pool,
    prune_percentage: float = 0.5,
) -> Result[M]:
    """Search the root with no bounds. A stop raises `Stopped` when all its parts have ended."""
    watch = watch or Watch()
    game = problem.game

    def f(depth: int, position: P, alpha: Edge, beta: Edge, path: Path, watch: Watch) -> Edge:
        watch.enter(path, position, depth, alpha, beta)
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return leaf(opened.value)
        abmoves, mmmoves = split_moves(list(enumerate(opened.moves)), prune_percentage)
        for index, move in abmoves:
            child = g(depth - 1, game.successor(position, move), alpha, beta, (*path, index), watch)
            alpha = max_alpha(alpha, step(move, child.value))
            if alpha.value >= beta.value:
                watch.leave(path, position, alpha, pruned=True)
                return alpha
        for result in in_parallel(mmmoves, depth, position, alpha, beta, path, watch):
            alpha = max_alpha(alpha, result)
        watch.leave(path, position, alpha)
        return alpha

    def g(depth: int, position: P, alpha: Edge, beta: Edge, path: Path, watch: Watch) -> Edge:
        watch.enter(path, position, depth, alpha, beta)
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return leaf(opened.value)
        abmoves, mmmoves = split_moves(list(enumerate(opened.moves)), prune_percentage)
        for index, move in abmoves:
            child = f(depth - 1, game.successor(position, move), alpha, beta, (*path, index), watch)
            beta = min_beta(beta, step(move, child.value))
            if beta.value <= alpha.value:
                watch.leave(path, position, beta, pruned=True)
                return beta
        for result in in_parallel(mmmoves, depth, position, alpha, beta, path, watch):
            beta = min_beta(beta, result)
        watch.leave(path, position, beta)
        return beta

    def in_parallel(
        mmmoves: Sequence[Numbered[M]],
        depth: int,
        position: P,
        alpha: Edge,
        beta: Edge,
        path: Path,
        watch: Watch,
    ) -> list[Edge]:
        """Steps for the moves, in move order, each searched with the same bounds."""
        child_of = g if game.player(position) is Player.MAXIE else f

        def search(part: tuple[Numbered[M], Watch]) -> Edge:
            (index, move), fork = part
            after = game.successor(position, move)
            return step(move, child_of(depth - 1, after, alpha, beta, (*path, index), fork).value)

        forks = [watch.fork() for _ in mmmoves]
        try:
            return pool.map(search, list(zip(mmmoves, forks, strict=True)))
        finally:
            watch.join(forks)

    first = f if game.player(position) is Player.MAXIE else g
    result = first(depth, position, NO_ALPHA, NO_BETA, (), watch)
    return Result(result.value, result.move, () if result.move is None else (result.move,))
