"""Jamboree's work and critical path, by a simulated scheduler with up to 64 workers.

The original form runs in simulated time. The top of the tree is opened by the simulation; a subtree of
GRAIN plies is one task, which costs as many ticks as the compiled search enters nodes in it. A worker
takes the leftmost task that is ready; a cut ends the tasks below it at once and frees their workers.
One worker does the work that the sequential search would do, without end many show the critical path.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.values import INFINITY, outcome_value
from benchmarks.kit.measure import Ratio, Section, game, positions, short

MAPS = (("m2", 8, 4), ("world", 6, 3))
COUNT = 2
WORKERS = (2, 4, 8, 16, 32, 64, 1 << 30)
OVERHEAD = 20
"""Ticks for opening a node above the tasks: about what a split point costs, in nodes."""


@dataclass(order=True)
class Task:
    """A subtree to be searched; tasks are in the order of the tree from left to right."""

    path: tuple[int, ...]
    node: Node = field(compare=False)


class Machine:
    """Workers, the tasks that wait for one, and simulated time."""

    def __init__(self, board: Any, searcher: Searcher[Any, Any], workers: int, grain: int) -> None:
        self.board = board
        self.searcher = searcher
        self.evaluate = evaluator_for(board, "features")
        self.free = workers
        self.grain = grain
        self.now = 0
        self.work = 0
        self.ready: list[Task] = []
        self.running: list[tuple[int, int, Node, int]] = []
        self.serial = 0

    def submit(self, node: Node) -> None:
        heapq.heappush(self.ready, Task(node.path, node))

    def run(self) -> None:
        """Until nothing is left to do."""
        while self.ready or self.running:
            while self.ready and self.free:
                node = heapq.heappop(self.ready).node
                if not node.dead:
                    self._start(node)
            if not self.running:
                continue
            end, _, node, value = heapq.heappop(self.running)
            if node.dead:
                continue
            self.now = end
            self.free += 1
            node.started = None
            node.finish(value)

    def _start(self, node: Node) -> None:
        value, cost = node.evaluate_subtree()
        self.free -= 1
        self.serial += 1
        node.started = self.now
        self.work += cost
        heapq.heappush(self.running, (self.now + cost, self.serial, node, value))

    def abort(self, node: Node) -> None:
        """A running task ends here; what it would have cost further was not done."""
        if node.started is not None:
            self.free += 1
            end = next(entry[0] for entry in self.running if entry[2] is node)
            self.work -= end - self.now
            node.started = None


class Node:
    """A node of the tree in simulated time; values and windows are for its player to move."""

    def __init__(
        self,
        machine: Machine,
        position: Any,
        depth: int,
        window: tuple[int, int],
        path: tuple[int, ...],
        done: Callable[[int], None],
    ) -> None:
        self.machine = machine
        self.position = position
        self.depth = depth
        self.alpha, self.beta = window
        self.path = path
        self.done = done
        self.dead = False
        self.started: int | None = None
        self.best = -INFINITY
        self.children: list[Any] = []
        self.below: dict[int, Node] = {}
        self.state: list[str] = []
        self.tested: list[int] = []
        self.searching = False

    def begin(self) -> None:
        """Open it, or hand it to a worker."""
        board = self.machine.board
        if self.depth <= self.machine.grain or board.outcome(self.position) is not None:
            self.machine.submit(self)
            return
        sign = self.position.player.sign
        after = [board.successor(self.position, move) for move in board.moves(self.position)]
        self.children = sorted(after, key=lambda each: -sign * self._static(each))
        self.state = ["open"] * len(after)
        self.tested = [0] * len(after)
        self.machine.work += OVERHEAD
        self._descend(0, self.alpha, self.beta, self._first)

    def _static(self, position: Any) -> int:
        outcome = self.machine.board.outcome(position)
        return self.machine.evaluate(position) if outcome is None else outcome_value(outcome, 1)

    def evaluate_subtree(self) -> tuple[int, int]:
        """The value and the nodes of the whole subtree, by the compiled search."""
        outcome = self.machine.board.outcome(self.position)
        if outcome is not None:
            return self.position.player.sign * outcome_value(outcome, len(self.path)), 1
        return self.machine.searcher.search(self.position, self.depth, self.alpha, self.beta)

    def _descend(self, i: int, low: int, high: int, then: Callable[[int, int], None]) -> None:
        def done(value: int) -> None:
            then(i, -value)

        child = Node(self.machine, self.children[i], self.depth - 1, (-high, -low), (*self.path, i), done)
        self.below[i] = child
        child.begin()

    def _first(self, i: int, value: int) -> None:
        self.state[i] = "done"
        self._better(value)
        if self.best >= self.beta or len(self.children) == 1:
            self.finish(self.best)
            return
        for other in range(1, len(self.children)):
            if not self.dead:
                self._test(other)

    def _better(self, value: int) -> None:
        self.best = max(self.best, value)
        self.alpha = max(self.alpha, value)

    def _test(self, i: int) -> None:
        self.state[i] = "running"
        self.tested[i] = self.alpha
        self._descend(i, self.alpha, self.alpha + 1, self._told)

    def _told(self, i: int, value: int) -> None:
        if value >= self.beta:
            self.finish(value)
            return
        self.best = max(self.best, value) if value <= self.tested[i] else self.best
        self.state[i] = "pending" if value > self.tested[i] else "done"
        self._next()

    def _again(self, i: int, value: int) -> None:
        self.searching = False
        self.state[i] = "done"
        self._better(value)
        if value >= self.beta:
            self.finish(value)
            return
        self._next()

    def _next(self) -> None:
        waiting = next((i for i, state in enumerate(self.state) if state != "done"), None)
        if waiting is None:
            self.finish(self.best)
        elif self.state[waiting] == "pending" and not self.searching:
            if self.tested[waiting] < self.alpha:
                self._test(waiting)
            else:
                self.searching = True
                self.state[waiting] = "running"
                self._descend(waiting, self.alpha, self.beta, self._again)

    def finish(self, value: int) -> None:
        """It is worth `value`: end what still runs below, and tell the parent."""
        if not self.dead:
            self._kill()
            self.done(value)

    def _kill(self) -> None:
        self.dead = True
        self.machine.abort(self)
        for child in self.below.values():
            if not child.dead:
                child._kill()  # noqa: SLF001 - of its own kind


def simulate(
    searcher: Searcher[Any, Any], board: Any, position: Any, shape: tuple[int, int], workers: int
) -> Any:
    """Ticks until the root is known, ticks of work, and the value."""
    depth, grain = shape
    searcher.clear()
    machine = Machine(board, searcher, workers, grain)
    found: list[int] = []
    Node(machine, position, depth, (-INFINITY, INFINITY), (), found.append).begin()
    machine.run()
    return machine.now, machine.work, found[0]


def run() -> Section:
    """Every number of workers on the same positions."""
    rows = []
    for map, depth, grain in MAPS:
        board = game(map)
        searcher = Searcher(board, weights_for(board, "features"), Settings(exact=True, table_mb=4))
        searcher.warm_up()
        times: dict[int, list[float]] = {workers: [] for workers in WORKERS}
        works: dict[int, list[float]] = {workers: [] for workers in WORKERS}
        for position in positions(board, COUNT):
            alone = simulate(searcher, board, position, (depth, grain), 1)
            for workers in WORKERS:
                ticks, work, value = simulate(searcher, board, position, (depth, grain), workers)
                if value != alone[2]:
                    raise AssertionError(f"{map}: {workers} workers found {value}, one {alone[2]}")
                times[workers].append(alone[0] / ticks)
                works[workers].append(work / alone[1])
        searcher.close()
        for workers in WORKERS:
            name = str(workers) if workers <= 64 else "∞ (critical path)"
            rows.append(
                [
                    map,
                    f"{depth}, {grain}",
                    name,
                    str(Ratio(times[workers])),
                    short(Ratio(works[workers]).median),
                ]
            )
    return Section(
        "More cores: Jamboree under a simulated scheduler",
        f"The original form in simulated time, where a node costs a tick; {COUNT} middle-game positions a map. "
        "Subtrees of the given grain are single tasks, searched by the compiled engine with the shared table; their "
        "parents order moves by a one-ply evaluation, without shallower iterations.",
        ["map", "depth, grain", "workers", "faster than one worker by", "work, times one worker's"],
        rows,
        "The critical path bounds what any number of cores can gain at this depth; it grows with the depth.",
    )
