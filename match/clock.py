"""The two clocks of a match as one immutable value. Times are integer nanoseconds; nothing reads a clock.

The rules, which PROTOCOL.md repeats for bot authors:

- A player's time runs from when the turn left the server until the move's frame arrived at it.
- A move is in time while `spent <= left + margin`. The margin is grace for the network: it saves from a
  flag, but is not time to think with. Whoever dips into it has 0 left, never less.
- After a move in time the increment is added. Under a time for each move, `left` is that time anew.
- The two players may have different time controls: time odds.
- Where the whole match is bounded, a player never has more left than the bound without all that it has spent.
"""

from __future__ import annotations

from typing import Self

from msgspec import Struct

from arena.games.core import MAXIE, MINNIE, Player
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks

MS = 1_000_000
"""Nanoseconds in a millisecond."""


class Clock(Struct, frozen=True, gc=False):
    """What both players have left under a time control with a margin, all in ns."""

    control: TimeControl
    """Maxie's, and Minnie's as well where `minnie_control` is None."""
    margin: int
    maxie: int
    minnie: int
    total: int = 0
    """How long each player may think in the whole match; 0 where nothing bounds it."""
    maxie_spent: int = 0
    minnie_spent: int = 0
    """What both have spent so far; counted only where the whole match is bounded."""
    minnie_control: TimeControl | None = None

    @classmethod
    def start(
        cls,
        control: TimeControl,
        margin_ms: int,
        total_ms: int = 0,
        minnie_control: TimeControl | None = None,
    ) -> Self:
        """The clocks before ply 0.

        total_ms        bounds what each player spends in the whole match; 0: nothing does
        minnie_control  Minnie's time where it is not Maxie's
        """
        total = total_ms * MS
        maxie, minnie = (
            min(each.base_ms * MS, total) if total else each.base_ms * MS
            for each in (control, minnie_control or control)
        )
        return cls(control, margin_ms * MS, maxie, minnie, total, minnie_control=minnie_control)

    def control_of(self, player: Player) -> TimeControl:
        """The time control that the player is under."""
        return self.control if player is MAXIE or self.minnie_control is None else self.minnie_control

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
        if self.total:
            return self._spend_of_total(player, spent)
        control = self.control_of(player)
        if control.per_move:
            return self
        left = max(0, held - spent) + control.increment_ms * MS
        maxie, minnie = (left, self.minnie) if player is MAXIE else (self.maxie, left)
        return Clock(self.control, self.margin, maxie, minnie, minnie_control=self.minnie_control)

    def _spend_of_total(self, player: Player, spent: int) -> Clock:
        """The clocks after a move that took `spent`, in a match that is bounded as a whole."""
        by_maxie = player is MAXIE
        maxie_spent = self.maxie_spent + (spent if by_maxie else 0)
        minnie_spent = self.minnie_spent + (0 if by_maxie else spent)
        control = self.control_of(player)
        if control.per_move:
            left = control.base_ms * MS
        else:
            left = max(0, self.left(player) - spent) + control.increment_ms * MS
        left = min(left, max(0, self.total - (maxie_spent if by_maxie else minnie_spent)))
        maxie, minnie = (left, self.minnie) if by_maxie else (self.maxie, left)
        return Clock(
            self.control,
            self.margin,
            maxie,
            minnie,
            self.total,
            maxie_spent,
            minnie_spent,
            self.minnie_control,
        )

    def seen(self, mover: Player | None = None, running: int = 0) -> Clocks:
        """Both clocks in ms, rounded down, when `mover` has been at it for `running` ns."""
        maxie = self.maxie - running if mover is MAXIE else self.maxie
        minnie = self.minnie - running if mover is MINNIE else self.minnie
        return Clocks(max(0, maxie // MS), max(0, minnie // MS))
