"""Minimax and alpha-beta with no recursion: a loop over an explicit stack (004).

004 keeps a node's parent, children, depth, type, score and bounds in a record, and calls itself only
in tail position; what is still to do, the frontier, is data. (Erratum 9: its record has seven fields
but is built with nine, and its `recur` goes round the `memoize` that should have remembered
positions.) Here the frontier is a list of frames, and positions are remembered in a table.

Contract: as `bots.search.minimax` and `bots.search.failsoft`: exact at the root, leftmost best move,
the same nodes in the same order when nothing is remembered. Depth is limited by memory alone, and
where games are won, by `bots.search.values`: a win is nearer than 100,000 plies.
Values inside are for the player to move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from arena.bots.search.edges import Edge
from arena.bots.search.problem import Problem, Result
from arena.bots.search.table import Kind, Table
from arena.bots.search.values import INFINITY
from arena.bots.search.watch import Path, Watch
from arena.games.core import M, P


class Frame(Generic[P, M]):
    """A node whose children are being searched: where 004's recursion would keep its place."""

    __slots__ = ("alpha", "best", "beta", "depth", "move", "moves", "next", "position", "sign")

    def __init__(self, position: P, depth: int, sign: int, moves: Sequence[M], alpha: int, beta: int) -> None:
        self.position = position
        self.depth = depth
        self.sign = sign
        self.moves = moves
        self.alpha = alpha
        self.beta = beta
        self.next = 0
        self.best = -INFINITY
        self.move: M | None = None


def stack_minimax(
    problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None, *, memo: bool = False
) -> Result[M]:
    """Minimax as a loop. With `memo`, a position that was searched to the same depth is not again."""
    return _Loop(problem, watch or Watch(), Table() if memo else None, cutting=False).search(position, depth)


def stack_alphabeta(
    problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None, *, memo: bool = False
) -> Result[M]:
    """Fail-soft alpha-beta as a loop; with `memo` positions are remembered, as bounds where the window cut."""
    return _Loop(problem, watch or Watch(), Table() if memo else None, cutting=True).search(position, depth)


class _Loop(Generic[P, M]):
    def __init__(
        self, problem: Problem[P, M], watch: Watch, table: Table[P, M] | None, *, cutting: bool
    ) -> None:
        self._problem = problem
        self._watch = watch
        self._table = table
        self._cutting = cutting
        self._stack: list[Frame[P, M]] = []

    def search(self, position: P, depth: int) -> Result[M]:
        stack = self._stack
        sign = self._problem.game.player(position).sign
        answer = self._open(position, depth, -INFINITY, INFINITY)
        last: M | None = None
        while stack:
            frame = stack[-1]
            if answer is not None:
                self._score(frame, -answer)
                answer = None
            if frame.next == len(frame.moves) or (self._cutting and frame.best >= frame.beta):
                answer, last = self._close()
                continue
            move = frame.moves[frame.next]
            frame.next += 1
            child = self._problem.game.successor(frame.position, move)
            alpha = max(frame.alpha, frame.best) if self._cutting else frame.alpha
            answer = self._open(child, frame.depth - 1, -frame.beta, -alpha)
        if answer is None:
            raise AssertionError("the root always has an answer when the stack is empty")
        return Result(sign * answer, last, () if last is None else (last,))

    def _open(self, position: P, depth: int, alpha: int, beta: int) -> int | None:
        """Enter a node: its value if it is a leaf or remembered, else None and a frame on the stack."""
        stack, watch, path = self._stack, self._watch, self._path()
        sign = self._problem.game.player(position).sign
        if self._cutting:
            watch.enter(path, position, depth, *((alpha, beta) if sign > 0 else (-beta, -alpha)))
        else:
            watch.enter(path, position, depth)
        if self._table is not None and stack and depth > 0:
            known = self._table.look(position, depth, len(stack), alpha, beta)
            if known is not None:
                watch.recall(path, position, sign * known[0], horizon=False)
                return known[0]
        opened = self._problem.expand(position, depth, len(stack))
        if not opened.moves:
            watch.leaf(path, position, opened.value, horizon=opened.horizon)
            return sign * opened.value
        stack.append(Frame(position, depth, sign, opened.moves, alpha, beta))
        return None

    def _score(self, frame: Frame[P, M], value: int) -> None:
        if value > frame.best:
            frame.best, frame.move = value, frame.moves[frame.next - 1]

    def _close(self) -> tuple[int, M | None]:
        """Leave the node on top of the stack with its value and best move."""
        frame = self._stack.pop()
        cut = self._cutting and frame.best >= frame.beta
        self._watch.leave(self._path(), frame.position, Edge(frame.sign * frame.best, frame.move), pruned=cut)
        if self._table is not None and frame.move is not None:
            upper = self._cutting and frame.best <= frame.alpha
            kind = Kind.LOWER if cut else Kind.UPPER if upper else Kind.EXACT
            self._table.keep(frame.position, frame.depth, len(self._stack), frame.best, kind, frame.move)
        return frame.best, frame.move

    def _path(self) -> Path:
        # a path is as long as the stack is deep, so it is only built for a trace
        if self._watch.events is None:
            return ()
        return tuple(frame.next - 1 for frame in self._stack)
