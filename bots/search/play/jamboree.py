"""Jamboree for play: the course's parallel form of `alphabeta` (001, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.bots.search.ordering import Choice
from arena.bots.search.play.alphabeta import AlphaBeta
from arena.bots.search.play.root import Root
from arena.bots.search.pool import Pool
from arena.bots.search.problem import Evaluator, Line, Problem
from arena.bots.search.splitting import split_moves
from arena.bots.search.values import INFINITY
from arena.bots.search.watch import Path, Watch
from arena.games.core import M, P


class Jamboree(AlphaBeta[P, M]):
    """Jamboree with a prune percentage (001, section 6), at every inner node, on a pool of threads.

    The first floor(prune × n) moves of a node are searched in sequence, narrowing the window; the
    rest in parallel with the window as it is then. Whatever the pool, it visits the same nodes.
    """

    def __init__(self, evaluator: Evaluator[P], pool: Pool, prune: float, *, static: bool = True) -> None:
        if not 0 <= prune <= 1:
            raise ValueError(f"the prune percentage is a number from 0 to 1, not {prune}")
        super().__init__(evaluator, static=static)
        self.pool = pool
        self.prune = prune

    def _search_root(
        self,
        problem: Problem[P, M],
        watch: Watch,
        root: Root[P, M],
        choices: Sequence[Choice[P, M]],
        depth: int,
    ) -> None:
        first, rest = split_moves(choices, self.prune)
        super()._search_root(problem, watch, root, first, depth)
        if not rest:
            return
        windows = [(-INFINITY, -root.alpha(choice.number)) for choice in rest]
        for choice, (value, line) in zip(
            rest, self._parallel(problem, watch, rest, windows, depth, ()), strict=True
        ):
            root.take(choice, value, line)
        root.tell()

    def _children(
        self,
        problem: Problem[P, M],
        watch: Watch,
        choices: Iterable[Choice[P, M]],
        depth: int,
        path: Path,
        alpha: int,
        beta: int,
    ) -> tuple[int, Line[M]]:
        first, rest = split_moves(list(choices), self.prune)
        best, best_line = super()._children(problem, watch, first, depth, path, alpha, beta)
        if best >= beta or not rest:
            return best, best_line
        windows = [(-beta, -max(alpha, best))] * len(rest)
        for choice, (value, line) in zip(
            rest, self._parallel(problem, watch, rest, windows, depth, path), strict=True
        ):
            if value > best:
                best, best_line = value, (choice.move, *line)
        return best, best_line

    def _parallel(
        self,
        problem: Problem[P, M],
        watch: Watch,
        choices: Sequence[Choice[P, M]],
        windows: Sequence[tuple[int, int]],
        depth: int,
        path: Path,
    ) -> list[tuple[int, Line[M]]]:
        parts = [watch.fork() for _ in choices]

        def search(n: int) -> tuple[int, Line[M]]:
            choice = choices[n]
            value, line = self._node(
                problem, parts[n], choice.child, depth - 1, (*path, choice.number), *windows[n]
            )
            return -value, line

        try:
            return self.pool.map(search, range(len(choices)))
        finally:
            # what a stopped part has visited counts too
            watch.join(parts)
