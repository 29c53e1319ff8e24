"""The clock as a bot sees it at its turn: one immutable object, in seconds. Reads no clock itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of both players when a turn arrived. Every figure is in seconds.

    `bots.api.budget.plan` makes limits out of it; what reads only `mine` loses on time one day.
    """

    mine: float
    """What the bot has left on its clock; under a time for each move, the time for this one."""
    theirs: float = 0.0
    """What the bot's opponent has left on its clock."""
    increment: float = 0.0
    """What is added to `mine` after each move; 0 under a time for each move."""
    per_move: bool = False
    """True when `mine` is for this move alone, and what is not used is lost."""
    margin: float = 0.0
    """Network grace: the flag falls this much later than the clock says. It is not time to think."""
    arrived: float = 0.0
    """When the turn arrived, as `time.monotonic()` tells it. The clock has run a little longer."""
    lag: float = 0.0
    """The worst difference of late between what the server counted and what the bot took."""

    def elapsed(self, now: float) -> float:
        """Seconds since the turn arrived; `now` is `time.monotonic()`."""
        return max(0.0, now - self.arrived)

    def left(self, now: float) -> float:
        """Seconds on the bot's clock at `now`, never below 0; the margin is not counted."""
        return max(0.0, self.mine - self.elapsed(now))
