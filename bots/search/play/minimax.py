"""Minimax search for engines: it visits every node to the full depth."""

from __future__ import annotations

from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.play.alphabeta import AlphaBeta
from arena.bots.search.problem import Evaluator, Line, Problem
from arena.bots.search.search_values import INFINITY
from arena.games.core import M, P


class Minimax(AlphaBeta[P, M]):
    """Minimax search: alpha-beta with an unbounded window at every node, so that nothing is cut, and no move ordering."""

    def __init__(self, evaluator: Evaluator[P]) -> None:
        super().__init__(evaluator, sort_statically=False)

    def _search_node(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        position: P,
        depth: int,
        path: Path,
        parent_sign: int,
        alpha: int,  # noqa: ARG002  # the window narrows only in alpha-beta
        beta: int,  # noqa: ARG002
    ) -> tuple[int, Line[M]]:
        result = super()._search_node(
            problem, monitor, position, depth, path, parent_sign, -INFINITY, INFINITY
        )
        monitor.hints.clear()  # minimax searches in move order, so it needs no hints
        return result

    def _find_hint(self, position: P) -> None:
        """Return None, whatever the position: no move is searched first, because minimax keeps the game's move order."""
