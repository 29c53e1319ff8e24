"""Threads for the bots of an event: how many each may search with, and how many matches go at once on the cores there are.

A match weighs as many threads as the bot of its two that asks for more: only one of them thinks at a time. So
many matches are in play that together they weigh no more than there are cores, but always one. Whoever says how many
matches are to be played at once has the cores divided among them instead. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.ladder.plan import BotPlan
from arena.match.terms import ThreadLimits


@dataclass(frozen=True)
class Threads:
    """The threads of one event."""

    bots: Sequence[BotPlan]
    cores: int
    """How many cores the bots think on."""
    by_hand: int = 0
    """How many matches somebody wants to be played at once; 0: as many as the cores allow."""
    matches: int | None = None
    """How many matches there are; None where that is not known."""
    here: bool = True
    """Whether the bots run on these cores; else they know best what their own machines have."""

    @property
    def capacity(self) -> int:
        """What the matches in play may weigh together."""
        return self.by_hand or self.cores

    @property
    def heaviest(self) -> int:
        """The most that a match of these bots weighs, as far as the plan tells."""
        return max((self._asks(bot) for bot in self.bots), default=1)

    @property
    def concurrency(self) -> int:
        """How many matches are in play at once at the most, as far as the plan tells."""
        lightest = sorted(map(self._asks, self.bots))[:2]
        allowed = self.capacity if self.by_hand else max(1, self.capacity // max(lightest, default=1))
        return allowed if self.matches is None else max(1, min(allowed, self.matches))

    @property
    def load(self) -> int:
        """The most that the matches in play weigh together."""
        if self.matches is None:
            return max(self.capacity, self._most)
        return max(self._most, min(self.capacity, self.matches * self._most))

    def twins(self, bot: BotPlan) -> int:
        """How many processes of a bot let as many matches be played at once as may be."""
        even = -(-2 * self.concurrency // max(1, len(self.bots)))
        least = min(
            (max(self._asks(bot), self._asks(other)) for other in self.bots if other is not bot), default=1
        )
        return even if self.by_hand else max(1, min(even, self.capacity // least))

    def weight(self, one: str, other: str, heard: Callable[[str], int]) -> int:
        """What a match of two bots weighs.

        heard  how many threads a bot itself asks for, by its name; 0 where it does not say
        """
        return 1 if self.by_hand else max(self._asked(one, heard), self._asked(other, heard))

    def limits(self, maxie: str, minnie: str, heard: Callable[[str], int]) -> ThreadLimits:
        """How many threads the bots of a match may search with; `heard` is as for `weight`."""
        if not self.here:
            return ThreadLimits()
        if self.by_hand:
            share = max(1, self.cores // self.concurrency)
        else:
            # Where no bot says how many it uses, what is left over is for whoever can use it.
            spare = max(1, self.cores // self.concurrency) if self.heaviest == 1 else 1
            share = max(spare, self.weight(maxie, minnie, heard))
        return ThreadLimits(*(self._told(name) or share for name in (maxie, minnie)))

    @property
    def _most(self) -> int:
        return 1 if self.by_hand else self.heaviest

    def _asks(self, bot: BotPlan) -> int:
        return bot.asks(self.cores) or 1

    def _asked(self, name: str, heard: Callable[[str], int]) -> int:
        plan = next((bot for bot in self.bots if bot.name == name), None)
        return (plan.asks(self.cores) if plan is not None else 0) or heard(name) or 1

    def _told(self, name: str) -> int:
        return next((bot.threads for bot in self.bots if bot.name == name), 0)
