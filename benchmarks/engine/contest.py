"""Two engines against each other at equal time, in matches that the machine's load cannot touch.

Each move has a budget of nodes, and nodes cost each engine a different time: so on each map the cost of a node
is measured for both first, in the thread's own processor time, by turns on the same positions and at its best, and the one's budget
is such that a move costs both the same. A match is a draw as soon as a position came up three times.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.riskless import Riskless
from arena.lab.selfplay import Budget, opening, pair
from arena.lab.variants import variant
from arena.maps.openings import read, shipped_openings
from arena.match.openings import Opening, after
from arena.rating.pentanomial import Counts, Difference, difference, pair_counts
from benchmarks.kit.kept import Kept

PLIES = (4, 9)
"""Random plies before a pair, at least and at most, on a map that brings no openings with it."""
STARTS = f"from the openings that the maps bring with them, else from {PLIES[0]} to {PLIES[1]} random plies"
SAMPLES = 24
"""Positions on which the cost of a node is measured."""
TURNS = 8
"""Each is searched so often by both in turn, and the quickest counts: other work on the machine leaves its mark on the caches."""
TABLE_MB = 8
CHUNK = 4
"""Pairs that one task has: its searchers are made for it."""


@dataclass(frozen=True)
class Engine:
    """An evaluator, as `bots.compiled.catalogue.weights_for` takes it, and what differs from the default settings."""

    evaluator: str = "features"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def make(self, game: Riskless) -> Searcher[Any, Any]:
        """Ready to search."""
        searcher: Searcher[Any, Any] = Searcher(
            game,
            weights_for(game, self.evaluator),
            Settings(**{"table_mb": TABLE_MB, **self.settings}),
        )
        searcher.warm_up()
        return searcher


@dataclass(frozen=True)
class Contest:
    """So many pairs on a map; `nodes` are those of the other engine's moves."""

    one: Engine
    other: Engine
    map: str
    nodes: int
    pairs: int


@dataclass
class Score:
    """The points of the first engine in each pair, the matches that were drawn, and its nodes a move."""

    points: list[float] = field(default_factory=list)
    drawn: int = 0
    nodes: int = 0

    @property
    def counts(self) -> Counts:
        return pair_counts(self.points)

    @property
    def difference(self) -> Difference:
        found = difference(self.counts)
        if found is None:
            raise ValueError("no pair was played")
        return found

    @property
    def elo(self) -> str:
        """With its 95 % interval."""
        found = self.difference
        return f"{found.elo:+.0f} ({found.elo - found.error:+.0f} to {found.elo + found.error:+.0f})"

    @property
    def cells(self) -> list[str]:
        """Pairs, points, draws and Elo, for a table."""
        count = len(self.points)
        return [
            str(count),
            f"{sum(self.points):g} of {2 * count}",
            f"{50 * self.drawn / count:.0f} %",
            self.elo,
        ]


def together(scores: Sequence[Score]) -> Score:
    """All pairs of some scores as one."""
    return Score([each for score in scores for each in score.points], sum(score.drawn for score in scores))


def start_of(game: Riskless, seed: int) -> Any:
    """The position after an opening that the map brings with it, each seed another one, or else after random plies.

    Those of maps are near even, and it matters how they are answered: of random ones most are won by a seat, whoever plays.
    """
    listed = openings_of(game.map.name)
    if listed:
        return after(game, listed[seed % len(listed)])
    rng = random.Random(seed)
    return opening(game, rng, rng.randint(*PLIES))


@cache
def openings_of(map: str) -> Sequence[Opening]:
    """Those that a shipped map brings with it, shuffled; none of any other."""
    path = shipped_openings(map)
    if path is None:
        return ()
    game: Any = Riskless(variant(map))
    [listed] = read(path, [game])
    random.Random(1).shuffle(listed)
    return tuple(listed)


def equal_budget(contest: Contest) -> int:
    """The nodes that cost the first engine what the contest's nodes cost the other."""
    game = Riskless(variant(contest.map))
    both = [engine.make(game) for engine in (contest.one, contest.other)]
    spent = [0.0, 0.0]
    for seed in range(SAMPLES):
        position = start_of(game, -1 - seed)
        costs = [math.inf, math.inf]
        for _ in range(TURNS):
            for number, searcher in enumerate(both):
                searcher.clear()
                start = time.thread_time_ns()
                list(searcher.deepen(position, max_nodes=contest.nodes))
                cost = (time.thread_time_ns() - start) / searcher.nodes
                costs[number] = min(costs[number], cost)
        for number, cost in enumerate(costs):
            spent[number] += cost
    for searcher in both:
        searcher.close()
    return round(contest.nodes * spent[1] / spent[0])


def score_pairs(contest: Contest, nodes: int, seeds: Sequence[int]) -> Score:
    """Pairs from the openings of these seeds, the first engine with so many nodes."""
    game = Riskless(variant(contest.map))
    one, other = contest.one.make(game), contest.other.make(game)
    score = Score(nodes=nodes)
    for seed in seeds:
        start = start_of(game, seed)
        found = pair(game, start, one, other, Budget(nodes=nodes), Budget(nodes=contest.nodes))
        score.points.append(sum(found))
        score.drawn += found.count(0.5)
    one.close()
    other.close()
    return score


def play_all(
    contests: Sequence[Contest], pool: Executor, told: Callable[[Contest, Score], None], kept: Kept
) -> list[Score]:
    """Every contest, spread over the pool's processes; `told` is called as each is done, in their order.

    What is kept is not played again. Raises Unfinished where the time of `kept` is over before.
    """
    names = [str(replace(contest, pairs=0)) for contest in contests]
    budgets = found_or_made(
        pool,
        kept,
        [(f"budget {name}", equal_budget, (each,)) for name, each in zip(names, contests, strict=True)],
    )
    parts = [
        [
            (f"{name} {nodes} {seeds}", play_some, (contest, nodes, seeds))
            for first in range(0, contest.pairs, CHUNK)
            for seeds in [range(first, min(first + CHUNK, contest.pairs))]
        ]
        for name, contest, nodes in zip(names, contests, budgets, strict=True)
    ]
    played = iter(found_or_made(pool, kept, [part for each in parts for part in each]))
    scores = []
    for contest, nodes, each in zip(contests, budgets, parts, strict=True):
        score = together([Score(*next(played)) for _ in each])
        score.nodes = nodes
        told(contest, score)
        scores.append(score)
    return scores


def play_some(contest: Contest, nodes: int, seeds: Sequence[int]) -> tuple[list[float], int]:
    """Some of a contest's pairs: their points, and how many matches were drawn."""
    score = score_pairs(contest, nodes, seeds)
    return score.points, score.drawn


Task = tuple[str, Callable[..., Any], tuple[Any, ...]]
"""A name to keep the result under, a function and its arguments."""


def found_or_made(pool: Executor, kept: Kept, tasks: Sequence[Task]) -> list[Any]:
    """The results of all tasks, those that were kept before and those that the pool makes now."""
    running = {
        pool.submit(function, *arguments): name
        for name, function, arguments in tasks
        if kept.get(name) is None
    }
    for future in as_completed(running):
        kept.add(running[future], future.result())
        if kept.over:
            for other in running:
                other.cancel()
            for other, name in running.items():
                if not other.cancelled() and kept.get(name) is None:
                    kept.add(name, other.result())
            kept.check()
    return [kept.get(name) for name, _, _ in tasks]
