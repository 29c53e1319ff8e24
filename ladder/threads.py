"""Allocation of CPU cores to the bots of a ladder: search threads of each bot, and number of parallel matches. Pure: no I/O.

Only one bot of a match thinks at a time, so a match needs the larger of its bots' numbers of threads. Matches run in
parallel until their threads use all cores. If the user sets the number of parallel matches, the cores are divided
equally among them instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.ladder.plan import BotPlan
from arena.match.terms import SearchThreadLimits


@dataclass(frozen=True)
class ThreadAllocation:
    """Allocation of the CPU cores to the bots and the parallel matches of one ladder."""

    bots: Sequence[BotPlan]
    core_count: int
    """Number of CPU cores on which the bots search."""
    fixed_concurrency: int = 0
    """Number of parallel matches set by the user; 0 if it follows from the number of CPU cores."""
    total_matches: int | None = None
    """Total number of matches; None if unknown."""
    are_bots_local: bool = True
    """True if the bots run on this machine's CPU cores. If False, the bots run on other machines and choose their threads."""
    get_reported_thread_count: Callable[[str], int] = lambda _bot: 0
    """Function that returns the number of threads that the bot with a given name reported; 0 if it reported none."""

    @property
    def max_running_load(self) -> int:
        """Maximum sum of the loads of the parallel matches (`compute_match_load`), in threads: the number of cores.

        If `fixed_concurrency` is set, each match has the load 1, and the maximum is `fixed_concurrency`.
        """
        return self.fixed_concurrency or self.core_count

    @property
    def max_threads_per_match(self) -> int:
        """Largest number of threads that a match of the plan needs. A bot whose number of threads is unknown counts as 1."""
        return max((self._count_planned_threads(bot) for bot in self.bots), default=1)

    @property
    def concurrency(self) -> int:
        """Maximum number of parallel matches: as set by the user, or else computed from the threads in the plan."""
        smallest_threads = sorted(map(self._count_planned_threads, self.bots))[:2]
        max_concurrency = (
            self.max_running_load
            if self.fixed_concurrency
            else max(1, self.max_running_load // max(smallest_threads, default=1))
        )
        return (
            max_concurrency
            if self.total_matches is None
            else max(1, min(max_concurrency, self.total_matches))
        )

    @property
    def max_running_threads(self) -> int:
        """Maximum number of search threads of all running matches together."""
        if self.total_matches is None:
            return max(self.max_running_load, self._max_match_load)
        return max(
            self._max_match_load,
            min(self.max_running_load, self.total_matches * self._max_match_load),
        )

    def count_processes(self, bot: BotPlan) -> int:
        """Return the number of processes that a bot needs for the maximum number of parallel matches."""
        even_share = -(-2 * self.concurrency // max(1, len(self.bots)))
        min_processes = min(
            (
                max(self._count_planned_threads(bot), self._count_planned_threads(other))
                for other in self.bots
                if other is not bot
            ),
            default=1,
        )
        return (
            even_share
            if self.fixed_concurrency
            else max(1, min(even_share, self.max_running_load // min_processes))
        )

    def compute_match_load(self, maxie: str, minnie: str) -> int:
        """Return the share of `max_running_load` that a match uses: its number of threads, or 1 if `fixed_concurrency` is
        set.
        """
        return (
            1
            if self.fixed_concurrency
            else max(
                self._count_planned_or_reported_threads(maxie),
                self._count_planned_or_reported_threads(minnie),
            )
        )

    def make_thread_limits(self, maxie: str, minnie: str) -> SearchThreadLimits:
        """Return the maximum number of search threads of each bot in a match."""
        if not self.are_bots_local:
            return SearchThreadLimits()
        if self.fixed_concurrency:
            share = max(1, self.core_count // self.concurrency)
        else:
            # If no bot reports its number of threads, spare CPU cores go to bots that can use them.
            spare = max(1, self.core_count // self.concurrency) if self.max_threads_per_match == 1 else 1
            share = max(spare, self.compute_match_load(maxie, minnie))
        return SearchThreadLimits(*(self._get_configured_threads(name) or share for name in (maxie, minnie)))

    @property
    def _max_match_load(self) -> int:
        return 1 if self.fixed_concurrency else self.max_threads_per_match

    def _count_planned_threads(self, bot: BotPlan) -> int:
        return bot.count_required_threads(self.core_count) or 1

    def _count_planned_or_reported_threads(self, bot_name: str) -> int:
        """Return the number of threads of a bot: the number in its plan, or else the number that the bot reported."""
        planned = next(
            (bot.count_required_threads(self.core_count) for bot in self.bots if bot.name == bot_name), 0
        )
        return planned or self.get_reported_thread_count(bot_name) or 1

    def _get_configured_threads(self, bot_name: str) -> int:
        return next((bot.thread_count for bot in self.bots if bot.name == bot_name), 0)
