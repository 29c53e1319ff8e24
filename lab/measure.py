"""How well the matches on a map decide: equal searchers against each other, and strong ones against weak ones.

Every move has a fixed number of nodes, and no clock is read: the same map, evaluator and seed give the same figures on
every machine. Leaves are not told from the node above them: that saves time for nodes, which here would only be fewer. A match begins after a few random plies. Two equal searchers answer alike whichever of them has
which seat, so that one match from an opening tells all that two would; searchers of different strength play it twice,
with the seats swapped.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.games.board import RisklessMap
from arena.games.core import Player
from arena.games.riskless import Armies, Move, Riskless
from arena.lab.selfplay import Budget, opening, play, points_of
from arena.rating.elo import Z95
from arena.rating.pentanomial import Counts, Difference, difference, moments, pair_counts

STRENGTHS = (500, 4_000, 32_000)
"""Nodes a move of searchers that meet their equals."""
STRONG, WEAK = 4_000, 500
"""Nodes a move of two that should be told apart."""
PLIES = (4, 9)
"""Random plies before a match, at least and at most."""
TABLE_MB = 4
CHUNK = 10
"""Openings that one task has. Its searchers are made for it, which takes less than a tenth of its time."""


@dataclass(frozen=True)
class Mean:
    """A mean and half the width of its 95 % interval."""

    value: float
    error: float


def share(count: float, of: int, variance: float | None = None) -> Mean:
    """The part that `count` is of `of`; the variance is that of yes and no unless another is given.

    The error is found as if two more had been counted on either side, so that it is not 0 where all are alike.
    """
    near = (count + 2) / (of + 4)
    spread = near * (1 - near) if variance is None else variance
    return Mean(count / of, Z95 * math.sqrt(spread / (of + 4)))


@dataclass
class Equals:
    """What came of the matches between equal searchers of one strength."""

    nodes: int
    plies: list[int] = field(default_factory=list)
    endings: Counter[str] = field(default_factory=Counter)
    wins: Counter[Player | None] = field(default_factory=Counter)

    @property
    def matches(self) -> int:
        return len(self.plies)

    @property
    def drawn(self) -> Mean:
        """The part of the matches that nobody won."""
        return share(self.wins[None], self.matches)

    @property
    def maxie(self) -> Mean:
        """Maxie's part of the points."""
        points = self.wins[Player.MAXIE] + self.wins[None] / 2
        mean = points / self.matches
        square = (self.wins[Player.MAXIE] + self.wins[None] / 4) / self.matches
        return share(points, self.matches, max(square - mean * mean, 1 / self.matches))

    @property
    def length(self) -> Mean:
        """Plies of a match, those of the opening included."""
        mean = sum(self.plies) / self.matches
        variance = sum((plies - mean) ** 2 for plies in self.plies) / max(1, self.matches - 1)
        return Mean(mean, Z95 * math.sqrt(variance / self.matches))


@dataclass
class Signal:
    """What came of the pairs between a strong searcher and a weak one."""

    strong: int
    weak: int
    points: list[float] = field(default_factory=list)
    """The strong one's in each pair: 0, ½, 1, 1½ or 2."""
    draws: int = 0

    @property
    def pairs(self) -> int:
        return len(self.points)

    @property
    def counts(self) -> Counts:
        return pair_counts(self.points)

    @property
    def drawn(self) -> Mean:
        """The part of the matches that nobody won."""
        return share(self.draws, 2 * self.pairs)

    @property
    def score(self) -> Mean:
        """The strong one's part of the points."""
        _, mean, variance = moments(self.counts)
        return share(mean * self.pairs, self.pairs, max(variance, 1 / self.pairs))

    @property
    def difference(self) -> Difference:
        """How much stronger the strong one is. There must be a pair."""
        found = difference(self.counts)
        if found is None:
            raise ValueError("no pair was played")
        return found

    @property
    def pairs_needed(self) -> float:
        """How many pairs tell the two apart: the 95 % interval of the score then just leaves out a half.

        Infinite where the strong one is not ahead.
        """
        counts: Sequence[float] = self.counts
        if sum(1 for n in counts if n) == 1:
            counts = [n + (i in {0, len(counts) - 1}) for i, n in enumerate(counts)]
        _, mean, variance = moments(counts)
        return (Z95 / (mean - 0.5)) ** 2 * variance if mean > 0.5 else math.inf


@dataclass
class Measured:
    """A map and what its matches came to."""

    map: RisklessMap
    evaluator: str
    equals: tuple[Equals, ...]
    signal: Signal


@dataclass(frozen=True)
class _Task:
    """Matches from some openings, each opening by its number; `other` differs from `one` for a signal."""

    map: RisklessMap
    evaluator: str
    one: int
    other: int
    seed: int
    openings: range


@dataclass(frozen=True)
class _End:
    winner: Player | None
    reason: str
    plies: int


def measure(
    maps: Sequence[RisklessMap],
    evaluator: str,
    *,
    matches: int,
    seed: int,
    processes: int,
    strengths: Sequence[int] = STRENGTHS,
    progress: Callable[[int], None] = lambda _: None,
) -> Iterator[Measured]:
    """Each map in turn, with `matches` at each strength and half as many pairs for the signal.

    progress   is called with the number of matches that have been played since it was last called

    Raises BadWeights, and ValueError for a map that the compiled engine cannot hold.
    """
    if processes == 1:
        for map in maps:
            yield _measure(map, evaluator, matches, seed, strengths, partial(_here, progress))
        return
    # Not forked: the caller has threads, of a progress bar for one.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for map in maps:
            yield _measure(map, evaluator, matches, seed, strengths, partial(_there, pool, progress))


def _here(progress: Callable[[int], None], tasks: Sequence[_Task]) -> Mapping[_Task, list[_End]]:
    done = {}
    for task in tasks:
        done[task] = _play(task)
        progress(len(done[task]))
    return done


def _there(
    pool: ProcessPoolExecutor, progress: Callable[[int], None], tasks: Sequence[_Task]
) -> Mapping[_Task, list[_End]]:
    waiting = {pool.submit(_play, task): task for task in tasks}
    done = {}
    for each in as_completed(waiting):
        done[waiting[each]] = each.result()
        progress(len(each.result()))
    return done


def _measure(
    map: RisklessMap,
    evaluator: str,
    matches: int,
    seed: int,
    strengths: Sequence[int],
    play_all: Callable[[Sequence[_Task]], Mapping[_Task, list[_End]]],
) -> Measured:
    made = Measured(map, evaluator, tuple(Equals(nodes) for nodes in strengths), Signal(STRONG, WEAK))
    # The longest come first, so that no process waits for one of them at the end.
    plan = [(nodes, nodes, matches) for nodes in reversed(strengths)] + [(STRONG, WEAK, max(1, matches // 2))]
    tasks = [
        _Task(map, evaluator, one, other, seed, range(first, min(first + CHUNK, count)))
        for one, other, count in plan
        for first in range(0, count, CHUNK)
    ]
    done = play_all(tasks)
    for task in tasks:
        _count(made, task, done[task])
    return made


def matches_of(maps: int, matches: int, strengths: int = len(STRENGTHS)) -> int:
    """How many matches `measure` plays."""
    return maps * (strengths * matches + 2 * max(1, matches // 2))


def _count(made: Measured, task: _Task, ends: Sequence[_End]) -> None:
    if task.one == task.other:
        [equals] = [each for each in made.equals if each.nodes == task.one]
        equals.plies += [end.plies for end in ends]
        equals.endings.update(end.reason for end in ends)
        equals.wins.update(end.winner for end in ends)
        return
    for first, second in zip(ends[0::2], ends[1::2], strict=True):
        won = ((first, Player.MAXIE), (second, Player.MINNIE))
        made.signal.points.append(sum(points_of(end.winner, seat) for end, seat in won))
        made.signal.draws += sum(end.winner is None for end, _ in won)


def _play(task: _Task) -> list[_End]:
    game = Riskless(task.map)
    weights = weights_for(game, task.evaluator)
    settings = Settings(table_mb=TABLE_MB, foresee=False)
    one, other = (Searcher(game, weights, settings) for _ in range(2))
    try:
        return _matches(task, game, one, other)
    finally:
        one.close()
        other.close()


def _matches(
    task: _Task, game: Riskless, one: Searcher[Armies, Move], other: Searcher[Armies, Move]
) -> list[_End]:
    budgets = {id(one): Budget(nodes=task.one), id(other): Budget(nodes=task.other)}
    ends = []
    for number in task.openings:
        rng = random.Random(f"{task.seed}/{number}")
        start = opening(game, rng, rng.randint(*PLIES))
        seatings = [{Player.MAXIE: one, Player.MINNIE: other}]
        if task.one != task.other:
            seatings.append({Player.MAXIE: other, Player.MINNIE: one})
        for seats in seatings:
            played = play(game, start, seats, {seat: budgets[id(each)] for seat, each in seats.items()})
            ends.append(_End(played.winner, played.reason, start.ply + len(played.positions)))
    return ends
