"""What each part of the selective mode wins, in matches that the machine's load cannot touch.

Each move has a budget of nodes, and nodes cost each engine a different time: so on each map the cost of a node
is measured for both first, in the processor's time and by turns on the same positions, and the one's budget is
such that a move costs both the same. A match is a draw as soon as a position came up three times.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any

from benchmarks.kit.measure import Section, game
from bots.compiled.catalogue import weights_for
from bots.compiled.searcher import Searcher, Settings
from bots.compiled.selfplay import Budget, opening
from bots.compiled.selfplay import play as play_match
from games.core import Player
from rating.elo import elo_of_score
from rating.pentanomial import Counts, moments, pair_counts

NODES = 8000
"""A move of the other engine, about 1 ms."""
PAIRS = 20
PROCESSES = 2
MAPS = ("m2", "world", "usa")
PLIES = (10, 50)
"""Random ones before a match: the fewer, the more matches are drawn."""
SAMPLES = 40


@dataclass(frozen=True)
class Contest:
    """One engine against another; `other` differs from `one` in what is to be judged."""

    name: str
    one: Mapping[str, Any]
    other: Mapping[str, Any]
    evaluator: str = "features"
    nodes: int = NODES
    maps: Sequence[str] = MAPS
    share: float = 1.0
    """Of the pairs of the others: fewer where a move costs more, more where little is to be told apart."""


CONTESTS = (
    Contest("as it plays against exact", {}, {"exact": True}),
    Contest("the same, evaluator `plain`", {}, {"exact": True}, evaluator="plain"),
    Contest("late moves reduced, against not", {}, {"reduce": 0}),
    Contest("the same, 12 times the nodes", {}, {"reduce": 0}, nodes=12 * NODES, share=2),
    Contest("late moves left out, against not", {}, {"late": 0}, share=4),
    Contest("settled by estimate, against not", {}, {"settle": False}, share=4),
    Contest("tempo counted, against not", {}, {"tempo": False}),
    Contest(
        "as it plays against exact, 50 times the nodes",
        {},
        {"exact": True},
        nodes=50 * NODES,
        maps=("m2", "world"),
        share=1 / 5,
    ),
)


@dataclass
class Score:
    """The pairs' points of the first engine, how many matches were drawn, and its nodes a move."""

    points: list[float] = field(default_factory=list)
    drawn: int = 0
    nodes: int = 0

    @property
    def counts(self) -> Counts:
        return pair_counts(self.points)

    @property
    def elo(self) -> str:
        """With its 95 % interval, from the variance of the pairs."""
        total, mean, variance = moments(self.counts)
        error = 1.96 * (variance / total) ** 0.5
        middle, low, high = (elo_of_score(min(max(mean + each, 0.002), 0.998)) for each in (0, -error, error))
        return f"{middle:+.0f} ({low:+.0f} to {high:+.0f})"


def start_of(board: Any, seed: int) -> Any:
    """An opening of random plies."""
    rng = random.Random(seed)
    return opening(board, rng, rng.randint(*PLIES))


def make(contest: Contest, board: Any, settings: Mapping[str, Any]) -> Searcher[Any, Any]:
    """Ready to search."""
    searcher: Searcher[Any, Any] = Searcher(
        board, weights_for(board, contest.evaluator), Settings(table_mb=8, **settings)
    )
    searcher.warm_up()
    return searcher


def budget(contest: Contest, map: str) -> int:
    """The nodes that cost the first engine what the contest's nodes cost the other."""
    board = game(map)
    both = [make(contest, board, settings) for settings in (contest.one, contest.other)]
    ratios = []
    for seed in range(SAMPLES):
        position = start_of(board, -1 - seed)
        costs = []
        for searcher in both:
            searcher.clear()
            start = time.process_time_ns()
            list(searcher.deepen(position, max_nodes=contest.nodes))
            costs.append((time.process_time_ns() - start) / searcher.nodes)
        ratios.append(costs[1] / costs[0])
    for searcher in both:
        searcher.close()
    return round(contest.nodes * statistics.median(ratios))


def points(
    board: Any, start: Any, seats: Mapping[Player, tuple[Searcher[Any, Any], int]], of: Player
) -> float:
    """What the player of that seat makes of a match: 0, ½ or 1."""
    searchers = {seat: searcher for seat, (searcher, _) in seats.items()}
    budgets = {seat: Budget(nodes=nodes) for seat, (_, nodes) in seats.items()}
    winner = play_match(board, start, searchers, budgets).winner
    return 0.5 if winner is None else float(winner is of)


def score_pairs(contest: Contest, map: str, nodes: int, seeds: Sequence[int]) -> Score:
    """Pairs from the openings of these seeds, the first engine with so many nodes."""
    board = game(map)
    one = make(contest, board, contest.one), nodes
    other = make(contest, board, contest.other), contest.nodes
    score = Score(nodes=nodes)
    for seed in seeds:
        start = start_of(board, seed)
        found = [
            points(board, start, {seat: one, seat.opponent: other}, seat)
            for seat in (Player.MAXIE, Player.MINNIE)
        ]
        score.points.append(sum(found))
        score.drawn += found.count(0.5)
    one[0].close()
    other[0].close()
    return score


def play(contest: Contest, map: str, pairs: int, pool: ProcessPoolExecutor) -> Score:
    """So many pairs on a map, spread over the processes."""
    nodes = budget(contest, map)
    shares = [range(n, pairs, PROCESSES) for n in range(min(PROCESSES, pairs))]
    whole = Score(nodes=nodes)
    for part in [pool.submit(score_pairs, contest, map, nodes, share) for share in shares]:
        whole.points += part.result().points
        whole.drawn += part.result().drawn
    return whole


def row(contest: Contest, map: str, score: Score) -> list[str]:
    """Of the table."""
    count = len(score.points)
    return [
        contest.name,
        map,
        f"{score.nodes} : {contest.nodes}" if score.nodes else "",
        f"{count}",
        f"{sum(score.points):g} of {2 * count}",
        f"{50 * score.drawn / count:.0f} %",
        score.elo if score.nodes else f"**{score.elo}**",
    ]


def run(pairs: int = 0, contests: Sequence[Contest] = CONTESTS) -> Section:
    """Every contest on each of its maps, with so many pairs if it is not 0."""
    rows = []
    with ProcessPoolExecutor(PROCESSES) as pool:
        for contest in contests:
            count = max(round((pairs or PAIRS) * contest.share), 2)
            scores = [play(contest, map, count, pool) for map in contest.maps]
            rows += list(starmap(row, ((contest, *each) for each in zip(contest.maps, scores, strict=True))))
            all_points = [each for score in scores for each in score.points]
            rows.append(row(contest, "all", Score(all_points, sum(score.drawn for score in scores))))
            print(*(" ".join(each) for each in rows[-len(scores) - 1 :]), sep="\n", flush=True)
    return Section(
        "What the selective mode wins",
        f"Pairs with seats swapped, {pairs or PAIRS} on each map unless the table says otherwise, from {PLIES[0]} to "
        f"{PLIES[1]} random plies, tables of 8 MB, empty at the start of each match. A move has a fixed number of nodes, "
        f"the one's against the other's in the ratio at which they cost the same time, measured on {SAMPLES} other "
        f"positions; so the load of the machine has no say. A position that comes up for the third time is a draw.",
        ["contest", "map", "nodes a move", "pairs", "points", "drawn", "Elo (95 %)"],
        rows,
        "The fewer nodes of the first engine say that its nodes cost more: it looks at fewer leaves. `--pairs N` narrows "
        "the error.",
    )
