"""Pauses between the attempts of a client to reconnect (PROTOCOL.md, section 10). Pure."""

from __future__ import annotations

from arena.protocol.codes import Code

FIRST_PAUSE = 0.1
"""Pause before the first attempt to reconnect, in seconds. Each further pause is twice as long."""
STOP_PAUSE = 1.0
"""Pause before the first attempt after the server announced a shutdown, in seconds: a server needs time to restart."""
MAX_PAUSE = 60.0
GRACE_PART = 3
"""Divisor of the grace period, the time for which a restarted server waits for its clients.

While matches are in play, no pause is longer than the grace period divided by this.
"""

_TEMPORARY = frozenset({Code.SHUTTING_DOWN, Code.SERVER_FULL, Code.TOO_SLOW})
_TEMPORARY_AFTER_WELCOME = _TEMPORARY | {Code.NAME_TAKEN, Code.RATE_LIMITED}
"""Errors that are temporary for a client that was welcomed before.

A broken connection may keep the name for some seconds, and another client at the same address may have caused a rate
limit.
"""


def should_reconnect(code: Code, *, was_welcomed: bool) -> bool:
    """Return True if a client retries after this fatal error.

    was_welcomed: True if the server has welcomed the client before
    """
    return code in (_TEMPORARY_AFTER_WELCOME if was_welcomed else _TEMPORARY)


def max_reconnect_delay(tries: int, *, stopped: bool, playing: bool, grace: float) -> float:
    """Return the longest pause in seconds before the next attempt, after `tries` consecutive failures.

    A client waits between half of this time and all of it.

    stopped   True if the server announced that it stops
    playing   True if the client has unfinished matches
    grace     seconds for which a restarted server waits for the client
    """
    longest = min(MAX_PAUSE, max(FIRST_PAUSE, grace / GRACE_PART)) if playing else MAX_PAUSE
    # The exponent is limited, in case a client retries for months.
    return min(longest, (STOP_PAUSE if stopped else FIRST_PAUSE) * 2.0 ** min(tries, 16))
