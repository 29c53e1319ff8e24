"""Alpha-beta for play: fail-soft, ordered, with a transposition table if it is given one (003)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic

from arena.bots.search.edges import Edge
from arena.bots.search.ordering import Choice, best_first
from arena.bots.search.play.root import Progress, Root, root_choices
from arena.bots.search.problem import Evaluator, Line, Problem, Result
from arena.bots.search.table import Kind, Table
from arena.bots.search.values import INFINITY
from arena.bots.search.watch import Path, Stopped, Watch
from arena.games.core import Game, M, P


class AlphaBeta(Generic[P, M]):
    """Ordered by the iteration before, then by static values.

    `static` sorts the moves of nodes that are at least 2 plies above the horizon by the static
    values of their successors. Without it, without a table and on its first call, it visits exactly
    what textbook alpha-beta visits. A root move to the left of the best gets a window one wider.
    """

    def __init__(
        self, evaluator: Evaluator[P], *, table: Table[P, M] | None = None, static: bool = True
    ) -> None:
        self.evaluator = evaluator
        self.table = table
        self.static = static
        self._hints: dict[P, M] = {}

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
        if self.table is not None:
            self.table.new_search()
        problem = Problem(game, self.evaluator)
        root: Root[P, M] = Root(game.player(position).sign, progress)
        watch.enter((), position, depth, -INFINITY, INFINITY)
        self._search_root(problem, watch, root, root_choices(problem, position, order), depth)
        result = root.result()
        watch.leave((), position, Edge(result.value, result.move))
        self._hints = dict(watch.hints)
        return result

    def _search_root(
        self,
        problem: Problem[P, M],
        watch: Watch,
        root: Root[P, M],
        choices: Sequence[Choice[P, M]],
        depth: int,
    ) -> None:
        for choice in choices:
            alpha = root.alpha(choice.number)
            value, line = self._node(
                problem, watch, choice.child, depth - 1, (choice.number,), -INFINITY, -alpha
            )
            root.take(choice, -value, line)
            root.tell()

    def _node(
        self,
        problem: Problem[P, M],
        watch: Watch,
        position: P,
        depth: int,
        path: Path,
        alpha: int,
        beta: int,
    ) -> tuple[int, Line[M]]:
        sign = problem.game.player(position).sign
        low, high = (alpha, beta) if sign > 0 else (-beta, -alpha)
        watch.enter(path, position, depth, low, high)
        if self.table is not None and depth > 0:
            known = self.table.look(position, depth, len(path), alpha, beta)
            if known is not None:
                value, older = known
                watch.recall(path, position, sign * value, horizon=older)
                return value, ()
        moves = problem.game.moves(position) if depth > 0 else ()
        if not moves:
            opened = problem.expand(position, 0, len(path))
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return sign * opened.value, ()
        if depth == 1 and watch.events is None:
            value, line = self._leaves(problem, watch, position, moves, len(path) + 1, beta)
        else:
            static = self.static and depth > 1
            if static:
                watch.sorted += len(moves)
            choices = best_first(
                problem,
                position,
                moves,
                self._hint(position),
                distance=len(path),
                static=static,
            )
            value, line = self._children(problem, watch, choices, depth, path, alpha, beta)
        if watch.events is not None:
            watch.leave(path, position, Edge(sign * value, line[0]), pruned=value >= beta)
        watch.hints[position] = line[0]
        if self.table is not None:
            kind = Kind.LOWER if value >= beta else Kind.UPPER if value <= alpha else Kind.EXACT
            self.table.keep(position, depth, len(path), value, kind, line[0])
        return value, line

    def _hint(self, position: P) -> M | None:
        hint = self._hints.get(position)
        if hint is None and self.table is not None:
            return self.table.move(position)
        return hint

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
        best: int = -INFINITY
        best_line: Line[M] = ()
        for choice in choices:
            value, line = self._node(
                problem,
                watch,
                choice.child,
                depth - 1,
                (*path, choice.number),
                -beta,
                -max(alpha, best),
            )
            if -value > best:
                best, best_line = -value, (choice.move, *line)
                if best >= beta:
                    break
        return best, best_line

    def _leaves(
        self,
        problem: Problem[P, M],
        watch: Watch,
        position: P,
        moves: Sequence[M],
        distance: int,
        beta: int,
    ) -> tuple[int, Line[M]]:
        """As `_children`, where all that follows is leaves, `distance` plies from the root, and no trace is kept.

        Most nodes are such leaves: so nothing is made for one but its position, and nothing called but the game.
        """
        sign = problem.game.player(position).sign
        successor, outcome, evaluator = problem.game.successor, problem.game.outcome, problem.evaluator
        stop, hint = watch.stop, self._hint(position)
        best, best_move = -INFINITY, moves[0]
        count, horizon = 0, False
        for move in moves if hint is None else sorted(moves, key=lambda move: move != hint):
            if stop():
                raise Stopped
            count += 1
            child = successor(position, move)
            if outcome(child) is None:
                horizon = True
                value = sign * evaluator(child)
            else:
                value = sign * problem.expand(child, 0, distance).value
            if value > best:
                best, best_move = value, move
                if best >= beta:
                    break
        watch.count(count, horizon=horizon)
        return best, (best_move,)
