"""The two clocks of a match as one immutable value. Times are integer nanoseconds; nothing here reads the system's clock.

The rules, which PROTOCOL.md repeats for bot authors:

- A player's time runs from the moment the server sends the message `turn` until the move's frame arrives at the server.
- A move is in time if it took at most the time left plus the margin. The margin is grace for the network, not time to think.
  A move that uses part of the margin is still in time, and leaves 0 on the clock, never less.
- After a move in time the increment is added. With a time per move, the clock is reset to that time.
- The two players may have different time controls (time odds).
- If the total time of a match is limited, a player never has more left than the limit less the time already spent.
"""

from __future__ import annotations

from typing import Self

from msgspec import Struct

from arena.games.core import MAXIE, MINNIE, Player
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks

NS_PER_MS = 1_000_000


class MatchClock(Struct, frozen=True, gc=False):
    """Clocks of both players of a match, and their settings, as an immutable value."""

    maxie_time_control: TimeControl
    minnie_time_control: TimeControl
    network_margin_ns: int
    """Extra time allowed on each move for network delay, in ns."""
    maxie_time_left_ns: int
    """Time left to Maxie at the start of a turn, in ns, without `network_margin_ns`."""
    minnie_time_left_ns: int
    """Time left to Minnie at the start of a turn, in ns, without `network_margin_ns`."""
    max_match_time_ns: int = 0
    """Limit of each player's thinking time in the whole match, in ns; 0 for no limit."""
    maxie_time_spent_ns: int = 0
    """Time that Maxie has spent so far, in ns; counted only if `max_match_time_ns` limits it."""
    minnie_time_spent_ns: int = 0
    """Time that Minnie has spent so far, in ns; counted only if `max_match_time_ns` limits it."""

    @classmethod
    def make_initial(
        cls,
        maxie_time_control: TimeControl,
        minnie_time_control: TimeControl,
        network_margin_ms: int,
        max_match_time_ms: int = 0,
    ) -> Self:
        """Return the clock of a match that has not begun.

        network_margin_ms  extra time allowed on each move for network delay
        max_match_time_ms  limit of each player's time in the whole match; 0 for no limit
        """
        controls, total_ns = (maxie_time_control, minnie_time_control), max_match_time_ms * NS_PER_MS
        maxie_ns, minnie_ns = (
            min(control.base_ms * NS_PER_MS, total_ns) if total_ns else control.base_ms * NS_PER_MS
            for control in controls
        )
        return cls(*controls, network_margin_ms * NS_PER_MS, maxie_ns, minnie_ns, total_ns)

    def get_time_left_ns(self, player: Player) -> int:
        """Return the time left to a player at the start of a turn, in ns, without `network_margin_ns`."""
        return self.maxie_time_left_ns if player is MAXIE else self.minnie_time_left_ns

    def get_max_move_time_ns(self, player: Player) -> int:
        """Return the longest time that the next move of a player may take, in ns: the time left plus `network_margin_ns`."""
        return (
            self.maxie_time_left_ns if player is MAXIE else self.minnie_time_left_ns
        ) + self.network_margin_ns

    def deduct_move_time(self, player: Player, elapsed_ns: int) -> MatchClock:
        """Return the clock after a move of a player that took `elapsed_ns`.

        Raises ValueError if `elapsed_ns` is negative or more than `get_max_move_time_ns`.
        """
        time_left_ns = self.maxie_time_left_ns if player is MAXIE else self.minnie_time_left_ns
        if not 0 <= elapsed_ns <= time_left_ns + self.network_margin_ns:
            raise ValueError(
                f"the time spent on a move must be 0 to {time_left_ns + self.network_margin_ns} ns, not {elapsed_ns} ns"
            )
        is_maxie = player is MAXIE
        control = self.maxie_time_control if is_maxie else self.minnie_time_control
        if not control.per_move:
            unused_ns = time_left_ns - elapsed_ns if elapsed_ns < time_left_ns else 0
            remaining_ns = unused_ns + control.increment_ms * NS_PER_MS
        elif self.max_match_time_ns:
            remaining_ns = control.base_ms * NS_PER_MS
        else:
            return self
        spent_ns = self.maxie_time_spent_ns if is_maxie else self.minnie_time_spent_ns
        if self.max_match_time_ns:
            spent_ns += elapsed_ns
            remaining_ns = min(remaining_ns, max(0, self.max_match_time_ns - spent_ns))
        return MatchClock(
            self.maxie_time_control,
            self.minnie_time_control,
            self.network_margin_ns,
            remaining_ns if is_maxie else self.maxie_time_left_ns,
            self.minnie_time_left_ns if is_maxie else remaining_ns,
            self.max_match_time_ns,
            spent_ns if is_maxie else self.maxie_time_spent_ns,
            self.minnie_time_spent_ns if is_maxie else spent_ns,
        )

    def make_clocks_message(self, mover: Player | None = None, mover_elapsed_ns: int = 0) -> Clocks:
        """Return the time left on both clocks, in ms, rounded down and never below 0.

        mover             player whose clock runs; None if neither does
        mover_elapsed_ns  time that `mover` has already used in the current turn, in ns
        """
        if not mover_elapsed_ns:
            return Clocks(self.maxie_time_left_ns // NS_PER_MS, self.minnie_time_left_ns // NS_PER_MS)
        maxie_ns = self.maxie_time_left_ns - mover_elapsed_ns if mover is MAXIE else self.maxie_time_left_ns
        minnie_ns = (
            self.minnie_time_left_ns - mover_elapsed_ns if mover is MINNIE else self.minnie_time_left_ns
        )
        return Clocks(max(0, maxie_ns // NS_PER_MS), max(0, minnie_ns // NS_PER_MS))
