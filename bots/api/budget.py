"""How long to think about a move: from the clock to a soft and a hard limit.

Pure arithmetic on a `Clock`. The rules, in seconds:

- Something is always kept back (`reserve`) for what passes between the bot's decision and the server's
  reading of it. The margin covers that in part; what the server counted on earlier moves corrects it.
- Under a time for each move both limits are all that is left after the reserve: unused time is lost.
- Else the time is shared out evenly over the moves still expected, each with its increment. The soft
  limit is half a share, because a depth begun before it may end after it; the hard limit is two and
  a half shares, but never more than half of the clock, so that one hard move cannot ruin the match.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena.bots.api.clock import Clock

OWN_OVERHEAD = 0.010
"""Seconds that are always kept back, because the engine notices its stop late and the move is encoded and sent."""
UNCOVERED = 0.050
"""Seconds that are kept back where no margin covers them: two busy cores hold up a process so long now and then."""
EXPECTED_MOVES = 45
"""How many moves of its own a player expects to make in a match: on the middle-sized maps about 40, so an even share leaves a little over."""
FEWEST_MOVES = 15
"""How many moves of its own a player always still expects: a long match then shrinks its shares and never runs dry."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Two limits in seconds from the turn's arrival, 0 <= soft <= hard."""

    soft: float
    """After this, begin nothing that may take long, such as the next depth."""
    hard: float
    """By this the move must be made; 0 means at once."""

    def until(self, *, changed: bool) -> float:
        """When to begin nothing more: at the soft limit, later where the last depth changed the best move.

        Half of what lies between the limits is then added: an opinion that is still changing is worth
        one more look, and the rest is left for the look to end in.
        """
        return (self.soft + self.hard) / 2 if changed else self.soft


def reserve(clock: Clock, stall: float = 0.0) -> float:
    """Seconds to keep back from this move; at most half of the clock.

    Together with the margin it covers twice the worst lag of late, and three stalls: the machine may
    hold up the turn on its way in, the engine at its stop, and the move on its way out.
    """
    wanted = max(
        OWN_OVERHEAD,
        UNCOVERED - clock.margin / 2,
        2 * clock.lag - clock.margin,
        3 * stall - clock.margin,
    )
    return min(wanted, max(clock.mine, 0.0) / 2)


def moves_to_go(ply: int, last_ply: int | None = None) -> int:
    """How many moves the player to decide at `ply` may expect to make, this one counted; at least 1.

    `last_ply` is the ply at which the match ends at the latest, where the game has such a limit.
    """
    expected = max(FEWEST_MOVES, EXPECTED_MOVES - ply // 2)
    if last_ply is not None:
        expected = min(expected, (last_ply - ply + 1) // 2)
    return max(1, expected)


def plan(clock: Clock, ply: int = 0, last_ply: int | None = None, stall: float = 0.0) -> Budget:
    """The limits for the move at `ply`. Never negative, never past the clock less the reserve.

    `stall` is how long the machine has kept the engine waiting at worst, in seconds: a busy machine
    does, and an engine that looks at the clock all the time can tell.
    """
    usable = max(clock.mine, 0.0) - reserve(clock, stall)
    if clock.per_move:
        return Budget(usable, usable)
    moves = moves_to_go(ply, last_ply)
    if moves == 1:
        return Budget(usable, usable)
    share = (usable + clock.increment * (moves - 1)) / moves
    hard = min(2.5 * share, usable / 2)
    return Budget(min(share / 2, hard), hard)
