"""The original Jamboree of Joerg and Kuszmaul: a parallel scout search.

The first child is searched with the full window. Every other child is only tested for being better than the first, in
parallel and with the null window (α, α + 1). A test that reaches β ends the search of the node, and aborts everything
that still runs below the node. A test that exceeds α is followed by a search with the real window, but only after all earlier
siblings are done, so that this window is as narrow as possible. The result of a test is only a bound on the
child's value: between α and β, it is never used as the value itself.

The search is fail-soft, and returns the exact value of the root, the first best move in move order, and the main line, as
`bots.search.alphabeta.failsoft` does. With more than one thread, the visited nodes differ from run to run, because the
times of aborts vary; the value and the move do not vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Generic

from arena.bots.search.monitor import Path, SearchMonitor, SearchStopped
from arena.bots.search.move_values import MoveValue
from arena.bots.search.problem import Line, Problem, SearchResult
from arena.bots.search.search_values import INFINITY
from arena.bots.search.thread_pool import Task, ThreadPool
from arena.games.core import M, P

ValueAndLine = tuple[int, Line[M]]
"""Value of a node for its player to move, and the line that leads to the value."""


def scouts(
    problem: Problem[P, M], position: P, depth: int, monitor: SearchMonitor | None = None, *, pool: ThreadPool
) -> SearchResult[M]:
    """Search `position` to `depth` plies by Jamboree in its original form, a parallel scout search (Joerg and Kuszmaul).

    pool  threads that test in parallel whether later moves are better than the first

    Raises SearchStopped if the monitor stops the search, after all parallel parts have ended.
    """
    monitor = monitor or SearchMonitor()
    value, line = search_node(problem, pool, monitor, (-INFINITY, INFINITY), position, depth, ())
    return SearchResult(problem.game.player(position).sign * value, line[0] if line else None, line)


def search_node(
    problem: Problem[P, M],
    pool: ThreadPool,
    monitor: SearchMonitor,
    window: tuple[int, int],
    position: P,
    depth: int,
    path: Path,
) -> ValueAndLine[M]:
    """Return the value of a node within a window, and the line that leads to the value.

    Window and value are for the player to move at the node. `path` is the node's path from the root. Parts of the search
    run on the threads of `pool`.
    """
    alpha, beta = window
    sign = problem.game.player(position).sign
    expansion = problem.enter_node(
        monitor, path, position, depth, *((alpha, beta) if sign > 0 else (-beta, -alpha))
    )
    if not expansion.moves:
        return sign * expansion.value, ()
    node = _InnerNode(problem, pool, monitor, window, position, depth, path, expansion.moves)
    value, line = node.search()
    monitor.leave_node(path, position, MoveValue(sign * value, line[0]), has_cutoff=value >= beta)
    return value, line


class _InnerNode(Generic[P, M]):
    """Inner node of the tree while it is searched.

    Any thread may test a child of the node with a null window. The thread that created this object does all other work.
    """

    def __init__(
        self,
        problem: Problem[P, M],
        pool: ThreadPool,
        monitor: SearchMonitor,
        window: tuple[int, int],
        position: P,
        depth: int,
        path: Path,
        moves: Sequence[M],
    ) -> None:
        self.problem = problem
        self.pool = pool
        self.monitor = monitor
        self.alpha, self.beta = window
        self.position = position
        self.depth = depth
        self.path = path
        self.moves = moves
        # Forks of the monitor for each child: one for its test, and one for its second search, if any.
        self.forks: list[list[SearchMonitor]] = [[monitor.fork(self.should_stop)] for _ in moves]
        # Set by a test that reaches beta; read by every node below through `should_stop`.
        self.cut: ValueAndLine[M] | None = None

    def should_stop(self) -> bool:
        """Return True if the searches below this node must stop, by a cutoff at the node or a stop of the whole search."""
        return self.cut is not None or self.monitor.stop()

    def search(self) -> ValueAndLine[M]:
        first_result = self._search_child(0, self.forks[0][0], (self.alpha, self.beta))
        self.alpha = max(self.alpha, first_result[0])
        if first_result[0] >= self.beta or len(self.moves) == 1:
            self.monitor.join(self.forks[0])
            return first_result
        tests = [
            self.pool.submit(partial(self._test_child_by_null_window, index))
            for index in range(1, len(self.moves))
        ]
        try:
            return self._collect_null_window_tests(tests, first_result)
        except SearchStopped:
            # A test of this node reached beta and stopped the others, unless the whole search or a node above was stopped too.
            if self.cut is None or self.monitor.stop():
                raise
            return self.cut
        finally:
            self.pool.cancel_and_wait(test for test in tests if not test.is_done)
            self.monitor.join(fork for forks in self.forks for fork in forks)

    def _test_child_by_null_window(self, index: int) -> tuple[ValueAndLine[M], bool]:
        """Search the child `index` with a null window at the current alpha.

        Return a bound on the child's value, the line that leads to this bound, and True if the bound exceeds alpha.
        """
        alpha = self.alpha
        bound = self._search_child(index, self.forks[index][0], (alpha, alpha + 1))
        if bound[0] >= self.beta:
            self.cut = bound
        return bound, bound[0] > alpha

    def _collect_null_window_tests(
        self, tests: Sequence[Task[tuple[ValueAndLine[M], bool]]], best: ValueAndLine[M]
    ) -> ValueAndLine[M]:
        """Return the best result of the node: the result of the first child (`best`), or of a later child.

        `tests` are the running null-window searches of the later children. Wait for them in move order. If a test shows
        that its child may be better than the best result so far, search the child again with the current window.
        """
        for index, test in enumerate(tests, 1):
            result, passed = self.pool.wait_for_result(test)
            if self.cut is not None:
                return self.cut
            if passed:
                # All earlier siblings are done, so this child has to beat the current alpha.
                full_window_monitor = self.monitor.fork(self.should_stop)
                self.forks[index].append(full_window_monitor)
                result = self._search_child(index, full_window_monitor, (self.alpha, self.beta))
            if result[0] > best[0]:
                best = result
            self.alpha = max(self.alpha, result[0])
            if self.alpha >= self.beta:
                # This stops the tests that still run.
                self.cut = best
                return best
        return best

    def _search_child(self, index: int, monitor: SearchMonitor, window: tuple[int, int]) -> ValueAndLine[M]:
        move = self.moves[index]
        child = self.problem.game.successor(self.position, move)
        alpha, beta = window
        player = self.problem.game.player
        is_same_player = player(child) is player(self.position)
        child_window = window if is_same_player else (-beta, -alpha)
        child_path = (*self.path, index)
        value, line = search_node(
            self.problem, self.pool, monitor, child_window, child, self.depth - 1, child_path
        )
        return value if is_same_player else -value, (move, *line)
