"""Parallel search Jamboree, as in a course on game search: alpha-beta for a node's first children, then the rest in parallel.

The course is source 001 in docs/search.md. Its parameter prune_percentage, a number from 0 to 1, is called
prune_fraction here.

Of a node's n children, the first floor(prune_fraction × n) are searched in sequence, each with the bounds that the children
before it left. The other children are then searched in parallel, all with the same bounds, and the best of their results is
taken; of equal results, the first in move order. With prune_fraction 0 the search visits the nodes of minimax, with 1 the
nodes of alpha-beta.

Contract: the same as for `bots.search.alphabeta`. The window of a child never depends on when another thread finishes, so
value, move, nodes and trace are the same in every run and for every thread pool.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.move_values import NO_ALPHA, NO_BETA, MoveValue, max_alpha, min_beta
from arena.bots.search.ordering import split_by_prune_fraction
from arena.bots.search.problem import Problem, SearchResult
from arena.bots.search.thread_pool import ThreadPool
from arena.games.core import M, P, Player

NumberedMove = tuple[int, M]
"""A move with its index in move order, as (index, move)."""


def jamboree(
    problem: Problem[P, M],
    position: P,
    depth: int,
    monitor: SearchMonitor | None = None,
    *,
    pool: ThreadPool,
    prune_fraction: float = 0.5,
) -> SearchResult[M]:
    """Search `position` to `depth` plies by Jamboree, a parallel alpha-beta, in the form of source 001 (docs/search.md).

    The window at the root is unbounded.

    pool            threads for the parallel parts
    prune_fraction  fraction of a node's moves that are searched in sequence, from 0 to 1

    Raises SearchStopped if the monitor stops the search, after all parallel parts have ended.
    """
    monitor = monitor or SearchMonitor()
    game = problem.game

    def search_maxie_node(
        depth: int, position: P, alpha: MoveValue, beta: MoveValue, path: Path, monitor: SearchMonitor
    ) -> MoveValue:
        expansion = problem.enter_node(monitor, path, position, depth, alpha, beta)
        if not expansion.moves:
            return MoveValue(expansion.value)
        sequential_moves, parallel_moves = split_by_prune_fraction(
            list(enumerate(expansion.moves)), prune_fraction
        )
        for index, move in sequential_moves:
            child = search_child(
                depth - 1, game.successor(position, move), alpha, beta, (*path, index), monitor
            )
            alpha = max_alpha(alpha, MoveValue(child.value, move))
            if alpha.value >= beta.value:
                monitor.leave_node(path, position, alpha, has_cutoff=True)
                return alpha
        for result in search_in_parallel(parallel_moves, depth, position, alpha, beta, path, monitor):
            alpha = max_alpha(alpha, result)
        monitor.leave_node(path, position, alpha)
        return alpha

    def search_minnie_node(
        depth: int, position: P, alpha: MoveValue, beta: MoveValue, path: Path, monitor: SearchMonitor
    ) -> MoveValue:
        expansion = problem.enter_node(monitor, path, position, depth, alpha, beta)
        if not expansion.moves:
            return MoveValue(expansion.value)
        sequential_moves, parallel_moves = split_by_prune_fraction(
            list(enumerate(expansion.moves)), prune_fraction
        )
        for index, move in sequential_moves:
            child = search_child(
                depth - 1, game.successor(position, move), alpha, beta, (*path, index), monitor
            )
            beta = min_beta(beta, MoveValue(child.value, move))
            if beta.value <= alpha.value:
                monitor.leave_node(path, position, beta, has_cutoff=True)
                return beta
        for result in search_in_parallel(parallel_moves, depth, position, alpha, beta, path, monitor):
            beta = min_beta(beta, result)
        monitor.leave_node(path, position, beta)
        return beta

    def search_in_parallel(
        parallel_moves: Sequence[NumberedMove[M]],
        depth: int,
        position: P,
        alpha: MoveValue,
        beta: MoveValue,
        path: Path,
        monitor: SearchMonitor,
    ) -> list[MoveValue]:
        """Search `parallel_moves` in parallel, all within one window, and return their values in move order."""

        def search_move(move_and_monitor: tuple[NumberedMove[M], SearchMonitor]) -> MoveValue:
            (index, move), fork = move_and_monitor
            position_after = game.successor(position, move)
            child = search_child(depth - 1, position_after, alpha, beta, (*path, index), fork)
            return MoveValue(child.value, move)

        forks = [monitor.fork() for _ in parallel_moves]
        try:
            return pool.map(search_move, list(zip(parallel_moves, forks, strict=True)))
        finally:
            monitor.join(forks)

    def search_child(
        depth: int, position: P, alpha: MoveValue, beta: MoveValue, path: Path, monitor: SearchMonitor
    ) -> MoveValue:
        # If the players alternate, this calls the source's g below f, and f below g.
        return (search_maxie_node if game.player(position) is Player.MAXIE else search_minnie_node)(
            depth, position, alpha, beta, path, monitor
        )

    result = search_child(depth, position, NO_ALPHA, NO_BETA, (), monitor)
    return SearchResult(result.value, result.move, () if result.move is None else (result.move,))
