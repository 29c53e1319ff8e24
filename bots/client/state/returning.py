"""When a client comes back to a server, and after what pause: PROTOCOL.md, section 10. Pure."""

from __future__ import annotations

from arena.protocol.codes import Code

FIRST_PAUSE = 0.1
"""Seconds before the first attempt after a connection was lost; each further pause is twice as long."""
STOP_PAUSE = 1.0
"""Seconds before the first attempt after the server said that it stops: it needs that long to start again."""
LONGEST_PAUSE = 60.0
GRACE_PART = 3
"""While matches are in play no pause is longer than this part of the grace: a server that is back waits for the grace."""

_TEMPORARY = frozenset({Code.SHUTTING_DOWN, Code.SERVER_FULL, Code.TOO_SLOW})
_TEMPORARY_FOR_WHO_WAS_IN = _TEMPORARY | {Code.NAME_TAKEN, Code.RATE_LIMITED}
"""A connection that is broken seems open for some seconds more, and holds the name; a flood may be a neighbour's."""


def comes_back(code: Code, *, was_in: bool) -> bool:
    """Whether a client tries again after this fatal error; `was_in`: whether the server has ever let it in."""
    return code in (_TEMPORARY_FOR_WHO_WAS_IN if was_in else _TEMPORARY)


def pause(tries: int, *, stopped: bool, playing: bool, grace: float) -> float:
    """The longest pause before the next attempt after so many in a row, in seconds; a client takes ½ to 1 of it.

    stopped   whether the server said that it stops
    playing   whether the client has matches that are not over
    grace     how long the server waits for it once it is back, in seconds
    """
    longest = min(LONGEST_PAUSE, max(FIRST_PAUSE, grace / GRACE_PART)) if playing else LONGEST_PAUSE
    # The exponent is bounded, for whoever tries for months.
    return min(longest, (STOP_PAUSE if stopped else FIRST_PAUSE) * 2.0 ** min(tries, 16))
