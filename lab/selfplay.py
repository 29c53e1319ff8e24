"""Matches of searchers in one process, for learning weights and for comparing settings.

A pair is two matches from the same opening with the seats swapped. An opening is a few random plies
from the start; both searchers of a pair begin with empty tables.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.bots.compiled.searcher import NO_LIMIT, Searcher
from arena.bots.search.deepening import Report
from arena.games.core import Game, Player
from arena.games.riskless import Armies, Riskless
from arena.match.recurrence import Recurrence
from arena.protocol.adjudication import DEFAULT_RULES, REPETITION

ATTEMPTS = 20
"""Random openings that are tried before a shorter one is taken."""
CUT = "cut"
"""The reason of a match that was given up because it took too long."""


@dataclass(frozen=True)
class Budget:
    """What a move may cost: seconds, or nodes, or a depth."""

    seconds: float | None = None
    nodes: int | None = None
    depth: int = 100
    clock: Callable[[], float] = time.perf_counter
    """What the seconds are counted by. `time.process_time` counts those that the processor works for this process."""

    def spend(self, searcher: Searcher[Any, Any], position: Any) -> Report[Any]:
        """Search within the budget, and return the last report."""
        end = math.inf if self.seconds is None else self.clock() + self.seconds
        reports = searcher.deepen(
            position,
            stop=None if self.seconds is None else lambda: self.clock() >= end,
            max_depth=self.depth,
            max_nodes=NO_LIMIT if self.nodes is None else self.nodes,
        )
        return list(reports)[-1]


def scattered(game: Riskless, rng: random.Random) -> Armies:
    """A position in play with armies anywhere: who is ahead decides its match more often than not."""
    cap = game.map.territory_cap
    while True:
        empty = rng.uniform(0.1, 0.6)
        armies = tuple(
            0 if rng.random() < empty else rng.choice((1, -1)) * rng.randint(1, cap) for _ in game.map.start
        )
        position = Armies(armies, rng.choice(list(Player)), 0)
        if game.outcome(position) is None:
            return position


@dataclass(frozen=True)
class Played:
    """A match: who won and why it ended, and each position with what was thought of it."""

    winner: Player | None
    reason: str
    """Why it ended, as the game names it, or REPETITION or CUT."""
    positions: tuple[Any, ...]
    reports: tuple[Report[Any], ...]


def opening(game: Game[Any, Any], rng: random.Random, plies: int) -> Any:
    """A position in play after so many random plies; after half as many, and so on, where hardly any match lasts so long."""
    while True:
        for _ in range(ATTEMPTS):
            position = game.start()
            for _ in range(plies):
                moves = game.moves(position)
                if not moves:
                    break
                position = game.successor(position, rng.choice(moves))
            if game.outcome(position) is None:
                return position
        plies //= 2


def play(
    game: Game[Any, Any],
    start: Any,
    seats: dict[Player, Searcher[Any, Any]],
    budget: Budget | Mapping[Player, Budget],
    longest: int = 1 << 30,
) -> Played:
    """One match from `start`; a draw after the `longest` number of plies, or by the default rule of repetition.

    budget   of each player's moves, or of both players'
    """
    position = start
    seen = Recurrence(game)
    budgets = dict.fromkeys(Player, budget) if isinstance(budget, Budget) else budget
    positions: list[Any] = []
    reports: list[Report[Any]] = []
    for searcher in seats.values():
        searcher.clear()
    while (outcome := game.outcome(position)) is None and len(positions) < longest:
        if seen.add(position) == DEFAULT_RULES.repetition:
            return Played(None, REPETITION, tuple(positions), tuple(reports))
        player = game.player(position)
        report = budgets[player].spend(seats[player], position)
        positions.append(position)
        reports.append(report)
        position = game.successor(position, report.move)
    if outcome is None:
        return Played(None, CUT, tuple(positions), tuple(reports))
    return Played(outcome.winner, outcome.word, tuple(positions), tuple(reports))


def pair(
    game: Game[Any, Any],
    start: Any,
    one: Searcher[Any, Any],
    other: Searcher[Any, Any],
    budget: Budget,
    others: Budget | None = None,
) -> tuple[float, float]:
    """The points of `one` as Maxie and as Minnie.

    others   what the other's moves may cost, where that is not `budget` too
    """
    others = others or budget
    first, second = (
        play(game, start, {seat: one, seat.opponent: other}, {seat: budget, seat.opponent: others}).winner
        for seat in (Player.MAXIE, Player.MINNIE)
    )
    return points_of(first, Player.MAXIE), points_of(second, Player.MINNIE)


def points_of(winner: Player | None, seat: Player) -> float:
    """Points of the player in a seat: 1, ½ or 0."""
    return 0.5 if winner is None else float(winner is seat)
