"""Time to depth with 1 and 2 threads, for both forms of Jamboree, beside what the machine has to give."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from benchmarks.kit.measure import Ratio, Section, game, positions, short, timed
from benchmarks.kit.results import claim
from bots.compiled.catalogue import weights_for
from bots.compiled.searcher import Searcher, Settings
from bots.search.deepening import Report

MAPS = ("m2", "usa", "world")
COUNT = 7
SECONDS = 1.0
"""How long the sequential search is to take, at most: the depth is chosen so."""
PATIENCE = 6
"""A search that takes so many times as long is given up, and counted as if it had ended then."""
TURNS = 2
"""Each is measured so often, by turns; the quickest counts, as the one least disturbed by other work."""
SEQUENTIAL = "sequential"
CEILING = "two sequential searches at once"
WAYS: dict[str, dict[str, Any]] = {
    SEQUENTIAL: {},
    "original, 2 threads": {"threads": 2},
    "course, prune 0.5, 1 thread": {"course": True, "prune": 0.5},
    "course, prune 0.5, 2 threads": {"course": True, "prune": 0.5, "threads": 2},
    CEILING: {},
}
FORMS = [name for name in WAYS if name not in (SEQUENTIAL, CEILING)]


def to_depth(
    searcher: Searcher[Any, Any], position: Any, depth: int, patience: float
) -> tuple[float, Report[Any]]:
    """Search with an empty table to a depth: the seconds of the search, and its last report."""
    searcher.clear()
    end = time.perf_counter() + patience
    reports = searcher.deepen(position, max_depth=depth, stop=lambda: time.perf_counter() > end)
    seconds, found = timed(partial(list, reports))
    return seconds, found[-1]


def keep_apart(searcher: Searcher[Any, Any], position: Any, first: int) -> None:
    """Give each of its threads a core, from number `first` on, where the system allows that.

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
                os.sched_setaffinity(thread.native_id, {cores[(first + number) % len(cores)]})


def at_once(one: Searcher[Any, Any], other: Searcher[Any, Any], position: Any, depth: int) -> float:
    """The mean seconds that two searchers need for the same search, each for itself, halved."""
    with ThreadPoolExecutor(2) as pool:
        search = partial(to_depth, position=position, depth=depth, patience=60)
        return sum(seconds for seconds, _ in pool.map(search, (one, other))) / 4


class Position:
    """The measurements of one position."""

    def __init__(self, searchers: dict[str, Searcher[Any, Any]], position: Any) -> None:
        plain = searchers[SEQUENTIAL]
        _, reached = to_depth(plain, position, 100, SECONDS)
        self.depth = max(reached.depth if reached.finished else reached.depth - 1, 4)
        first, self.first = to_depth(plain, position, self.depth, 60)
        self.seconds = dict.fromkeys(WAYS, PATIENCE * first)
        self.nodes: dict[str, int] = {}
        for _ in range(TURNS):
            for name, searcher in searchers.items():
                if name == CEILING:
                    seconds = at_once(plain, searcher, position, self.depth)
                else:
                    seconds, report = to_depth(searcher, position, self.depth, PATIENCE * first)
                    self._check(name, report)
                self.seconds[name] = min(self.seconds[name], seconds)

    def _check(self, name: str, report: Report[Any]) -> None:
        if report.finished and report.depth == self.depth:
            self.nodes[name] = report.nodes
            if (report.value, report.move) != (self.first.value, self.first.move):
                raise AssertionError(f"{name}: {report} instead of {self.first}")

    def faster(self, name: str) -> float:
        """Than the sequential search."""
        return self.seconds[SEQUENTIAL] / self.seconds[name]


def run() -> Section:
    """Every way on the same positions."""
    rows = []
    all_measured: list[Position] = []
    for map in MAPS:
        board = game(map)
        weights = weights_for(board, "features")
        searchers = {
            name: Searcher(board, weights, Settings(exact=True, **more)) for name, more in WAYS.items()
        }
        for name, searcher in searchers.items():
            searcher.warm_up()
            keep_apart(searcher, board.start(), first=int(name == CEILING))
        measured = [Position(searchers, position) for position in positions(board, COUNT)]
        for searcher in searchers.values():
            searcher.close()
        depths = [each.depth for each in measured]
        for name in (*FORMS, CEILING):
            work = [each.nodes[name] / each.first.nodes for each in measured if name in each.nodes]
            faster = Ratio([each.faster(name) for each in measured])
            more = short(Ratio(work).median) if work else ""
            rows.append([map, f"{min(depths)} to {max(depths)}", name, str(faster), more])
        all_measured += measured
    total = {name: Ratio([each.faster(name) for each in all_measured]) for name in (*FORMS, CEILING)}
    rows += [["all", "", f"**{name}**", f"**{ratio}**", ""] for name, ratio in total.items()]
    part = Ratio([each.faster(FORMS[0]) / each.faster(CEILING) for each in all_measured])
    return Section(
        "Time to depth with two threads",
        f"Exact mode, evaluator `features`, empty tables; {COUNT} middle-game positions a map, each to the depth that "
        f"the sequential search (principal variation search, one thread) reaches in {SECONDS:.0f} s. Value and move "
        f"are checked. Each search ran {TURNS} times by turns, and its quickest time counts. One that took more than "
        f"{PATIENCE} times as long as the sequential one was given up, and counted so. What two cores of this machine "
        "give at most is told by two sequential searches of the same position at once, with a table each. Every "
        "search thread is kept on a core of its own.",
        ["map", "depth", "form", "faster than sequential by", "nodes, times the sequential ones"],
        rows,
        f"Of what the two cores give, the original form turns {part} into speed.",
        [claim("Jamboree, 2 threads, time to equal depth", "at least 1.7 ×", f"{total[FORMS[0]]} ×")],
    )
