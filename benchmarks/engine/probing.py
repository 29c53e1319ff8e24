"""What a solved map's table wins a search that looks into it: at the root, at the leaves, and at both.

At the root a decided position is played by the table alone, and of a drawn one only the drawing moves are searched, as the
engines do with `truth=root`. At the leaves the search looks up what is decided, as with `truth=leaves`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.limits import MAX_TERRITORIES
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.search.deepening import Report
from arena.bots.search.values import WIN
from arena.cores import cores
from arena.games.core import MAXIE
from arena.games.riskless import Armies, Move, Riskless
from arena.lab.selfplay import Budget, pair
from arena.lab.solving.solver import Solver
from arena.maps.loader import load_map
from arena.rating.pentanomial import difference, pair_counts
from arena.solved.boards import Boards
from arena.solved.folders import file_name, find, made_here
from arena.solved.solution import Solution, solution_of
from benchmarks.kit.measure import Section
from benchmarks.kit.results import claim

PAIRS = 150
PROCESSES = 2
LEAST = 7
"""A won or lost board that a match begins on is so by at least so many plies: nobody sees it at a glance."""
BUDGETS = {
    **{f"{nodes:,} nodes": Budget(nodes=nodes) for nodes in (50, 500, 5_000)},
    "1 ms": Budget(seconds=0.001),
}
MAPS = {
    "path4": load_map("path4"),
    "m1": load_map("m1"),
    "ring:6, cap 6, goal 27": replace(load_map("ring:6"), territory_cap=6, armies_to_win=27),
}
WAYS: Mapping[str, Mapping[str, Any]] = {
    "root": {"root": True},
    "leaves": {"pieces": MAX_TERRITORIES},
    "leaves, pieces=2": {"pieces": 2},
    "both": {"root": True, "pieces": MAX_TERRITORIES},
}
CONTESTS = (
    ("root", None),
    ("leaves", None),
    ("leaves, pieces=2", None),
    ("both", None),
    ("both", "root"),
)
"""One way against another; None: a search that looks nothing up."""


class Rooted:
    """A searcher whose root is looked up first, for matches."""

    def __init__(self, searcher: Searcher[Armies, Move], solution: Solution) -> None:
        self._searcher, self._solution = searcher, solution
        self.clear, self.close = searcher.clear, searcher.close

    def deepen(
        self, position: Armies, *, stop: Callable[[], bool] | None, max_depth: int, max_nodes: int
    ) -> Iterator[Report[Move]]:
        truth, moves = self._solution.best(position)
        if truth.plies is not None or len(moves) == 1:
            worth = 0 if truth.plies is None else truth.value.sign * (WIN - truth.plies)
            value = position.player.sign * worth
            yield Report(truth.plies or 0, value, moves[0], (moves[0],), len(moves), finished=True)
            return
        yield from self._searcher.deepen(
            position, stop=stop, max_depth=max_depth, max_nodes=max_nodes, moves=moves
        )


@dataclass
class Score:
    """The pairs' points of the first way, and how many of their matches were drawn."""

    points: list[float] = field(default_factory=list)
    drawn: int = 0

    @property
    def elo(self) -> str:
        """With its 95 % interval."""
        found = difference(pair_counts(self.points))
        return "" if found is None else f"{found.elo:+.0f} ± {found.error:.0f}"


def make(board: Riskless, way: str | None) -> Any:
    """A searcher for matches."""
    told = dict(WAYS[way]) if way else {}
    root = told.pop("root", False)
    searcher: Searcher[Armies, Move] = Searcher(
        board, weights_for(board, "features"), Settings(table_mb=1, **told)
    )
    searcher.warm_up()
    solution = solution_of(board) if root else None
    return searcher if solution is None else Rooted(searcher, solution)


def drawn(solution: Solution, rng: random.Random) -> Armies:
    """A board to begin on, drawn evenly by its number: every other one is drawn, with a move that gives the draw away."""
    boards, want_draw = solution.table.boards, rng.random() < 0.5
    while True:
        position = Armies(boards.board(rng.randrange(boards.count)), MAXIE, 0)
        if not any(position.armies) or solution.game.outcome(position) is not None:
            continue
        truth = solution.truth(position)
        if truth.plies is not None and not want_draw and truth.plies >= LEAST:
            return position
        if (
            truth.plies is None
            and want_draw
            and len(solution.best(position)[1]) < len(solution.game.moves(position))
        ):
            return position


def score_pairs(map: str, ways: tuple[str, str | None], budget: Budget, seeds: Sequence[int]) -> Score:
    """Pairs from the openings of these seeds."""
    board = Riskless(MAPS[map])
    one, other = (make(board, way) for way in ways)
    score = Score()
    solution = solution_of(board)
    if solution is None:
        raise ValueError(f"{map} is not solved")
    for seed in seeds:
        points = pair(board, drawn(solution, random.Random(seed)), one, other, budget)
        score.points.append(sum(points))
        score.drawn += points.count(0.5)
    one.close()
    other.close()
    return score


def play(
    map: str, ways: tuple[str, str | None], budget: Budget, pairs: int, pool: ProcessPoolExecutor
) -> Score:
    """So many pairs, spread over the processes."""
    whole = Score()
    shares = [range(n, pairs, PROCESSES) for n in range(min(PROCESSES, pairs))]
    for part in [pool.submit(score_pairs, map, ways, budget, share) for share in shares]:
        whole.points += part.result().points
        whole.drawn += part.result().drawn
    return whole


def solved(map: str) -> Path:
    """The table of a map, made where there is none."""
    boards = Boards.of(MAPS[map])
    path = find(boards)
    if path is None:
        path = made_here() / file_name(MAPS[map])
        path.parent.mkdir(parents=True, exist_ok=True)
        Solver(boards, path.with_suffix(".part"), len(cores()), lambda _: None).solve(path)
    return path


def run(pairs: int = 0) -> Section:
    """Every contest on each map, with so many pairs if it is not 0."""
    rows, claims = [], []
    for map in MAPS:
        solved(map)
    with ProcessPoolExecutor(PROCESSES) as pool:
        for name, budget in BUDGETS.items():
            for ways in CONTESTS:
                scores = {map: play(map, ways, budget, pairs or PAIRS, pool) for map in MAPS}
                everything = Score([point for each in scores.values() for point in each.points])
                told = [
                    f"{score.elo}, drawn {50 * score.drawn / len(score.points):.0f} %"
                    for score in scores.values()
                ]
                rows.append([ways[0], ways[1] or "nothing", name, *told, f"**{everything.elo}**"])
                print(*rows[-1], sep=" | ", flush=True)
                if ways == ("root", None) and name == next(iter(BUDGETS)):
                    claims.append(
                        claim(
                            f"Elo of `truth=root` against none on solved maps, {name} a move",
                            "more than its 95 % error",
                            everything.elo,
                        )
                    )
    return Section(
        "What the truth wins inside the search",
        f"`alphabeta` on solved maps, {pairs or PAIRS} pairs with seats swapped on each, from boards drawn evenly by "
        f"their numbers: half of them drawn, with a move that gives the draw away, half decided in {LEAST} plies or more. "
        "Tables of positions of 1 MB, empty at the start of each match. Elo with half of its 95 % interval. A position that "
        "comes up for the third time is a draw.",
        ["looks up", "against", "a move", *MAPS, "all"],
        rows,
        "The more nodes a search has the less there is to win: where it errs no more, the table tells it nothing. "
        "`--pairs N` narrows the error.",
        claims,
    )
