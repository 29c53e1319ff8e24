"""Minimax for play: every node to the full depth, no window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from arena.bots.search.edges import Edge
from arena.bots.search.play.root import Progress, Root, root_choices
from arena.bots.search.problem import Evaluator, Line, Problem, Result
from arena.bots.search.values import INFINITY
from arena.bots.search.watch import Path, Watch
from arena.games.core import Game, M, P


class Minimax(Generic[P, M]):
    """Keeps the contract of `bots.search.play` in the plainest way."""

    def __init__(self, evaluator: Evaluator[P]) -> None:
        self.evaluator = evaluator

    def __call__(
        self,
        game: Game[P, M],
        position: P,
        depth: int,
        *,
        order: Sequence[M],
        watch: Watch,
        progress: Progress[M],
    ) -> Result[M]:
        problem = Problem(game, self.evaluator)
        root: Root[P, M] = Root(game.player(position).sign, progress)
        watch.enter((), position, depth)
        for choice in root_choices(problem, position, order):
            value, line = self._node(problem, watch, choice.child, depth - 1, (choice.number,))
            root.take(choice, -value, line)
            root.tell()
        result = root.result()
        watch.leave((), position, Edge(result.value, result.move))
        return result

    def _node(
        self, problem: Problem[P, M], watch: Watch, position: P, depth: int, path: Path
    ) -> tuple[int, Line[M]]:
        watch.enter(path, position, depth)
        sign = problem.game.player(position).sign
        opened = problem.expand(position, depth, len(path))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return sign * opened.value, ()
        best: int = -INFINITY
        best_line: Line[M] = ()
        for index, move in enumerate(opened.moves):
            child = problem.game.successor(position, move)
            value, line = self._node(problem, watch, child, depth - 1, (*path, index))
            if -value > best:
                best, best_line = -value, (move, *line)
        watch.leave(path, position, Edge(sign * best, best_line[0]))
        return best, best_line
