"""Jamboree search for engines: alpha-beta that searches a part of each node's moves in parallel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.ordering import OrderedMove, split_by_prune_fraction
from arena.bots.search.play.alphabeta import AlphaBeta
from arena.bots.search.play.root import BestRootMove
from arena.bots.search.problem import Evaluator, Line, Problem
from arena.bots.search.search_values import INFINITY
from arena.bots.search.thread_pool import ThreadPool
from arena.games.core import M, P


class Jamboree(AlphaBeta[P, M]):
    """Jamboree: alpha-beta on a thread pool, as in section 6 of source 001 in docs/search.md.

    At every inner node, the first floor(prune × n) of the n moves are searched in sequence, narrowing the window, and
    the others in parallel with the resulting window. `prune` is a number from 0 to 1. The visited nodes do not depend on
    the number of threads.
    """

    def __init__(self, evaluator: Evaluator[P], pool: ThreadPool, prune_fraction: float) -> None:
        if not 0 <= prune_fraction <= 1:
            raise ValueError(f"prune must be a number from 0 to 1, not {prune_fraction}")
        super().__init__(evaluator)
        self.pool = pool
        self.prune_fraction = prune_fraction

    def _search_root(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        root: BestRootMove[P, M],
        ordered_moves: Sequence[OrderedMove[P, M]],
        depth: int,
    ) -> None:
        sequential_moves, parallel_moves = split_by_prune_fraction(ordered_moves, self.prune_fraction)
        super()._search_root(problem, monitor, root, sequential_moves, depth)
        if not parallel_moves:
            return
        windows = [(root.get_alpha(ordered_move.move_index), INFINITY) for ordered_move in parallel_moves]
        for ordered_move, (value, line) in zip(
            parallel_moves,
            self._search_parallel(problem, monitor, parallel_moves, windows, depth, (), root.sign),
            strict=True,
        ):
            root.record_result(ordered_move, value, line)
        root.report_progress()

    def _search_children(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        ordered_moves: Iterable[OrderedMove[P, M]],
        depth: int,
        path: Path,
        sign: int,
        alpha: int,
        beta: int,
    ) -> tuple[int, Line[M]]:
        sequential_moves, parallel_moves = split_by_prune_fraction(list(ordered_moves), self.prune_fraction)
        best, best_line = super()._search_children(
            problem, monitor, sequential_moves, depth, path, sign, alpha, beta
        )
        if best >= beta or not parallel_moves:
            return best, best_line
        windows = [(max(alpha, best), beta)] * len(parallel_moves)
        for ordered_move, (value, line) in zip(
            parallel_moves,
            self._search_parallel(problem, monitor, parallel_moves, windows, depth, path, sign),
            strict=True,
        ):
            if value > best:
                best, best_line = value, (ordered_move.move, *line)
        return best, best_line

    def _search_parallel(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        ordered_moves: Sequence[OrderedMove[P, M]],
        windows: Sequence[tuple[int, int]],
        depth: int,
        path: Path,
        sign: int,
    ) -> list[tuple[int, Line[M]]]:
        parts = [monitor.fork() for _ in ordered_moves]

        def search_numbered_move(move_number: int) -> tuple[int, Line[M]]:
            ordered_move = ordered_moves[move_number]
            return self._search_node(
                problem,
                parts[move_number],
                ordered_move.child,
                depth - 1,
                (*path, ordered_move.move_index),
                sign,
                *windows[move_number],
            )

        try:
            return self.pool.map(search_numbered_move, range(len(ordered_moves)))
        finally:
            # the nodes of stopped parts count too
            monitor.join(parts)
