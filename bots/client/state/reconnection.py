"""Pauses between the attempts of a client to reconnect (PROTOCOL.md, section 10). This module does no I/O."""

from __future__ import annotations

from arena.protocol.codes import ErrorCode

FIRST_RECONNECT_PAUSE_SECONDS = 0.1
"""Longest pause in seconds before the first attempt to reconnect. The pause doubles before each further attempt."""
FIRST_RECONNECT_PAUSE_AFTER_SHUTDOWN_SECONDS = 1.0
"""Longest pause, in seconds, before the first attempt to reconnect to a server that announced its shutdown.

The pause is longer than FIRST_RECONNECT_PAUSE_SECONDS, because the server needs time to restart. This pause doubles before each
further attempt, too.
"""
MAX_RECONNECT_PAUSE_SECONDS = 60.0
"""Longest pause of a client before an attempt to reconnect, in seconds."""
MIN_ATTEMPTS_PER_GRACE_PERIOD = 3
"""Minimum number of attempts to reconnect within the grace period, in which the server waits for a client to return.

While matches are in play, no pause is longer than the grace period divided by this number.
"""

_TEMPORARY_REFUSAL_CODES = frozenset({ErrorCode.SHUTTING_DOWN, ErrorCode.SERVER_FULL, ErrorCode.TOO_SLOW})
_TEMPORARY_REFUSAL_CODES_AFTER_WELCOME = _TEMPORARY_REFUSAL_CODES | {
    ErrorCode.NAME_TAKEN,
    ErrorCode.RATE_LIMITED,
}
"""Codes of errors that end a connection, but after which a client that was welcomed before should connect again.

The reason may soon be gone. NAME_TAKEN: the server may take some seconds to notice that the client's old connection is
broken. RATE_LIMITED: another client at the same address may be the cause.
"""


def should_reconnect(refusal_code: ErrorCode, *, was_welcomed: bool) -> bool:
    """Return True if a client should connect again after the server has ended the connection with the error `refusal_code`.

    was_welcomed  True if the server has welcomed the client on this connection or an earlier one
    """
    return refusal_code in (
        _TEMPORARY_REFUSAL_CODES_AFTER_WELCOME if was_welcomed else _TEMPORARY_REFUSAL_CODES
    )


def compute_max_reconnect_pause_seconds(
    attempt_count: int, *, is_server_stopping: bool, is_playing: bool, reconnect_grace_seconds: float
) -> float:
    """Return the longest pause in seconds before the next attempt to connect, after `attempt_count` consecutive failures.

    The client pauses for a random time between half of this maximum and all of it.

    is_server_stopping       True if the server announced its shutdown
    is_playing               True if the client has unfinished matches
    reconnect_grace_seconds  seconds that the server waits for a disconnected client to return
    """
    max_pause = (
        min(
            MAX_RECONNECT_PAUSE_SECONDS,
            max(FIRST_RECONNECT_PAUSE_SECONDS, reconnect_grace_seconds / MIN_ATTEMPTS_PER_GRACE_PERIOD),
        )
        if is_playing
        else MAX_RECONNECT_PAUSE_SECONDS
    )
    # The exponent is limited, in case a client retries for months.
    return min(
        max_pause,
        (
            FIRST_RECONNECT_PAUSE_AFTER_SHUTDOWN_SECONDS
            if is_server_stopping
            else FIRST_RECONNECT_PAUSE_SECONDS
        )
        * 2.0 ** min(attempt_count, 16),
    )
