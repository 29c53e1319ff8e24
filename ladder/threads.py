"""Threads for the bots of an event: search threads of each bot, and matches in parallel on the available cores.

A match needs as many threads as the more demanding of its two bots, since only one of them thinks at a time. Matches are
started as long as together they need no more threads than there are cores, and at least one is. If the number of
parallel matches is set by hand, the cores are divided among them instead. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.ladder.plan import BotPlan
from arena.match.terms import ThreadLimits


@dataclass(frozen=True)
class Threads:
    """Division of the cores among the bots and the parallel matches of one event."""

    bots: Sequence[BotPlan]
    cores: int
    """Number of cores for the bots."""
    by_hand: int = 0
    """Requested number of matches in parallel; 0 for as many as the cores allow."""
    matches: int | None = None
    """Number of matches; None if unknown."""
    here: bool = True
    """True if the bots run on these cores; otherwise their own machines decide."""

    @property
    def capacity(self) -> int:
        """Number of threads that may be assigned to all matches in play together."""
        return self.by_hand or self.cores

    @property
    def max_per_match(self) -> int:
        """Maximum number of threads of a match of these bots, as far as known from the plan."""
        return max((self._required(bot) for bot in self.bots), default=1)

    @property
    def concurrency(self) -> int:
        """Return the maximum number of matches in parallel, as far as known from the plan."""
        lightest = sorted(map(self._required, self.bots))[:2]
        allowed = self.capacity if self.by_hand else max(1, self.capacity // max(lightest, default=1))
        return allowed if self.matches is None else max(1, min(allowed, self.matches))

    @property
    def max_load(self) -> int:
        """Highest number of threads that all matches in play can use together."""
        if self.matches is None:
            return max(self.capacity, self._max_threads)
        return max(self._max_threads, min(self.capacity, self.matches * self._max_threads))

    def twins(self, bot: BotPlan) -> int:
        """Return the number of processes of a bot that allows the maximum of parallel matches."""
        even = -(-2 * self.concurrency // max(1, len(self.bots)))
        least = min(
            (max(self._required(bot), self._required(other)) for other in self.bots if other is not bot),
            default=1,
        )
        return even if self.by_hand else max(1, min(even, self.capacity // least))

    def weight(self, one: str, other: str, announced: Callable[[str], int]) -> int:
        """Return the number of threads that a match of two bots needs.

        announced: returns the number of threads that a bot announced, by its name; 0 if none
        """
        if self.by_hand:
            return 1
        return max(self._announced_threads(one, announced), self._announced_threads(other, announced))

    def limits(self, maxie: str, minnie: str, announced: Callable[[str], int]) -> ThreadLimits:
        """Return the number of search threads of each bot of a match; `announced` is as for `weight`."""
        if not self.here:
            return ThreadLimits()
        if self.by_hand:
            share = max(1, self.cores // self.concurrency)
        else:
            # If no bot announces its number of threads, spare cores go to bots that can use them.
            spare = max(1, self.cores // self.concurrency) if self.max_per_match == 1 else 1
            share = max(spare, self.weight(maxie, minnie, announced))
        return ThreadLimits(*(self._planned_threads(name) or share for name in (maxie, minnie)))

    @property
    def _max_threads(self) -> int:
        return 1 if self.by_hand else self.max_per_match

    def _required(self, bot: BotPlan) -> int:
        return bot.required_threads(self.cores) or 1

    def _announced_threads(self, name: str, announced: Callable[[str], int]) -> int:
        plan = next((bot for bot in self.bots if bot.name == name), None)
        return (plan.required_threads(self.cores) if plan is not None else 0) or announced(name) or 1

    def _planned_threads(self, name: str) -> int:
        return next((bot.threads for bot in self.bots if bot.name == name), 0)
