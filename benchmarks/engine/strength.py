"""The compiled search against the readable one at equal time, in matches.

What the compiled search's devices win is told by `selective`, what threads win by `doubling`, and what it wins against an
earlier state of itself by `earlier`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.deepening import deepen
from arena.bots.search.play import Table, alphabeta_search
from arena.lab.selfplay import Budget, pair
from benchmarks.engine.contest import STARTS, TABLE_MB, Engine, Score, start_of, together
from benchmarks.kit.measure import Section, game

MAPS = ("m2", "world", "italy")
SECONDS = 0.02
PAIRS = 4


class Reference:
    """The readable search, as a searcher for matches."""

    def __init__(self, board: Any) -> None:
        self.board = board
        self.clear()

    def clear(self) -> None:
        """Forget what it knows, for a new match."""
        self.search: Any = alphabeta_search(evaluator_for(self.board, "features"), table=Table())

    def deepen(self, position: Any, *, stop: Callable[[], bool], max_depth: int, max_nodes: int) -> Any:
        """Reports; it counts no nodes against a limit."""
        del max_nodes
        return deepen(self.board, position, self.search, stop=stop, max_depth=max_depth)


def score_on(map: str, pairs: int) -> Score:
    """Pairs of the compiled search against the readable one."""
    board = game(map)
    compiled = Engine().make(board)
    reference: Any = Reference(board)
    score = Score()
    for seed in range(pairs):
        budget = Budget(SECONDS, clock=time.process_time)
        found = pair(board, start_of(board, seed), compiled, reference, budget)
        score.points.append(sum(found))
        score.drawn += found.count(0.5)
    compiled.close()
    return score


def run(pairs: int = PAIRS) -> Section:
    """So many pairs on each map."""
    scores = {map: score_on(map, pairs) for map in MAPS}
    rows = [[map, *score.cells] for map, score in (*scores.items(), ("all", together([*scores.values()])))]
    return Section(
        "The compiled search against the readable one, in matches",
        f"`alphabeta` compiled and as it plays (selective), against `bots/search/alphabeta.py` by deepening with its table, exact, in "
        f"Python; {SECONDS:g} s of the processor a move, so that the load of the machine has no say; evaluator `features`, one thread, "
        f"the compiled one's table of {TABLE_MB} MB; pairs with seats swapped, {STARTS}. A position that comes up for the third time "
        "is a draw.",
        ["map", "pairs", "points", "drawn", "Elo (95 %)"],
        rows,
        "Where nearly all is won the interval says little more than that.",
    )
