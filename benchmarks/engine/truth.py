"""How far every engine is from the truth of a solved map.

Positions are boards drawn evenly by their numbers, kept where they are in play, are no loss, and have a move that gives
something away. An engine gets one after the other, as at its turns in a match of so many ms a move.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from threading import Event
from typing import Any

from arena.bots.api.bot import ask, begin
from arena.bots.api.clock import Clock
from arena.bots.api.match import Ending, Match
from arena.bots.engines.registry import make_engine
from arena.cores import cores
from arena.games.core import MAXIE
from arena.games.riskless import Armies, Riskless
from arena.protocol.timecontrol import TimeControl
from arena.solved.boards import Boards
from arena.solved.folders import file_name, made_here
from arena.solved.solution import Solution, solution_of
from arena.solved.table import Table
from benchmarks.kit.measure import Section, game
from benchmarks.kit.results import claim

MAP = "m1"
ENGINES = ("random", "greedy", "minimax", "alphabeta", "alphabeta:exact=yes", "jamboree")
MILLISECONDS = (1, 10, 100)
POSITIONS = 2_000
SEED = 1
LEAST = 0.5
"""The most, in per cent, of the positions in which the compiled alphabeta may give something away at 100 ms."""
TIMELESS = ("random", "greedy")
"""Engines that take the same moves whatever time they have."""


def drawn(solution: Solution, count: int, seed: int) -> list[Armies]:
    """Positions with Maxie to move, by the rule of this module."""
    rng = Random(seed)
    boards, rules = solution.table.boards, solution.game
    found: list[Armies] = []
    while len(found) < count:
        position = Armies(boards.board(rng.randrange(boards.count)), MAXIE, 0)
        if not any(position.armies) or rules.outcome(position) is not None:
            continue
        values = {truth.value for _, truth in solution.moves(position)}
        if len(values) > 1:
            found.append(position)
    return found


def measure(solution: Solution, engine: str, ms: int, positions: Sequence[Armies]) -> int:
    """Return in how many positions an engine's move gives something away."""
    given_away = 0
    with seated(solution.game, engine, ms) as choose:
        for position in positions:
            before = solution.truth(position)
            after = solution.truth(solution.game.successor(position, choose(position))).before
            given_away += after.value is not before.value
    return given_away


@contextmanager
def seated(rules: Riskless, engine: str, ms: int) -> Iterator[Any]:
    """A bot at a match, as a function from positions to moves."""
    control = TimeControl(ms, per_move=True)
    bot = make_engine(engine).make()
    begin(bot, Match(rules, MAXIE, time_control=control))
    bot.prepare()

    def choose(position: Armies) -> Any:
        clock = Clock(mine=ms / 1000, per_move=True, arrived=time.monotonic())
        return ask(bot, position, clock, Event())

    try:
        yield choose
    finally:
        bot.ended(Ending(None, None, "the positions are all played", 0, rules.start()))
        bot.close()


def run(positions: int = POSITIONS) -> Section:
    """All engines at all times."""
    rules = game(MAP)
    solution = solution_of(rules) or _solved(rules)
    chosen = drawn(solution, positions, SEED)
    rows = []
    share = 0.0
    for engine in ENGINES:
        for ms in MILLISECONDS[: 1 if engine in TIMELESS else None]:
            found = measure(solution, engine, ms, chosen)
            percent = 100 * found / len(chosen)
            rows.append(
                [
                    engine,
                    "any" if engine in TIMELESS else str(ms),
                    f"{percent:.2f} %",
                ]
            )
            if engine == "alphabeta" and ms == MILLISECONDS[-1]:
                share = percent
    return Section(
        title="Engines against the truth of m1",
        method=(
            f"{positions:,} boards of {MAP}, drawn evenly by their numbers (seed {SEED}) from those in play that are not lost "
            "and have a move that gives something away. One thread."
        ),
        head=["engine", "ms a move", "moves that gave something away"],
        rows=rows,
        claims=[
            claim(
                f"{MAP}'s positions in which `alphabeta` gives something away at {MILLISECONDS[-1]} ms",
                f"fewer than {LEAST} %",
                f"{share:.2f} %",
            )
        ],
    )


def _solved(rules: Riskless) -> Solution:
    from arena.lab.solving.solver import Solver  # noqa: PLC0415 - an extra, and slow to load

    path = made_here() / file_name(rules.map)
    path.parent.mkdir(parents=True, exist_ok=True)
    Solver(Boards.of(rules.map), path.with_suffix(".part"), len(cores()), lambda _: None).solve(path)
    return Solution(rules, Table(path))
