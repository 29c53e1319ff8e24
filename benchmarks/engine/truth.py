"""How far every engine is from the truth of a solved map.

Positions are boards drawn evenly by their numbers, kept where they are in play, are no loss, and have a move that gives
something away. An engine gets one after the other, as at its turns in a match of so many ms a move. Some of those that are won
are played on against `perfect`, until the engine has won, gave the win away, or comes to a position for the third time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from threading import Event
from typing import Any

from arena.bots.api.bot import Bot, ask, begin
from arena.bots.api.clock import Clock
from arena.bots.api.match import Ending, Match
from arena.bots.engines.perfect import PerfectBot
from arena.bots.engines.registry import make_engine
from arena.cores import cores
from arena.games.core import MAXIE, MINNIE
from arena.games.riskless import Armies, Riskless
from arena.protocol.timecontrol import TimeControl
from arena.solved.boards import Boards
from arena.solved.folders import file_name, made_here
from arena.solved.solution import Solution, solution_of
from arena.solved.table import Table
from arena.solved.truth import Truth, Value
from benchmarks.kit.measure import Section, game
from benchmarks.kit.results import claim

MAP = "m1"
ENGINES = ("random", "greedy", "minimax", "alphabeta", "alphabeta:exact=yes", "jamboree")
MILLISECONDS = (1, 10, 100)
POSITIONS = 2_000
WINS = 100
"""Won positions that are played on: the first that were drawn."""
SEED = 1
LEAST = 0.5
"""The most, in per cent, of the positions in which the compiled alphabeta may give something away at 100 ms."""
TIMELESS = ("random", "greedy")
"""Engines that take the same moves whatever time they have."""


@dataclass
class Played:
    """What one engine did with one time for each move."""

    given_away: list[tuple[Armies, Truth, Truth]] = field(default_factory=list)
    """Positions, with what they were worth and what the engine's move made of it."""
    positions: int = 0
    not_won: int = 0
    wins: int = 0


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


def measure(solution: Solution, engine: str, ms: int, positions: Sequence[Armies], wins: int) -> Played:
    """Have an engine choose in each position, and play the first won ones to their end."""
    played = Played()
    with seated(solution.game, engine, ms) as choose:
        for position in positions:
            before = solution.truth(position)
            after = solution.truth(solution.game.successor(position, choose(position))).before
            played.positions += 1
            if after.value is not before.value:
                played.given_away.append((position, before, after))
        won = [each for each in positions if solution.truth(each).value is Value.WIN]
        for position in won[:wins]:
            played.wins += 1
            played.not_won += not wins_on(solution, choose, position)
    return played


def wins_on(solution: Solution, choose: Any, position: Armies) -> bool:
    """Whether an engine wins a position against `perfect`."""
    rules = solution.game
    seen: Counter[tuple[int, ...]] = Counter()
    with seated(rules, "perfect", 1) as reply:
        while (outcome := rules.outcome(position)) is None:
            if position.player is MAXIE:
                seen[position.armies] += 1
                if seen[position.armies] == 3 or solution.winner(position) is not MAXIE:
                    return False
            position = rules.successor(position, (choose if position.player is MAXIE else reply)(position))
    return outcome.winner is MAXIE


@contextmanager
def seated(rules: Riskless, engine: str, ms: int) -> Iterator[Any]:
    """A bot at a match, as a function from positions to moves."""
    control = TimeControl(ms, per_move=True)
    bot: Bot = PerfectBot() if engine == "perfect" else make_engine(engine).make()
    begin(bot, Match(rules, MINNIE if engine == "perfect" else MAXIE, time_control=control))
    bot.prepare()

    def choose(position: Armies) -> Any:
        clock = Clock(mine=ms / 1000, per_move=True, arrived=time.monotonic())
        return ask(bot, position, clock, Event())

    try:
        yield choose
    finally:
        bot.ended(Ending(None, None, "the positions are all played", 0, rules.start()))
        bot.close()


def kinds_of(lost: Sequence[tuple[Armies, Truth, Truth]]) -> str:
    """What was given away, and how far the end of it was, as one line."""
    counts = Counter((before.value.value, after.value.value) for _, before, after in lost)
    told = [f"{number} × a {before} for a {after}" for (before, after), number in counts.most_common()]
    plies = [before.plies for _, before, _ in lost if before.plies is not None]
    if plies:
        told.append(f"the wins took {min(plies)} to {max(plies)} plies")
    return "; ".join(told) or "nothing"


def run(positions: int = POSITIONS, wins: int = WINS) -> Section:
    """All engines at all times."""
    rules = game(MAP)
    solution = solution_of(rules) or _solved(rules)
    chosen = drawn(solution, positions, SEED)
    rows, lists = [], []
    share = 0.0
    for engine in ENGINES:
        for ms in MILLISECONDS[: 1 if engine in TIMELESS else None]:
            found = measure(solution, engine, ms, chosen, wins)
            percent = 100 * len(found.given_away) / found.positions
            rows.append(
                [
                    engine,
                    "any" if engine in TIMELESS else str(ms),
                    f"{percent:.2f} %",
                    f"{100 * found.not_won / max(1, found.wins):.0f} %",
                    kinds_of(found.given_away),
                ]
            )
            if engine == "alphabeta" and ms == MILLISECONDS[-1]:
                share = percent
                lists = [_line(each) for each in found.given_away[:20]]
    note = (
        f"What `alphabeta` gave away at {MILLISECONDS[-1]} ms, the first 20: "
        + ("; ".join(lists) or "nothing")
        + "."
    )
    return Section(
        title="Engines against the truth of m1",
        method=(
            f"{positions:,} boards of {MAP}, drawn evenly by their numbers (seed {SEED}) from those in play that are not lost "
            f"and have a move that gives something away. The first {wins} won ones were played on against `perfect`; a win counts "
            "as not won when it was given away, or the engine came to a position for the third time. One thread."
        ),
        head=["engine", "ms a move", "moves that gave something away", "wins not won", "given away"],
        rows=rows,
        note=note,
        claims=[
            claim(
                f"{MAP}'s positions in which `alphabeta` gives something away at {MILLISECONDS[-1]} ms",
                f"fewer than {LEAST} %",
                f"{share:.2f} %",
            )
        ],
    )


def _line(each: tuple[Armies, Truth, Truth]) -> str:
    position, before, after = each
    return f"`{' '.join(f'{n:+d}' if n else '.' for n in position.armies)} maxie 0`: {before}, then {after}"


def _solved(rules: Riskless) -> Solution:
    from arena.lab.solving.solver import Solver  # noqa: PLC0415 - an extra, and slow to load

    path = made_here() / file_name(rules.map)
    path.parent.mkdir(parents=True, exist_ok=True)
    Solver(Boards.of(rules.map), path.with_suffix(".part"), len(cores()), lambda _: None).solve(path)
    return Solution(rules, Table(path))
