"""Time to reach the same depth with several threads, for every variant of the parallel search Jamboree."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.search.deepening import SearchReport
from benchmarks.kit.measure import (
    MeasuredRatio,
    format_markdown_table,
    format_up_to_two_decimals,
    make_midgame_positions,
    make_riskless_game,
)
from benchmarks.kit.results import format_verdict

MEASURED_MAPS = ("m2", "usa", "world")
POSITIONS_PER_MAP = 7
SEQUENTIAL_SEARCH_SECONDS = 0.2
"""Time of a position's sequential search, in seconds. All other searches of the position must reach the same depth."""
MAX_TIME_RATIO_TO_SEQUENTIAL = 6
"""Time limit of a search, as a multiple of the sequential search's time. A stopped search counts with this time."""
RUNS_PER_SEARCH = 2
"""Number of runs of each search; the runs of different searches alternate.

The fastest run of each search counts, because other load on the machine disturbed it least.
"""
MIN_TWO_THREAD_SPEEDUP = 1.7
"""Promised lower bound of the speedup by 2 threads over the sequential search, for the variant `original` in JAMBOREE_VARIANTS."""
JAMBOREE_VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "original": {},
    "course, prune 0.5": {"course": True, "prune": 0.5},
}
"""Settings of the search that differ from the defaults, by variant of the parallel search Jamboree.

original  search a node's first move, then all others in parallel, each with a null window
course    search the fraction `prune` of a node's moves one after another, then the others in parallel, with the
          (alpha, beta) window that the first moves have left
"""


def make_search_settings(thread_counts: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Return the settings of each search, by its name: each variant with each number of threads in `thread_counts`."""
    return {
        f"{variant}, {count}": {**settings, "threads": count}
        for count in thread_counts
        for variant, settings in JAMBOREE_VARIANTS.items()
    }


def search_to_depth(
    searcher: Searcher[Any, Any], position: Any, depth: int, max_seconds: float
) -> tuple[float, SearchReport[Any]]:
    """Search to a depth with an empty transposition table. Return the time in seconds, and the search's last report.

    max_seconds: seconds after which the search is stopped, so that the last report may be of a smaller depth
    """
    searcher.clear()
    start_time = time.perf_counter()
    *_, last = searcher.deepen(
        position, max_depth=depth, stop=lambda: time.perf_counter() > start_time + max_seconds
    )
    return time.perf_counter() - start_time, last


def pin_search_threads(searcher: Searcher[Any, Any], warm_up_position: Any) -> None:
    """Pin each search thread to a core of its own, if the system allows it.

    Without pinning, two threads may share a core for a second on a loaded machine.

    warm_up_position: position that is searched first, so that the searcher starts its threads
    """
    before = set(threading.enumerate())
    search_to_depth(searcher, warm_up_position, 6, 10)
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        for number, thread in enumerate(
            sorted(set(threading.enumerate()) - before, key=lambda thread: thread.name)
        ):
            if thread.native_id is not None:
                os.sched_setaffinity(thread.native_id, {cores[number % len(cores)]})


@dataclass(frozen=True)
class SearchTimes:
    """Measurements of one position.

    sequential_seconds: seconds of the sequential search
    seconds_by_search: seconds of each search, by the search's name
    node_ratio_by_search: number of nodes of each finished search, divided by the number of nodes of the sequential search, by
        the search's name
    """

    sequential_seconds: float
    seconds_by_search: Mapping[str, float]
    node_ratio_by_search: Mapping[str, float]


class ComparedSearchers:
    """Searchers for one map: a sequential one, and one for each variant with each number of threads in `thread_counts`."""

    def __init__(self, map: str, thread_counts: Sequence[int]) -> None:
        board = make_riskless_game(map)
        weights = weights_for(board, "features")

        def make_searcher(settings: Mapping[str, Any]) -> Searcher[Any, Any]:
            return Searcher(board, weights, Settings(**settings))

        self.sequential_searcher = make_searcher({})
        self.searcher_by_name = {
            name: make_searcher(settings) for name, settings in make_search_settings(thread_counts).items()
        }
        for searcher in (self.sequential_searcher, *self.searcher_by_name.values()):
            searcher.warm_up()
            pin_search_threads(searcher, board.start())

    def close(self) -> None:
        """Stop the search threads of all searchers."""
        for searcher in (self.sequential_searcher, *self.searcher_by_name.values()):
            searcher.close()

    def measure_search_times(self, position: Any) -> SearchTimes:
        """Search one position with all searchers to the same depth, and return their times.

        This depth is the depth that the sequential search completes in SEQUENTIAL_SEARCH_SECONDS, but at least 4 plies.
        """
        _, reached = search_to_depth(self.sequential_searcher, position, 100, SEQUENTIAL_SEARCH_SECONDS)
        depth = max(reached.depth if reached.is_depth_finished else reached.depth - 1, 4)
        first_duration, sequential_report = search_to_depth(self.sequential_searcher, position, depth, 60)
        sequential = first_duration
        seconds = dict.fromkeys(self.searcher_by_name, MAX_TIME_RATIO_TO_SEQUENTIAL * first_duration)
        work: dict[str, float] = {}
        for _ in range(RUNS_PER_SEARCH):
            sequential = min(sequential, search_to_depth(self.sequential_searcher, position, depth, 60)[0])
            for name, searcher in self.searcher_by_name.items():
                duration, report = search_to_depth(
                    searcher, position, depth, MAX_TIME_RATIO_TO_SEQUENTIAL * first_duration
                )
                seconds[name] = min(seconds[name], duration)
                if report.is_depth_finished and report.depth == depth:
                    work[name] = report.nodes / sequential_report.nodes
        return SearchTimes(sequential, seconds, work)


def run_benchmark() -> dict[str, Any]:
    """Measure every variant with one thread, two threads and a thread per core, on the same positions of all MEASURED_MAPS."""
    core_count = len(os.sched_getaffinity(0))
    thread_counts = sorted({1, 2, core_count})
    results: list[SearchTimes] = []
    for map in MEASURED_MAPS:
        with closing(ComparedSearchers(map, thread_counts)) as searchers:
            positions = make_midgame_positions(make_riskless_game(map), POSITIONS_PER_MAP)
            results += [searchers.measure_search_times(position) for position in positions]
    return {
        "cores": core_count,
        "faster": {
            name: [result.sequential_seconds / result.seconds_by_search[name] for result in results]
            for name in make_search_settings(thread_counts)
        },
        "work": {
            name: [
                result.node_ratio_by_search[name] for result in results if name in result.node_ratio_by_search
            ]
            for name in make_search_settings(thread_counts)
        },
    }


def format_figures_by_name(raw_data: dict[str, Any]) -> dict[str, str]:
    """Return texts with each variant's speedup and extra nodes, by the name of their placeholder in RESULTS.md.

    raw_data: result of `run_benchmark`
    """
    rows = [
        [
            name,
            str(MeasuredRatio(faster)),
            format_up_to_two_decimals(MeasuredRatio(work).median) if (work := raw_data["work"][name]) else "",
        ]
        for name, faster in raw_data["faster"].items()
    ]
    ratio = MeasuredRatio(raw_data["faster"]["original, 2"])
    headings = ["form, threads", "to equal depth faster by", "nodes, times the sequential ones"]
    return {
        "threads.cores": str(raw_data["cores"]),
        "threads.table": format_markdown_table(headings, rows),
        "threads.speedup": format_verdict(
            ratio.format_with_range("×"), is_bound_kept=round(ratio.median, 2) >= MIN_TWO_THREAD_SPEEDUP
        ),
    }
