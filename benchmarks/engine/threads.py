"""Threads: time to equal depth and Elo, for every form of Jamboree and for threads that share their table alone."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.engine.contest import STARTS, Engine, Score, start_of
from benchmarks.kit.kept import Kept
from benchmarks.kit.measure import Ratio, Section, game, positions, short, timed
from benchmarks.kit.results import claim
from bots.compiled.catalogue import weights_for
from bots.compiled.learning.selfplay import Budget, play
from bots.compiled.searcher import Searcher, Settings
from bots.search.deepening import Report
from games.core import Player

MAPS = ("m2", "usa", "world")
COUNT = 7
SECONDS = 1.0
"""How long the sequential search is to take, at most: the depth is chosen so."""
PATIENCE = 6
"""A search that takes so many times as long is given up, and counted as if it had ended then."""
TURNS = 2
"""Each is measured so often, by turns; the quickest counts, as the one least disturbed by other work."""
CEILING = "as many sequential searches at once"
FORMS: Mapping[str, Mapping[str, Any]] = {
    "original": {},
    "course, prune 0.5": {"course": True, "prune": 0.5},
    "course, prune 0": {"course": True, "prune": 0.0},
    "lazy, a shared table": {"lazy": True},
}
"""How threads share a search. The last is the baseline: nothing is split, every thread searches the root."""
PLAY_MAPS = ("world", "italy")
PLAY_SECONDS = 0.03
PLAY_TURNS = 3
PAIRS = 60
PARTS: Mapping[str, float] = {"original": 1.0}
"""Which part of the pairs a form plays; the others play FEWER of them."""
FEWER = 1 / 6
PROMISED_SHARE = 0.6


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


def at_once(searchers: Sequence[Searcher[Any, Any]], position: Any, depth: int) -> float:
    """The mean seconds that some searchers need for the same search, each for itself, over their number."""
    with ThreadPoolExecutor(len(searchers)) as pool:
        search = partial(to_depth, position=position, depth=depth, patience=60)
        return sum(seconds for seconds, _ in pool.map(search, searchers)) / len(searchers) ** 2


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
    """The searches of one map. Made when the first of its positions is measured, since that compiles."""

    def __init__(self, map: str, counts: Sequence[int]) -> None:
        board = game(map)
        weights = weights_for(board, "features")

        def make(settings: Mapping[str, Any]) -> Searcher[Any, Any]:
            return Searcher(board, weights, Settings(exact=True, **settings))

        self.plain = make({})
        self.searchers = {name: make(settings) for name, settings in ways(counts).items()}
        self.crowds = {
            f"{CEILING}, {count}": [make({}) for _ in range(count)] for count in counts if count > 1
        }
        for searcher in (self.plain, *self.searchers.values()):
            searcher.warm_up()
            keep_apart(searcher, board.start(), first=0)
        for crowd in self.crowds.values():
            for number, searcher in enumerate(crowd):
                searcher.warm_up()
                keep_apart(searcher, board.start(), first=number)

    def close(self) -> None:
        """End all threads."""
        crowds = (each for crowd in self.crowds.values() for each in crowd)
        for searcher in (self.plain, *self.searchers.values(), *crowds):
            searcher.close()

    def measure(self, position: Any) -> Position:
        """Search it in every way, and check what each finds."""
        _, reached = to_depth(self.plain, position, 100, SECONDS)
        depth = max(reached.depth if reached.finished else reached.depth - 1, 4)
        first, truth = to_depth(self.plain, position, depth, 60)
        sequential = first
        seconds = dict.fromkeys((*self.searchers, *self.crowds), PATIENCE * first)
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
            for name, crowd in self.crowds.items():
                seconds[name] = min(seconds[name], at_once(crowd, position, depth))
        return Position(sequential, seconds, work)


def measured(map: str, counts: Sequence[int], kept: Kept) -> list[Position]:
    """Some positions of a map, searched in every way."""
    found = []
    board: Board | None = None
    try:
        for number, position in enumerate(positions(game(map), COUNT)):
            name = f"{map} {number} {counts}"
            if kept.get(name) is None:
                kept.check()
                board = board or Board(map, counts)
                kept.add(name, asdict(board.measure(position)))
            found.append(Position(**kept.get(name)))
    finally:
        if board is not None:
            board.close()
    return found


def playing(counts: Sequence[int], kept: Kept) -> dict[str, Ratio]:
    """By name, how much faster each way with several threads is where it is as selective as in play.

    Each position is searched to the depth that one thread reaches in PLAY_SECONDS; the quickest of PLAY_TURNS counts.
    """
    names = [name for name, settings in ways(counts).items() if settings["threads"] > 1]
    found: list[Mapping[str, float]] = []
    for map in PLAY_MAPS:
        name = f"playing {map} {PLAY_SECONDS} {counts}"
        if kept.get(name) is None:
            kept.check()
            kept.add(name, played_to_depth(map, {each: ways(counts)[each] for each in names}))
        found += kept.get(name)
    return {name: Ratio([each[name] for each in found]) for name in names}


def played_to_depth(map: str, some: Mapping[str, Mapping[str, Any]]) -> list[dict[str, float]]:
    """For each of some positions of a map: by how much each of some searches is faster than that on one thread."""
    board = game(map)
    plain, *others = (Engine(settings=settings).make(board) for settings in ({}, *some.values()))
    found = []
    try:
        for position in positions(board, COUNT):
            plain.clear()
            end = time.perf_counter() + PLAY_SECONDS
            reports = plain.deepen(position, stop=lambda end=end: time.perf_counter() > end)  # type: ignore[misc]
            depth = max(report.depth for report in reports if report.finished or not report.depth)
            if depth == 0:
                continue
            seconds = [
                min(
                    to_depth(searcher, position, depth, PATIENCE * PLAY_SECONDS)[0] for _ in range(PLAY_TURNS)
                )
                for searcher in (plain, *others)
            ]
            found.append({name: seconds[0] / each for name, each in zip(some, seconds[1:], strict=True)})
    finally:
        for searcher in (plain, *others):
            searcher.close()
    return found


def matches(
    settings: Mapping[str, Any], seconds: float, pairs: int, kept: Kept, clock: Callable[[], float]
) -> Score:
    """A search with these settings and so long a move against one on one thread, at PLAY_SECONDS a move by a clock."""
    score = Score()
    for map in PLAY_MAPS:
        board = game(map)
        names = [f"{map} {settings} {seconds} {PLAY_SECONDS} {seed}" for seed in range(pairs)]
        missing = [seed for seed in range(pairs) if kept.get(names[seed]) is None]
        if missing:
            kept.check()
            one, other = Engine(settings=settings).make(board), Engine().make(board)
            try:
                for seed in missing:
                    kept.check()
                    sides = ((one, Budget(seconds, clock=clock)), (other, Budget(PLAY_SECONDS, clock=clock)))
                    kept.add(names[seed], played_pair(board, *sides, seed))
            finally:
                one.close()
                other.close()
        for name in names:
            points = kept.get(name)
            score.points.append(sum(points))
            score.drawn += points.count(0.5)
    return score


def played_pair(
    board: Any,
    one: tuple[Searcher[Any, Any], Budget],
    other: tuple[Searcher[Any, Any], Budget],
    seed: int,
) -> list[float]:
    """The points of the first in both matches of a pair; each has a budget for its moves."""
    start = start_of(board, seed)
    found = []
    for seat in (Player.MAXIE, Player.MINNIE):
        sides = {seat: one, seat.opponent: other}
        budgets = {each: sides[each][1] for each in Player}
        played = play(board, start, {each: sides[each][0] for each in Player}, budgets)
        found.append(0.5 if played.winner is None else float(played.winner is seat))
    return found


def run(
    threads: Sequence[int] = (1, 2),
    pairs: int = PAIRS,
    raw: Path | None = None,
    seconds: float | None = None,
) -> Section:
    """Every form with each number of threads, on the same positions and in matches."""
    kept = Kept(raw, seconds)
    played = playing(threads, kept)
    found = [position for map in MAPS for position in measured(map, threads, kept)]
    rows: list[list[str]] = []
    claims: list[str] = []
    cores = len(os.sched_getaffinity(0))
    for count in threads:
        # one thread at a time: the processor's seconds are the same whatever else the machine does
        doubled = matches({}, count * PLAY_SECONDS, pairs, kept, time.process_time) if count > 1 else None
        for form, settings in FORMS.items():
            name = f"{form}, {count}"
            work = [each.work[name] for each in found if name in each.work]
            some = max(round(pairs * PARTS.get(form, FEWER)), 2)
            with_threads = {**settings, "threads": count}
            score = matches(with_threads, PLAY_SECONDS, some, kept, time.perf_counter) if doubled else None
            faster = Ratio([each.faster(name) for each in found])
            share = part_of(score, doubled)
            rows.append(
                [
                    str(count),
                    form,
                    str(faster),
                    short(Ratio(work).median) if work else "",
                    str(played.get(name, "")),
                    score.elo if score else "",
                    doubled.elo if doubled else "",
                    share,
                ]
            )
            print(*rows[-1], flush=True)
            if score and count == 2 and form == "original":
                claims += [
                    claim("Jamboree, 2 threads, time to equal depth", "at least 1.7 ×", f"{faster} ×"),
                    claim("Jamboree, 2 threads against 1, Elo", "more than its 95 % error", score.elo),
                    claim("of what twice the time wins", f"at least {PROMISED_SHARE:.0%}", share),
                ]
        if count > 1:
            ceiling = Ratio([each.faster(f"{CEILING}, {count}") for each in found])
            rows.append([str(count), CEILING, str(ceiling), "", "", "", "", ""])
    return Section(
        "Threads",
        f"On {cores} cores. Time to depth: exact mode, evaluator `features`, empty tables; {COUNT} middle-game positions of "
        f"each of {', '.join(MAPS)}, to the depth that the sequential search reaches in {SECONDS:.0f} s; value and move are "
        f"checked. Each search ran {TURNS} times by turns, and its quickest time counts; one that took more than {PATIENCE} "
        "times as long as the sequential one was given up, and counted so. What the cores give at most is told by as many "
        "sequential searches of the same position at once, with a table each. Every search thread is kept on a core of its "
        f"own, as far as there are as many. As it plays: selective, to the depth that one thread reaches in {PLAY_SECONDS:g} s, "
        f"{COUNT} positions of each of {', '.join(PLAY_MAPS)}, the quickest of {PLAY_TURNS}, given up after {PATIENCE} times as long. Elo: as it plays, {PLAY_SECONDS:g} s a move against one thread with as "
        f"much, {pairs} pairs with seats swapped on each of {', '.join(PLAY_MAPS)}, {STARTS}, "
        f"of the course's forms {FEWER:.0%} of them; beside it what one thread wins with as many times the time, "
        "counted by the processor's clock.",
        [
            "threads",
            "form",
            "to equal depth faster by",
            "nodes, times the sequential ones",
            "as it plays, faster by",
            "Elo against 1 thread (95 %)",
            "Elo of as many times the time (95 %)",
            "ratio of both",
        ],
        rows,
        "More threads than cores gain nothing. Lazy: every thread searches the root, and they share their table alone."
        f"{kept.told}",
        claims,
    )


def part_of(score: Score | None, doubled: Score | None) -> str:
    """The one's Elo as a share of the other's, where there is any."""
    if score is None or doubled is None or doubled.difference.elo <= 0:
        return ""
    return f"{100 * score.difference.elo / doubled.difference.elo:.0f} %"
