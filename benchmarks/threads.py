"""Time to depth with 1 and 2 threads, for both forms of Jamboree, beside what the machine has to give."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from benchmarks.measure import Ratio, Section, game, positions, short, timed
from benchmarks.results import claim
from bots.engine.catalogue import weights_for
from bots.engine.searcher import Searcher, Settings
from bots.search.deepening import Report

MAPS = ("m2", "usa", "world")
COUNT = 7
SECONDS = 1.0
"""How long the sequential search is to take, about: the depth is chosen so."""
PATIENCE = 6
"""A search that takes so many times as long is given up, and counted as if it had ended then."""
FORMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("original, 2 threads", {"threads": 2}),
    ("course, prune 0.5, 1 thread", {"course": True, "prune": 0.5}),
    ("course, prune 0.5, 2 threads", {"course": True, "prune": 0.5, "threads": 2}),
)
CEILING = "two sequential searches at once"


def to_depth(
    searcher: Searcher[Any, Any], position: Any, depth: int, patience: float
) -> tuple[float, Report[Any]]:
    """Search with an empty table to a depth: the seconds of the search, and its last report."""
    searcher.clear()
    end = time.perf_counter() + patience
    reports = searcher.deepen(position, max_depth=depth, stop=lambda: time.perf_counter() > end)
    seconds, found = timed(partial(list, reports))
    return seconds, found[-1]


def at_once(searchers: tuple[Searcher[Any, Any], ...], position: Any, depth: int) -> float:
    """The seconds that these searchers need for the same search, each for itself, side by side."""
    with ThreadPoolExecutor(len(searchers)) as pool:
        search = partial(to_depth, position=position, depth=depth, patience=60)
        seconds, _ = timed(lambda: list(pool.map(search, searchers)))
    return seconds


def run() -> Section:
    """Sequential, then the forms, then sequential again: ratios to the mean of both."""
    rows = []
    names = [CEILING, *(name for name, _ in FORMS)]
    total: dict[str, list[float]] = {name: [] for name in names}
    for map in MAPS:
        board = game(map)
        weights = weights_for(board, "features")
        plain = Searcher(board, weights, Settings(exact=True))
        twin = Searcher(board, weights, Settings(exact=True))
        others = [Searcher(board, weights, Settings(exact=True, **form)) for _, form in FORMS]
        for searcher in (plain, twin, *others):
            searcher.warm_up()
        speed: dict[str, list[float]] = {name: [] for name in names}
        work: dict[str, list[float]] = {name: [] for name, _ in FORMS}
        depths = []
        for position in positions(board, COUNT):
            _, reached = to_depth(plain, position, 100, SECONDS)
            depth = max(reached.depth if reached.finished else reached.depth - 1, 4)
            depths.append(depth)
            before, first = to_depth(plain, position, depth, 60)
            found = [to_depth(each, position, depth, PATIENCE * before + 0.1) for each in others]
            both = at_once((plain, twin), position, depth)
            after, _ = to_depth(plain, position, depth, 60)
            speed[CEILING].append((before + after) / both)
            for (name, _), (seconds, report) in zip(FORMS, found, strict=True):
                if report.finished and report.depth == depth:
                    if (report.value, report.move) != (first.value, first.move):
                        raise AssertionError(f"{map}, {name}: {report} instead of {first}")
                    work[name].append(report.nodes / first.nodes)
                speed[name].append((before + after) / 2 / seconds)
        for name in names:
            total[name] += speed[name]
            more = short(Ratio(work[name]).median) if work.get(name) else "-"
            rows.append([map, f"{min(depths)} to {max(depths)}", name, str(Ratio(speed[name])), more])
        for searcher in (plain, twin, *others):
            searcher.close()
    rows += [["all", "", f"**{name}**", f"**{Ratio(total[name])}**", ""] for name in names]
    return Section(
        "Time to depth with two threads",
        f"Exact mode, evaluator `features`, empty tables; {COUNT} middle-game positions a map, each to the depth that "
        f"the sequential search (principal variation search, one thread) reaches in about {SECONDS} s. Value and move "
        f"are checked. A search was given up after {PATIENCE} times the sequential one's time, and counted so. "
        "What two cores of this machine could give at most, at that moment, is told by two sequential searches of the "
        "same position that run at once.",
        ["map", "depth", "form", "faster than sequential by", "nodes, times the sequential ones"],
        rows,
        claims=[
            claim(
                "Jamboree, 2 threads, time to equal depth", "at least 1.7 ×", f"{Ratio(total[FORMS[0][0]])} ×"
            )
        ],
    )
