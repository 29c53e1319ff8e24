"""The original Jamboree: parallel scout search (Joerg and Kuszmaul; 001's footnote names its root).

The first child is searched with the full window. Every other child is only asked, in parallel,
whether it is better than that: a test with the null window (α, α + 1). A test that passes beta ends
the node, and aborts all that still runs below it. A test that beats α is followed by a search with
the real window, but only after all earlier siblings are done, so that this window is as narrow as it
can be. A failed test is only a bound on the child's value, and so is a passed one: neither is
ever taken for a value between α and β.

Contract: fail-soft, as `bots.search.failsoft`; exact at the root, leftmost best move, main line. With
more than one thread the nodes visited differ from run to run, because aborts come when they come;
value and move do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Generic

from arena.bots.search.edges import Edge
from arena.bots.search.pool import Pool, Task
from arena.bots.search.problem import Line, Problem, Result
from arena.bots.search.values import INFINITY
from arena.bots.search.watch import Path, Stopped, Watch
from arena.games.core import M, P

Answer = tuple[int, Line[M]]
"""A value for the player to move at the node, and the line that leads to it."""


def scouts(
    problem: Problem[P, M], position: P, depth: int, watch: Watch | None = None, *, pool: Pool
) -> Result[M]:
    """Search the root with no bounds. A stop raises `Stopped` when all its parts have ended."""
    watch = watch or Watch()
    value, line = search(problem, pool, watch, (-INFINITY, INFINITY), position, depth, ())
    return Result(problem.game.player(position).sign * value, line[0] if line else None, line)


def search(
    problem: Problem[P, M],
    pool: Pool,
    watch: Watch,
    window: tuple[int, int],
    position: P,
    depth: int,
    path: Path,
) -> Answer[M]:
    """The value of a node within a window, both for the player to move there."""
    alpha, beta = window
    sign = problem.game.player(position).sign
    watch.enter(path, position, depth, *((alpha, beta) if sign > 0 else (-beta, -alpha)))
    opened = problem.expand(position, depth, len(path))
    if not opened.moves:
        watch.leaf(path, position, opened.value, horizon=opened.horizon)
        return sign * opened.value, ()
    node = _Node(problem, pool, watch, window, position, depth, path, opened.moves)
    value, line = node.search()
    watch.leave(path, position, Edge(sign * value, line[0]), pruned=value >= beta)
    return value, line


class _Node(Generic[P, M]):
    """An inner node at work. Tests run in other threads; all else in the thread that waits here."""

    def __init__(
        self,
        problem: Problem[P, M],
        pool: Pool,
        watch: Watch,
        window: tuple[int, int],
        position: P,
        depth: int,
        path: Path,
        moves: Sequence[M],
    ) -> None:
        self.problem = problem
        self.pool = pool
        self.watch = watch
        self.alpha, self.beta = window
        self.position = position
        self.depth = depth
        self.path = path
        self.moves = moves
        # forks by child: its test, then its second search if there was one
        self.forks: list[list[Watch]] = [[watch.fork(self.stopping)] for _ in moves]
        # set by a test that passes beta; read by every node below through `stopping`
        self.cut: Answer[M] | None = None

    def stopping(self) -> bool:
        """The stop of all that runs below this node."""
        return self.cut is not None or self.watch.stop()

    def search(self) -> Answer[M]:
        first = self._child(0, self.forks[0][0], (self.alpha, self.beta))
        self.alpha = max(self.alpha, first[0])
        if first[0] >= self.beta or len(self.moves) == 1:
            self.watch.join(self.forks[0])
            return first
        tests = [self.pool.submit(partial(self._test, index)) for index in range(1, len(self.moves))]
        try:
            return self._gather(tests, first)
        except Stopped:
            # our own abort, unless the whole search or a node above us was stopped too
            if self.cut is None or self.watch.stop():
                raise
            return self.cut
        finally:
            self.pool.withdraw(test for test in tests if not test.done)
            self.watch.join(fork for forks in self.forks for fork in forks)

    def _test(self, index: int) -> tuple[Answer[M], bool]:
        """Ask whether a child is better than alpha as it is now: a bound on it, and whether it passed."""
        alpha = self.alpha
        bound = self._child(index, self.forks[index][0], (alpha, alpha + 1))
        if bound[0] >= self.beta:
            self.cut = bound
        return bound, bound[0] > alpha

    def _gather(self, tests: Sequence[Task[tuple[Answer[M], bool]]], best: Answer[M]) -> Answer[M]:
        """Take the tests' answers in move order, searching again where one has passed."""
        for index, test in enumerate(tests, 1):
            answer, passed = self.pool.result(test)
            if self.cut is not None:
                return self.cut
            if passed:
                # every earlier sibling is done, so alpha is what this child has to beat
                again = self.watch.fork(self.stopping)
                self.forks[index].append(again)
                answer = self._child(index, again, (self.alpha, self.beta))
            if answer[0] > best[0]:
                best = answer
            self.alpha = max(self.alpha, answer[0])
            if self.alpha >= self.beta:
                # stops the tests that still run
                self.cut = best
                return best
        return best

    def _child(self, index: int, watch: Watch, window: tuple[int, int]) -> Answer[M]:
        move = self.moves[index]
        child = self.problem.game.successor(self.position, move)
        alpha, beta = window
        value, line = search(
            self.problem, self.pool, watch, (-beta, -alpha), child, self.depth - 1, (*self.path, index)
        )
        return -value, (move, *line)
