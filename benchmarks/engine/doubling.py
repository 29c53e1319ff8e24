"""What several threads win against one at equal time, beside what one wins with as many times the time.

A match with threads needs as many cores for itself, and goes by the clock on the wall. Where one thread has more time than
another, only one of them thinks at a time: such a match needs one core, and goes by the seconds that the processor works for its
process, so that several may be played side by side, whatever the load. How many pairs there are is said before, and no result is
looked at on the way.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

from arena.lab.selfplay import Budget, pair
from benchmarks.engine.contest import STARTS, TABLE_MB, Engine, Score, found_or_made, start_of
from benchmarks.engine.threads import COUNT, FORMS, PATIENCE, to_depth, ways
from benchmarks.kit.kept import Kept
from benchmarks.kit.measure import Ratio, Section, game, positions, short
from benchmarks.kit.results import claim

MAPS = ("world", "usa")
"""Shipped maps on which strength tells most for the plies that a match has (maps/README.md)."""
SECONDS = 0.03
"""A move of one thread, and of several."""
TURNS = 3
PAIRS = 45
FEWER = 1 / 10
"""Which part of the pairs the forms play that Jamboree does not play by unless it is told to."""
DEFAULT_FORM = "original"
PROMISED_SHARE = 0.6


def faster(threads: Sequence[int], kept: Kept) -> dict[str, Ratio]:
    """By name, how much faster each way with several threads is than one thread, as selective as in play."""
    some = {name: settings for name, settings in ways(threads).items() if settings["threads"] > 1}
    found: list[Mapping[str, float]] = []
    for map in MAPS:
        name = f"faster {map} {SECONDS} {sorted(some)}"
        if kept.get(name) is None:
            kept.check()
            kept.add(name, faster_on(map, some))
        found += kept.get(name)
    return {name: Ratio([each[name] for each in found]) for name in some}


def faster_on(map: str, some: Mapping[str, Mapping[str, Any]]) -> list[dict[str, float]]:
    """For each of some positions of a map, to the depth of one thread's SECONDS: by how much each of some searches is faster."""
    board = game(map)
    plain, *others = (Engine(settings=settings).make(board) for settings in ({}, *some.values()))
    found = []
    try:
        for position in positions(board, COUNT):
            plain.clear()
            end = time.perf_counter() + SECONDS
            reports = plain.deepen(position, stop=lambda end=end: time.perf_counter() > end)  # type: ignore[misc]
            depth = max(report.depth for report in reports if report.finished or not report.depth)
            if depth == 0:
                continue
            seconds = [
                min(to_depth(searcher, position, depth, PATIENCE * SECONDS)[0] for _ in range(TURNS))
                for searcher in (plain, *others)
            ]
            found.append({name: seconds[0] / each for name, each in zip(some, seconds[1:], strict=True)})
    finally:
        for searcher in (plain, *others):
            searcher.close()
    return found


def matches(
    settings: Mapping[str, Any],
    seconds: float,
    pairs: int,
    pool: Executor,
    kept: Kept,
    clock: Callable[[], float],
) -> Score:
    """A search with these settings and so long a move against one thread that has SECONDS, by a clock, on each of MAPS.

    Maps take turns pair by pair. Raises Unfinished where the time of `kept` is over before.
    """
    tasks = [
        (f"{map} {dict(settings)} {seconds} {SECONDS} {seed}", played, (map, settings, seconds, clock, seed))
        for seed in range(pairs)
        for map in MAPS
    ]
    if any(kept.get(name) is None for name, _, _ in tasks):
        kept.check()
    points = found_or_made(pool, kept, tasks)
    return Score([sum(each) for each in points], sum(each.count(0.5) for each in points))


def played(
    map: str, settings: Mapping[str, Any], seconds: float, clock: Callable[[], float], seed: int
) -> list[float]:
    """The points of the search with these settings in both matches of a pair."""
    board = game(map)
    one, other = Engine(settings=settings).make(board), Engine().make(board)
    budgets = (Budget(seconds, clock=clock), Budget(SECONDS, clock=clock))
    try:
        return list(pair(board, start_of(board, seed), one, other, *budgets))
    finally:
        one.close()
        other.close()


def part_of(score: Score, doubled: Score) -> str:
    """The one's Elo as a share of the other's, with its 95 % error, where the other has any."""
    one, other = score.difference, doubled.difference
    if other.elo <= 0:
        return ""
    share = one.elo / other.elo
    return f"{100 * share:.0f} % (± {100 * math.hypot(one.error, share * other.error) / other.elo:.0f})"


def run(
    threads: Sequence[int] = (1, 2),
    pairs: int = PAIRS,
    processes: int | None = None,
    raw: Path | None = None,
    seconds: float | None = None,
) -> Section:
    """Every form with each number of threads above one, and one thread with as many times the time."""
    kept = Kept(raw, seconds)
    rows: list[list[str]] = []
    claims: list[str] = []
    quicker = faster(threads, kept)
    with ProcessPoolExecutor(1) as alone, ProcessPoolExecutor(processes) as beside:
        for count in (count for count in threads if count > 1):
            scores = {
                form: matches(
                    {**settings, "threads": count},
                    SECONDS,
                    pairs if form == DEFAULT_FORM else max(round(pairs * FEWER), 1),
                    alone,
                    kept,
                    time.perf_counter,
                )
                for form, settings in FORMS.items()
            }
            longer = matches({}, count * SECONDS, pairs, beside, kept, time.process_time)
            for form, score in scores.items():
                speeds = quicker[f"{form}, {count}"]
                mean = statistics.geometric_mean(speeds.values)
                rows.append(
                    [f"{count}", form, f"{short(mean)}; {speeds}", *score.cells, part_of(score, longer)]
                )
            rows.append(["1", f"{count} times the time", f"{count}", *longer.cells, "100 %"])
            if count == 2:
                claims = promised(scores[DEFAULT_FORM], longer)
    for row in rows:
        print(*row, flush=True)
    return Section(
        "What threads win against one, and what as many times the time wins",
        f"On {len(os.sched_getaffinity(0))} cores, as the engine plays (selective), evaluator `features`, tables of {TABLE_MB} MB. "
        f"Pairs with seats swapped on {' and '.join(MAPS)}, {STARTS}, against one thread with {SECONDS:g} s a move; the form that "
        f"Jamboree has unless it is told otherwise plays {pairs} on each map, as does one thread with more time, the other forms "
        f"{FEWER:.0%} of them: so many were fixed before. With threads a match has the machine to itself and goes by the clock; "
        "where one thread has more time, by the seconds that the processor works for it. Faster: geometric mean, then median, "
        f"least and greatest, to the depth that one thread reaches in {SECONDS:g} s, {COUNT} positions of each map, the quickest of "
        f"{TURNS} searches, given up after {PATIENCE} times as long.",
        [
            "threads",
            "form",
            "to equal depth faster by",
            "pairs",
            "points",
            "drawn",
            "Elo against 1 thread (95 %)",
            "of what as many times the time wins (95 %)",
        ],
        rows,
        f"Lazy: every thread searches the root, and they share their table alone.{kept.told}",
        claims,
    )


def promised(score: Score, longer: Score) -> list[str]:
    """What was promised of two threads."""
    what = f"Jamboree, 2 threads against 1 at equal time, {SECONDS:g} s a move on {' and '.join(MAPS)}, Elo"
    pairs = f"{len(score.points)} pairs"
    return [
        claim(what, "more than its 95 % error", f"{score.elo}, {pairs}"),
        claim(
            f"the same as a share of what twice the time wins, {longer.elo}",
            f"at least {PROMISED_SHARE:.0%}",
            part_of(score, longer) or "nothing, for twice the time won nothing",
        ),
    ]
