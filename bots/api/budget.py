"""Time limits of a move: a soft and a hard limit, computed from the clock.

The computation is pure arithmetic on a `Clock`, in seconds. The rules are:

- A reserve of time (`compute_clock_reserve_seconds`) is left unused for the delay from the bot's decision until the server
  reads the move. A longer network grace (`Clock.margin`: how late the server still accepts a move) makes the reserve shorter,
  and delays of recent moves (`Clock.lag`) make it longer.
- With a time per move, both limits are all the time after the reserve, because unused time is lost.
- Otherwise the time, with the increments of later moves, is divided evenly among the expected remaining moves. The soft limit
  is 0.45 of a move's share, because a depth begun before the soft limit ends after it. The hard limit is 2.5 shares, but never
  more than half of the time left, so that one difficult move cannot ruin the match.
- A search ends at the soft limit if its best move stays the same. If the best move changes, the search continues past the soft
  limit: the more often and the more recently it changed, the longer (`DeepeningStopRule`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

from arena.bots.api.bot import Clock

M = TypeVar("M")

MIN_CLOCK_RESERVE_SECONDS = 0.005
"""Minimum time in seconds that a move leaves on the clock, for the end of the search, and encoding and sending the move."""
CLOCK_RESERVE_WITHOUT_NETWORK_GRACE_SECONDS = 0.050
"""Time in seconds that a move leaves on the clock if the server accepts no late moves (the network grace is 0).

On a machine with two busy CPU cores, a process is sometimes delayed this long.
"""
SOFT_LIMIT_SHARE_OF_MOVE_TIME = 0.45
"""Soft time limit of a move, as a fraction of the move's equal share: the time left divided by the expected remaining moves."""
MAX_SOFT_LIMIT_EXTENSION_SHARE = 0.8
"""Largest fraction of the time between the soft and the hard limit that a search may use, if its best move keeps changing."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Soft and hard time limit of a move, in seconds from the arrival of the request for it: 0 <= soft <= hard."""

    soft: float
    """Seconds from the arrival of the request for the move, after which no new search depth should be started."""
    hard: float
    """Seconds from the arrival of the request for the move, by which the move must be made. 0 means immediately."""


class DeepeningStopRule(Generic[M]):
    """Rule that decides after each depth of a search whether to start the next one."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._best: M | None = None
        """Best move of the last completed depth; None before the first."""
        self._instability = 0.0
        """Measure of recent changes of the best move: 1 after a depth that changed it, halved by each depth that does not."""

    def should_stop(self, best_move: M, elapsed_seconds: float) -> bool:
        """Return True if no further depth should be started.

        `best_move` is the best move of the depth just completed, `elapsed_seconds` the seconds since the request for the
        move arrived. A change of the best move postpones the stop, and this effect halves with each further depth.
        """
        has_changed = self._best is not None and best_move != self._best
        self._best = best_move
        self._instability = min(1.0, self._instability / 2 + has_changed)
        soft, hard = self._budget.soft, self._budget.hard
        return elapsed_seconds >= soft + MAX_SOFT_LIMIT_EXTENSION_SHARE * self._instability * (hard - soft)


def compute_clock_reserve_seconds(clock: Clock, longest_stall_seconds: float = 0.0) -> float:
    """Return the reserve for delays: the seconds that this move must leave on the clock, at most half of the time left.

    The reserve and the network grace (`Clock.margin`) together are at least twice the largest recent lag (`Clock.lag`), and at
    least three times the longest stall: one stall may delay the arrival of the request for the move, one the end of the search,
    and one the sending of the move.

    longest_stall_seconds  longest time so far, in seconds, for which a busy machine suspended the engine
    """
    reserve_seconds = max(
        MIN_CLOCK_RESERVE_SECONDS,
        CLOCK_RESERVE_WITHOUT_NETWORK_GRACE_SECONDS - clock.margin / 2,
        2 * clock.lag - clock.margin,
        3 * longest_stall_seconds - clock.margin,
    )
    return min(reserve_seconds, max(clock.mine, 0.0) / 2)


def plan(clock: Clock, plies: float = 90.0, longest_stall: float = 0.0) -> Budget:
    """Return the time limits for a move: from 0 to the time left minus a reserve for delays (`compute_clock_reserve_seconds`).

    plies          expected plies to the end of the match, including this one: `game.expected_plies(position)`
    longest_stall  longest suspension of the engine by a busy machine, in seconds; an engine that reads the clock
                   constantly can measure it
    """
    usable_seconds = max(clock.mine, 0.0) - compute_clock_reserve_seconds(clock, longest_stall)
    move_count = max(1, math.ceil(plies / 2))
    if clock.per_move or move_count == 1:
        return Budget(usable_seconds, usable_seconds)
    share_seconds = (usable_seconds + clock.increment * (move_count - 1)) / move_count
    hard_seconds = min(2.5 * share_seconds, usable_seconds / 2)
    return Budget(min(SOFT_LIMIT_SHARE_OF_MOVE_TIME * share_seconds, hard_seconds), hard_seconds)
