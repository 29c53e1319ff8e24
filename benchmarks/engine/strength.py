"""Strength at equal time, in pairs from random openings, with Elo and its 95 % error."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.kit.measure import Section, game
from benchmarks.kit.results import claim
from bots.compiled.catalogue import weights_for
from bots.compiled.learning.selfplay import Budget, opening, pair
from bots.compiled.searcher import Searcher, Settings
from bots.evaluators.catalogue import evaluator_for
from bots.search.deepening import deepen
from bots.search.play import Table, alphabeta_search


@dataclass(frozen=True)
class Contest:
    """Two engines at one time a move."""

    name: str
    map: str
    seconds: float
    pairs: int
    one: dict[str, Any]
    other: dict[str, Any]
    processes: int = 2
    promised: str = ""


CONTESTS = (
    Contest("compiled against reference", "m2", 0.02, 4, {}, {"reference": True}),
    Contest("as it plays against exact", "m2", 0.005, 100, {}, {"exact": True}),
    Contest("as it plays against exact", "world", 0.005, 100, {}, {"exact": True}),
    Contest("2 threads against 1", "m2", 0.01, 10, {"threads": 2}, {}, processes=1),
)
TITLE = "Strength at equal time"
METHOD = (
    "Pairs with seats swapped, from 4 to 9 random plies; evaluator `features` where nothing else is said, tables "
    "of 16 MB, empty at the start of each match. A position that comes up for the third time is a draw. The error "
    "is that of the pairs' scores."
)
NOTE = (
    "Many matches are drawn: where both stand opposite each other, whoever moves first loses, and both wait. "
    "A score of 100 % shows as +1079: the scale ends there."
)


class Reference:
    """The reference search, as a searcher for matches."""

    def __init__(self, board: Any) -> None:
        self.board = board
        self.clear()

    def clear(self) -> None:
        evaluator = evaluator_for(self.board, "features")
        self.search: Any = alphabeta_search(evaluator, table=Table())

    def deepen(self, position: Any, *, stop: Callable[[], bool], max_depth: int, max_nodes: int) -> Any:
        del max_nodes
        return deepen(self.board, position, self.search, stop=stop, max_depth=max_depth)

    def close(self) -> None:
        """It has no threads."""


def make(board: Any, options: dict[str, Any]) -> Any:
    """A searcher with these settings; `evaluator` is a name, `reference` the search in Python."""
    if options.get("reference"):
        return Reference(board)
    settings = {name: value for name, value in options.items() if name != "evaluator"}
    weights = weights_for(board, options.get("evaluator", "features"))
    searcher = Searcher(board, weights, Settings(table_mb=16, **settings))
    searcher.warm_up()
    return searcher


def score_pairs(contest: Contest, seeds: Sequence[int]) -> list[tuple[float, float]]:
    """The points of the first engine in the two matches of each pair."""
    board = game(contest.map)
    one, other = make(board, contest.one), make(board, contest.other)
    found = []
    for seed in seeds:
        rng = random.Random(seed)
        start = opening(board, rng, rng.randint(4, 9))
        found.append(pair(board, start, one, other, Budget(seconds=contest.seconds)))
    one.close()
    other.close()
    return found


def elo(scores: Sequence[float]) -> tuple[float, float, float]:
    """Elo of the first engine from its points in pairs, with the ends of the 95 % interval."""
    shares = [score / 2 for score in scores]
    mean = sum(shares) / len(shares)
    variance = sum((share - mean) ** 2 for share in shares) / max(len(shares) - 1, 1)
    error = 1.96 * math.sqrt(variance / len(shares))

    def rating(share: float) -> float:
        share = min(max(share, 0.002), 0.998)
        return -400 * math.log10(1 / share - 1)

    return rating(mean), rating(mean - error), rating(mean + error)


def run(
    pairs: int = 0, contests: Sequence[Contest] = CONTESTS, title: str = TITLE, note: str = NOTE
) -> Section:
    """Every contest, with so many pairs each if it is not 0; its pairs spread over processes."""
    rows = []
    claims = []
    for contest in contests:
        if pairs:
            contest = replace(contest, pairs=pairs)  # noqa: PLW2901 - the same one, longer
        start = time.perf_counter()
        shares = [range(n, contest.pairs, contest.processes) for n in range(contest.processes)]
        with ProcessPoolExecutor(contest.processes) as pool:
            points = [p for part in pool.map(score_pairs, [contest] * len(shares), shares) for p in part]
        scores = [sum(each) for each in points]
        drawn = sum(each.count(0.5) for each in points)
        middle, low, high = elo(scores)
        if contest.promised:
            found = f"{middle:+.0f} ({low:+.0f} to {high:+.0f})"
            claims.append(claim(f"{contest.name}, Elo on {contest.map}", contest.promised, found))
        rows.append(
            [
                contest.name,
                contest.map,
                f"{contest.seconds:g} s",
                f"{contest.pairs}",
                f"{sum(scores):g} of {2 * contest.pairs}",
                f"{drawn}",
                f"**{middle:+.0f}** ({low:+.0f} to {high:+.0f})",
                f"{time.perf_counter() - start:.0f} s",
            ]
        )
        print(*rows[-1], flush=True)
    return Section(
        title,
        METHOD,
        ["contest", "map", "time a move", "pairs", "points", "drawn", "Elo (95 %)", "took"],
        rows,
        note,
        claims,
    )
