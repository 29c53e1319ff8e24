"""The two clocks of a match as one immutable value. Times are integer nanoseconds; nothing reads a clock.

The rules, which PROTOCOL.md repeats for bot authors:

- A player's time runs from when the turn left the server until the move's frame arrived at it.
- A move is in time while `spent <= left + margin`. The margin is grace for the network: it saves from a
  flag, but is not time to think with. Whoever dips into it has 0 left, never less.
- After a move in time the increment is added. Under a time for each move, `left` is that time anew.
"""

from __future__ import annotations

from typing import Self

from msgspec import Struct

from games.core import MAXIE, MINNIE, Player
from protocol.messages import Clocks
from protocol.timecontrol import TimeControl

MS = 1_000_000
"""Nanoseconds in a millisecond."""


class Clock(Struct, frozen=True, gc=False):
    """What both players have left under a time control with a margin, all in ns."""

    control: TimeControl
    margin: int
    maxie: int
    minnie: int

    @classmethod
    def start(cls, control: TimeControl, margin_ms: int) -> Self:
        """The clocks before ply 0."""
        base = control.base_ms * MS
        return cls(control, margin_ms * MS, base, base)

    def left(self, player: Player) -> int:
        """What the player has left, at the start of a turn."""
        return self.maxie if player is MAXIE else self.minnie

    def allowed(self, player: Player) -> int:
        """How much a move may take and still be in time: what is left, and the margin."""
        return (self.maxie if player is MAXIE else self.minnie) + self.margin

    def spend(self, player: Player, spent: int) -> Clock:
        """The clocks after a move in time that took `spent`. Raises ValueError for one that was not."""
        held = self.maxie if player is MAXIE else self.minnie
        if not 0 <= spent <= held + self.margin:
            raise ValueError(f"{spent} ns is outside 0 to {held + self.margin} ns")
        if self.control.per_move:
            return self
        left = max(0, held - spent) + self.control.increment_ms * MS
        maxie, minnie = (left, self.minnie) if player is MAXIE else (self.maxie, left)
        return Clock(self.control, self.margin, maxie, minnie)

    def seen(self, mover: Player | None = None, running: int = 0) -> Clocks:
        """Both clocks in ms, rounded down, when `mover` has been at it for `running` ns."""
        maxie = self.maxie - running if mover is MAXIE else self.maxie
        minnie = self.minnie - running if mover is MINNIE else self.minnie
        return Clocks(max(0, maxie // MS), max(0, minnie // MS))
