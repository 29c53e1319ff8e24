"""Threads: time to equal depth, for every form of Jamboree and for threads that share their table alone."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.search.deepening import Report
from benchmarks.kit.measure import Ratio, Section, game, positions, short, timed
from benchmarks.kit.results import claim

MAPS = ("m2", "usa", "world")
THREADS = (1, 2)
COUNT = 7
SECONDS = 1.0
"""How long the sequential search is to take, at most: the depth is chosen so."""
PATIENCE = 6
"""A search that takes so many times as long is given up, and counted as if it had ended then."""
TURNS = 2
"""Each is measured so often, by turns; the quickest counts, as the one least disturbed by other work."""
FORMS: Mapping[str, Mapping[str, Any]] = {
    "original": {},
    "course, prune 0.5": {"course": True, "prune": 0.5},
    "course, prune 0": {"course": True, "prune": 0.0},
    "lazy, a shared table": {"lazy": True},
}
"""How threads share a search. The last is the baseline: nothing is split, every thread searches the root."""


def ways(counts: Sequence[int]) -> dict[str, dict[str, Any]]:
    """The searches that are measured, by name: each form with each number of threads."""
    return {
        f"{form}, {count}": {**settings, "threads": count}
        for count in counts
        for form, settings in FORMS.items()
    }


def to_depth(
    searcher: Searcher[Any, Any], position: Any, depth: int, patience: float
) -> tuple[float, Report[Any]]:
    """Search with an empty table to a depth: the seconds of the search, and its last report."""
    searcher.clear()
    end = time.perf_counter() + patience
    reports = searcher.deepen(position, max_depth=depth, stop=lambda: time.perf_counter() > end)
    seconds, found = timed(partial(list, reports))
    return seconds, found[-1]


def keep_apart(searcher: Searcher[Any, Any], position: Any) -> None:
    """Give each of its threads a core, where the system allows that.

    A machine with other work to do may else put two threads on one core for a second.
    """
    before = set(threading.enumerate())
    to_depth(searcher, position, 6, 10)
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        for number, thread in enumerate(
            sorted(set(threading.enumerate()) - before, key=lambda each: each.name)
        ):
            if thread.native_id is not None:
                os.sched_setaffinity(thread.native_id, {cores[number % len(cores)]})


@dataclass(frozen=True)
class Position:
    """What was measured of one position: seconds to its depth, and nodes as shares of the sequential ones, by name."""

    sequential: float
    seconds: Mapping[str, float]
    work: Mapping[str, float]

    def faster(self, name: str) -> float:
        """Than the sequential search."""
        return self.sequential / self.seconds[name]


class Board:
    """The searches of one map."""

    def __init__(self, map: str, counts: Sequence[int]) -> None:
        board = game(map)
        weights = weights_for(board, "features")

        def make(settings: Mapping[str, Any]) -> Searcher[Any, Any]:
            return Searcher(board, weights, Settings(exact=True, **settings))

        self.plain = make({})
        self.searchers = {name: make(settings) for name, settings in ways(counts).items()}
        for searcher in (self.plain, *self.searchers.values()):
            searcher.warm_up()
            keep_apart(searcher, board.start())

    def close(self) -> None:
        """End all threads."""
        for searcher in (self.plain, *self.searchers.values()):
            searcher.close()

    def measure(self, position: Any) -> Position:
        """Search it in every way, and check what each finds."""
        _, reached = to_depth(self.plain, position, 100, SECONDS)
        depth = max(reached.depth if reached.finished else reached.depth - 1, 4)
        first, truth = to_depth(self.plain, position, depth, 60)
        sequential = first
        seconds = dict.fromkeys(self.searchers, PATIENCE * first)
        work: dict[str, float] = {}
        for _ in range(TURNS):
            sequential = min(sequential, to_depth(self.plain, position, depth, 60)[0])
            for name, searcher in self.searchers.items():
                took, report = to_depth(searcher, position, depth, PATIENCE * first)
                seconds[name] = min(seconds[name], took)
                if report.finished and report.depth == depth:
                    work[name] = report.nodes / truth.nodes
                    if (report.value, report.move) != (truth.value, truth.move):
                        raise AssertionError(f"{name}: {report} instead of {truth}")
        return Position(sequential, seconds, work)


def measured(map: str, counts: Sequence[int]) -> list[Position]:
    """Search positions of a map in every way."""
    board = Board(map, counts)
    try:
        return [board.measure(position) for position in positions(game(map), COUNT)]
    finally:
        board.close()


def run(threads: Sequence[int] = THREADS) -> Section:
    """Measure every form with each number of threads, on the same positions."""
    found = [position for map in MAPS for position in measured(map, threads)]
    rows: list[list[str]] = []
    claims: list[str] = []
    cores = len(os.sched_getaffinity(0))
    for count in threads:
        for form in FORMS:
            name = f"{form}, {count}"
            work = [each.work[name] for each in found if name in each.work]
            faster = Ratio([each.faster(name) for each in found])
            rows.append([str(count), form, str(faster), short(Ratio(work).median) if work else ""])
            print(*rows[-1], flush=True)
            if count == 2 and form == "original":
                claims.append(
                    claim("Jamboree, 2 threads, time to equal depth", "at least 1.7 ×", f"{faster} ×")
                )
    return Section(
        "Time to depth with threads",
        f"On {cores} cores, exact mode, evaluator `features`, empty tables; {COUNT} middle-game positions of "
        f"each of {', '.join(MAPS)}, to the depth that the sequential search reaches in {SECONDS:.0f} s; value and move are "
        f"checked. Each search ran {TURNS} times by turns, and its quickest time counts; one that took more than {PATIENCE} "
        "times as long as the sequential one was given up, and counted so. Every search thread is kept on a core of its "
        "own, as far as there are as many.",
        ["threads", "form", "to equal depth faster by", "nodes, times the sequential ones"],
        rows,
        "More threads than cores gain nothing. Lazy: every thread searches the root, and the threads share only their table. "
        "`benchmarks.engine.strength` measures the Elo of threads.",
        claims,
    )
