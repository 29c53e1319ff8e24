"""Alpha-beta search for engines: fail-soft, with ordered moves and an optional transposition table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic

from arena.bots.search.monitor import Path, SearchMonitor, SearchStopped
from arena.bots.search.move_values import MoveValue
from arena.bots.search.ordering import OrderedMove, order_best_first
from arena.bots.search.play.root import BestRootMove, ProgressCallback, list_ordered_root_moves
from arena.bots.search.problem import Evaluator, Line, Problem, SearchResult
from arena.bots.search.search_values import INFINITY
from arena.bots.search.table import Bound, Table
from arena.games.core import Game, M, P


class AlphaBeta(Generic[P, M]):
    """Alpha-beta search that orders moves by the results of the previous iteration, then by static values (estimates).

    If `sort_statically` is True, the moves of nodes at least 2 plies above the leaves are sorted by the static values of the
    positions after them. If it is False and there is no table, a new object's first search visits exactly the nodes of textbook
    alpha-beta. `root.BestRootMove` describes the window of each root move.
    """

    def __init__(
        self, evaluator: Evaluator[P], *, table: Table[P, M] | None = None, sort_statically: bool = True
    ) -> None:
        self.evaluator = evaluator
        self.table = table
        self.sort_statically = sort_statically
        self._hints: dict[P, M] = {}

    def __call__(
        self,
        game: Game[P, M],
        position: P,
        depth: int,
        *,
        root_moves: Sequence[M],
        monitor: SearchMonitor,
        on_progress: ProgressCallback[M],
    ) -> SearchResult[M]:
        if self.table is not None:
            self.table.begin_search()
        problem = Problem(game, self.evaluator)
        root: BestRootMove[P, M] = BestRootMove(game.player(position).sign, on_progress)
        monitor.enter_node((), position, depth, -INFINITY, INFINITY)
        self._search_root(
            problem, monitor, root, list_ordered_root_moves(problem, position, root_moves), depth
        )
        result = root.make_result()
        monitor.leave_node((), position, MoveValue(result.value, result.move))
        self._hints = dict(monitor.hints)
        return result

    def _search_root(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        root: BestRootMove[P, M],
        ordered_moves: Sequence[OrderedMove[P, M]],
        depth: int,
    ) -> None:
        for ordered_move in ordered_moves:
            alpha = root.get_alpha(ordered_move.move_index)
            value, line = self._search_node(
                problem,
                monitor,
                ordered_move.child,
                depth - 1,
                (ordered_move.move_index,),
                root.sign,
                alpha,
                INFINITY,
            )
            root.record_result(ordered_move, value, line)
            root.report_progress()

    def _search_node(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        position: P,
        depth: int,
        path: Path,
        parent_sign: int,
        alpha: int,
        beta: int,
    ) -> tuple[int, Line[M]]:
        """Return the value of a position within the window from `alpha` to `beta`, and the moves that lead to the value.

        Value and window are for the player who moves at the parent; `parent_sign` is 1 if this player is Maxie, else -1.
        """
        sign = problem.game.player(position).sign
        if sign != parent_sign:
            alpha, beta = -beta, -alpha
        low, high = (alpha, beta) if sign > 0 else (-beta, -alpha)
        monitor.enter_node(path, position, depth, low, high)
        if self.table is not None and depth > 0:
            entry = self.table.probe(position, depth, len(path), alpha, beta)
            if entry is not None:
                value, is_older = entry
                monitor.record_table_hit(path, position, sign * value, is_at_horizon=is_older)
                return sign * parent_sign * value, ()
        moves = problem.game.moves(position) if depth > 0 else ()
        if not moves:
            expansion = problem.expand(position, 0, len(path))
            monitor.record_leaf(path, position, expansion.value, is_at_horizon=expansion.is_at_horizon)
            return parent_sign * expansion.value, ()
        if depth == 1 and monitor.events is None:
            value, line = self._search_leaf_children(problem, monitor, position, moves, len(path) + 1, beta)
        else:
            sort_statically = self.sort_statically and depth > 1
            if sort_statically:
                monitor.sort_estimates += len(moves)
            ordered_moves = order_best_first(
                problem,
                position,
                moves,
                self._find_hint(position),
                plies_from_root=len(path),
                sort_statically=sort_statically,
            )
            value, line = self._search_children(
                problem, monitor, ordered_moves, depth, path, sign, alpha, beta
            )
        if monitor.events is not None:
            monitor.leave_node(path, position, MoveValue(sign * value, line[0]), has_cutoff=value >= beta)
        monitor.hints[position] = line[0]
        if self.table is not None:
            bound = Bound.LOWER if value >= beta else Bound.UPPER if value <= alpha else Bound.EXACT
            self.table.store(position, depth, len(path), value, bound, line[0])
        return sign * parent_sign * value, line

    def _find_hint(self, position: P) -> M | None:
        hint = self._hints.get(position)
        if hint is None and self.table is not None:
            return self.table.get_stored_move(position)
        return hint

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
        """Search the children of a node within a window. Return the value of the best move, and the line that starts with it.

        Value and window are for the player to move at the node; `sign` is 1 if this player is Maxie, -1 if Minnie.
        """
        best: int = -INFINITY
        best_line: Line[M] = ()
        for ordered_move in ordered_moves:
            value, line = self._search_node(
                problem,
                monitor,
                ordered_move.child,
                depth - 1,
                (*path, ordered_move.move_index),
                sign,
                max(alpha, best),
                beta,
            )
            if value > best:
                best, best_line = value, (ordered_move.move, *line)
                if best >= beta:
                    break
        return best, best_line

    def _search_leaf_children(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor,
        position: P,
        moves: Sequence[M],
        plies_from_root: int,
        beta: int,
    ) -> tuple[int, Line[M]]:
        """Search the children of `position`, all of which are leaves. They are not recorded in a trace.

        The result is the same as from `_search_children`. Most nodes of a search are such leaves, so this code does as
        little as possible for each.

        plies_from_root  number of plies from the root to a child
        beta             upper bound of the window, for the player to move at `position`
        """
        sign = problem.game.player(position).sign
        successor, outcome, evaluator = problem.game.successor, problem.game.outcome, problem.evaluator
        stop, hint = monitor.stop, self._find_hint(position)
        best, best_move = -INFINITY, moves[0]
        leaf_count, is_at_horizon = 0, False
        try:
            for move in moves if hint is None else sorted(moves, key=lambda move: move != hint):
                if stop():
                    raise SearchStopped
                leaf_count += 1
                child = successor(position, move)
                if outcome(child) is None:
                    is_at_horizon = True
                    value = sign * evaluator(child)
                else:
                    value = sign * problem.expand(child, 0, plies_from_root).value
                if value > best:
                    best, best_move = value, move
                    if best >= beta:
                        break
        finally:
            monitor.count_leaves(leaf_count, is_at_horizon=is_at_horizon)
        return best, (best_move,)
