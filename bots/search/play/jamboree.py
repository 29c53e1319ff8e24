"""Jamboree for play: the course's parallel form of `alphabeta` (source 001, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.ordering import OrderedMove, split_moves
from arena.bots.search.play.alphabeta import AlphaBeta
from arena.bots.search.play.root import Root
from arena.bots.search.pool import ThreadPool
from arena.bots.search.problem import Evaluator, Line, Problem
from arena.bots.search.values import INFINITY
from arena.games.core import M, P


class Jamboree(AlphaBeta[P, M]):
    """Jamboree with a prune percentage (source 001, section 6), at every inner node, on a pool of threads.

    The first floor(prune × n) moves of a node are searched in sequence, narrowing the window; the
    rest in parallel with the resulting window. It visits the same nodes for every pool.
    """

    def __init__(self, evaluator: Evaluator[P], pool: ThreadPool, prune: float) -> None:
        if not 0 <= prune <= 1:
            raise ValueError(f"prune must be a number from 0 to 1, not {prune}")
        super().__init__(evaluator)
        self.pool = pool
        self.prune = prune

    def _search_root(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        root: Root[P, M],
        choices: Sequence[OrderedMove[P, M]],
        depth: int,
    ) -> None:
        first, rest = split_moves(choices, self.prune)
        super()._search_root(problem, monitor, root, first, depth)
        if not rest:
            return
        windows = [(root.alpha(choice.number), INFINITY) for choice in rest]
        for choice, (value, line) in zip(
            rest, self._parallel(problem, monitor, rest, windows, depth, (), root.sign), strict=True
        ):
            root.update(choice, value, line)
        root.report()

    def _children(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        choices: Iterable[OrderedMove[P, M]],
        depth: int,
        path: Path,
        sign: int,
        alpha: int,
        beta: int,
    ) -> tuple[int, Line[M]]:
        first, rest = split_moves(list(choices), self.prune)
        best, best_line = super()._children(problem, monitor, first, depth, path, sign, alpha, beta)
        if best >= beta or not rest:
            return best, best_line
        windows = [(max(alpha, best), beta)] * len(rest)
        for choice, (value, line) in zip(
            rest, self._parallel(problem, monitor, rest, windows, depth, path, sign), strict=True
        ):
            if value > best:
                best, best_line = value, (choice.move, *line)
        return best, best_line

    def _parallel(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        choices: Sequence[OrderedMove[P, M]],
        windows: Sequence[tuple[int, int]],
        depth: int,
        path: Path,
        sign: int,
    ) -> list[tuple[int, Line[M]]]:
        parts = [monitor.fork() for _ in choices]

        def search(n: int) -> tuple[int, Line[M]]:
            choice = choices[n]
            return self._node(
                problem, parts[n], choice.child, depth - 1, (*path, choice.number), sign, *windows[n]
            )

        try:
            return self.pool.map(search, range(len(choices)))
        finally:
            # the nodes of stopped parts count too
            monitor.join(parts)
