"""Whether a table and the reference search agree: a third way, which shares neither code nor numbers of boards with the others.

The search in Python, by the rules of `games`, looks so many plies ahead from boards in play drawn at random. Whatever it
finds decided must be told so by the table, with the same plies, and whatever the table tells decided within the depth it
must find.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from random import Random

from arena.bots.search.failsoft import failsoft
from arena.bots.search.problem import Problem
from arena.bots.search.values import plies_to_end
from arena.games.board import MAX_PLIES, RisklessMap
from arena.games.core import MAXIE
from arena.games.riskless import Armies, Move, Riskless
from arena.solved.table import Table
from arena.solved.truth import Truth, Value

PART = 250
"""Boards that a process searches at once."""


@dataclass(frozen=True)
class Compared:
    """Boards of which both were asked."""

    boards: int
    decided: int
    """How many of the boards are decided within the depth."""
    differ: tuple[tuple[int, ...], ...] = ()
    """The boards on which the two do not agree."""

    def __add__(self, other: Compared) -> Compared:
        return Compared(self.boards + other.boards, self.decided + other.decided, self.differ + other.differ)


def compare(
    map: RisklessMap,
    table: Table,
    *,
    boards: int,
    depth: int,
    seed: int,
    processes: int,
    advance: Callable[[int], None],
) -> Compared:
    """Ask both of so many boards in play, drawn evenly. `advance` is called with how many were done.

    The boards are the same for the same seed, with any number of processes. Raises solved.header.BadTable.
    """
    parts = [
        (map, table.path, min(PART, boards - first), depth, f"{seed} {first}")
        for first in range(0, boards, PART)
    ]
    found = Compared(0, 0)
    if processes == 1:
        for part in parts:
            found += compare_part(*part)
            advance(found.boards)
        return found
    # A fork would copy whatever the threads of this process hold.
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for job in [pool.submit(compare_part, *part) for part in parts]:
            found += job.result()
            advance(found.boards)
    return found


def compare_part(map: RisklessMap, path: Path, boards: int, depth: int, seed: str) -> Compared:
    """A part of `compare`, in one process."""
    table = Table(path)
    game = Riskless(replace(map, ply_limit=MAX_PLIES))
    problem = Problem(game, lambda _: 0)
    rng = Random(seed)
    found = Compared(0, 0)
    while found.boards < boards:
        position = Armies(table.boards.board(rng.randrange(table.boards.count)), MAXIE, 0)
        if not any(position.armies) or game.outcome(position) is not None:
            continue
        truth = table.probe(position.armies)
        near = truth.plies is not None and truth.plies <= depth
        agree = seen(problem, position, depth) == (truth if near else None)
        found += Compared(1, int(near), () if agree else (position.armies,))
    return found


def seen(problem: Problem[Armies, Move], position: Armies, depth: int) -> Truth | None:
    """What the reference search finds decided for Maxie, who is to move; None where it finds nothing."""
    value = failsoft(problem, position, depth).value
    plies = plies_to_end(value)
    return None if plies is None else Truth(Value.WIN if value > 0 else Value.LOSS, plies)
