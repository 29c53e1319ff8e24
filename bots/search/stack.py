"""Minimax and alpha-beta without recursion: a loop over an explicit stack.

The remaining work is kept as data instead of on the call stack: a list of frames, one for each node on the current
path. The idea is from source 004 in docs/search.md, whose program calls itself only in tail position. With `memoize`,
alpha-beta remembers the values of positions in a transposition table.

The results are the same as from `bots.search.minimax` and `bots.search.alphabeta.failsoft`: the exact value of the root and the
first best move in move order. Without `memoize`, the same nodes are visited in the same order. Memory is the only limit of the depth,
except that a win must be nearer than 100,000 plies (`bots.search.search_values`).

The values in a frame are for the player to move at the frame's node. The value that a node returns to its parent is for
Maxie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.move_values import MoveValue
from arena.bots.search.problem import Problem, SearchResult
from arena.bots.search.search_values import INFINITY
from arena.bots.search.table import Bound, Table
from arena.games.core import M, P


@dataclass(slots=True)
class StackFrame(Generic[P, M]):
    """Node whose children are being searched, in place of the call that a recursive search would have on the call stack."""

    position: P
    depth: int
    sign: int
    moves: Sequence[M]
    alpha: int
    beta: int
    next_index: int = 0
    best_value: int = -INFINITY
    best_move: M | None = None


def stack_minimax(
    problem: Problem[P, M], position: P, depth: int, monitor: SearchMonitor | None = None
) -> SearchResult[M]:
    """Search `position` to `depth` plies by minimax without recursion (source 004 in docs/search.md)."""
    return _StackSearch(problem, monitor, None, uses_cutoffs=False).search(position, depth)


def stack_alphabeta(
    problem: Problem[P, M],
    position: P,
    depth: int,
    monitor: SearchMonitor | None = None,
    *,
    memoize: bool = False,
) -> SearchResult[M]:
    """Search `position` to `depth` plies by fail-soft alpha-beta without recursion (source 004 in docs/search.md).

    If `memoize` is True, the search stores the value of each position (or only a bound on it, if there was a cutoff),
    and uses it when the position occurs again.
    """
    table: Table[P, M] | None = Table() if memoize else None
    return _StackSearch(problem, monitor, table, uses_cutoffs=True).search(position, depth)


class _StackSearch(Generic[P, M]):
    def __init__(
        self,
        problem: Problem[P, M],
        monitor: SearchMonitor | None,
        table: Table[P, M] | None,
        *,
        uses_cutoffs: bool,
    ) -> None:
        self._problem = problem
        self._monitor = monitor or SearchMonitor()
        self._table = table
        self._uses_cutoffs = uses_cutoffs
        self._stack: list[StackFrame[P, M]] = []

    def search(self, position: P, depth: int) -> SearchResult[M]:
        stack = self._stack
        maxie_value = self._enter_node(position, depth, -INFINITY, INFINITY)
        last_move: M | None = None
        while stack:
            frame = stack[-1]
            if maxie_value is not None:
                if frame.sign * maxie_value > frame.best_value:
                    frame.best_value = frame.sign * maxie_value
                    frame.best_move = frame.moves[frame.next_index - 1]
                maxie_value = None
            if frame.next_index == len(frame.moves) or (
                self._uses_cutoffs and frame.best_value >= frame.beta
            ):
                maxie_value, last_move = self._leave_node()
                continue
            move = frame.moves[frame.next_index]
            frame.next_index += 1
            child = self._problem.game.successor(frame.position, move)
            alpha = max(frame.alpha, frame.best_value) if self._uses_cutoffs else frame.alpha
            window = (alpha, frame.beta) if frame.sign > 0 else (-frame.beta, -alpha)
            maxie_value = self._enter_node(child, frame.depth - 1, *window)
        if maxie_value is None:
            raise AssertionError("the stack is empty, but the root has no value")
        return SearchResult(maxie_value, last_move, () if last_move is None else (last_move,))

    def _enter_node(self, position: P, depth: int, low: int, high: int) -> int | None:
        """Enter a node with the window (`low`, `high`) for Maxie.

        Return the node's value for Maxie if the node is a leaf or in the transposition table. Otherwise push a frame for its
        children, and return None.
        """
        stack, monitor, path = self._stack, self._monitor, self._make_current_path()
        sign = self._problem.game.player(position).sign
        alpha, beta = (low, high) if sign > 0 else (-high, -low)
        if self._uses_cutoffs:
            monitor.enter_node(path, position, depth, low, high)
        else:
            monitor.enter_node(path, position, depth)
        if self._table is not None and stack and depth > 0:
            entry = self._table.probe(position, depth, len(stack), alpha, beta)
            if entry is not None:
                monitor.record_table_hit(path, position, sign * entry[0], is_at_horizon=False)
                return sign * entry[0]
        expansion = self._problem.expand(position, depth, len(stack))
        if not expansion.moves:
            monitor.record_leaf(path, position, expansion.value, is_at_horizon=expansion.is_at_horizon)
            return expansion.value
        stack.append(StackFrame(position, depth, sign, expansion.moves, alpha, beta))
        return None

    def _leave_node(self) -> tuple[int, M | None]:
        """Remove the node on top of the stack. Return its value for Maxie and its best move."""
        frame = self._stack.pop()
        is_cut = self._uses_cutoffs and frame.best_value >= frame.beta
        self._monitor.leave_node(
            self._make_current_path(),
            frame.position,
            MoveValue(frame.sign * frame.best_value, frame.best_move),
            has_cutoff=is_cut,
        )
        if self._table is not None and frame.best_move is not None:
            is_upper = frame.best_value <= frame.alpha
            bound = Bound.LOWER if is_cut else Bound.UPPER if is_upper else Bound.EXACT
            self._table.store(
                frame.position, frame.depth, len(self._stack), frame.best_value, bound, frame.best_move
            )
        return frame.sign * frame.best_value, frame.best_move

    def _make_current_path(self) -> Path:
        # build the path only for a trace, because its length is the depth of the stack
        if self._monitor.events is None:
            return ()
        return tuple(frame.next_index - 1 for frame in self._stack)
