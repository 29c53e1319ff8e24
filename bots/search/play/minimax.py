"""Minimax for play: every node to the full depth, without a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.move_values import MoveValue
from arena.bots.search.play.root import Progress, Root, list_ordered_root_moves
from arena.bots.search.problem import Evaluator, Line, Problem, SearchResult
from arena.bots.search.search_values import INFINITY
from arena.games.core import Game, M, P


class Minimax(Generic[P, M]):
    """Minimax search, the simplest implementation of the contract of `bots.search.play`."""

    def __init__(self, evaluator: Evaluator[P]) -> None:
        self.evaluator = evaluator

    def __call__(
        self,
        game: Game[P, M],
        position: P,
        depth: int,
        *,
        order: Sequence[M],
        monitor: SearchMonitor,
        progress: Progress[M],
    ) -> SearchResult[M]:
        problem = Problem(game, self.evaluator)
        sign = game.player(position).sign
        root: Root[P, M] = Root(sign, progress)
        monitor.enter((), position, depth)
        for ordered in list_ordered_root_moves(problem, position, order):
            value, line = self._search_node(problem, monitor, ordered.child, depth - 1, (ordered.number,))
            root.record_result(ordered, sign * value, line)
            root.report_progress()
        result = root.result()
        monitor.leave((), position, MoveValue(result.value, result.move))
        return result

    def _search_node(
        self, problem: Problem[P, M], monitor: SearchMonitor, position: P, depth: int, path: Path
    ) -> tuple[int, Line[M]]:
        """Return the value of a node for Maxie, and the line that leads to the value."""
        monitor.enter(path, position, depth)
        sign = problem.game.player(position).sign
        expansion = problem.expand(position, depth, len(path))
        if not expansion.moves:
            monitor.record_leaf(path, position, expansion.value, horizon=expansion.horizon)
            return expansion.value, ()
        best: int = -INFINITY
        best_line: Line[M] = ()
        for index, move in enumerate(expansion.moves):
            child = problem.game.successor(position, move)
            value, line = self._search_node(problem, monitor, child, depth - 1, (*path, index))
            if sign * value > best:
                best, best_line = sign * value, (move, *line)
        monitor.leave(path, position, MoveValue(sign * best, best_line[0]))
        return sign * best, best_line
