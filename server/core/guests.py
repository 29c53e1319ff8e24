"""Guests: a client without a token may play the server's own engines, unrated and within limits."""

from __future__ import annotations

import re
from collections.abc import Container

from arena.maps.game_on_map import has_maps
from arena.protocol.messages import Challenge
from arena.protocol.timecontrol import TimeControl

MAX_GUEST_TIME_CONTROL = TimeControl(900_000, 10_000)
"""Longest time control in a match of a guest (client without a token): 15 minutes for all moves, plus 10 s for each move.

The limit exists because each of the server's own engines plays only a few matches in parallel.
"""
MAX_GUEST_MS_PER_MOVE = 60_000
"""Longest time per move, in ms, in a match of a guest (client without a token) with a fixed time for each move."""
MAX_GUEST_THINKING_MS_PER_MATCH = 900_000
"""Limit on each player's total thinking time in a match of a guest (client without a token), in ms.

Such a match takes at most half an hour.
"""
GUEST_START_INTERVAL_NS, GUEST_START_BURST = 1_000_000_000, 10
"""Rate limit on the matches that all guests together begin: average interval in ns, and number that may begin at once.

The limit keeps guests from filling the store with matches.
"""
GUEST_REQUEST_INTERVAL_NS, GUEST_REQUEST_BURST = 5_000_000_000, 4
"""Rate limit on match requests of all guests at one IP address: average interval in ns, and number allowed at once."""
MAX_GUEST_MATCHES_PER_ADDRESS = 2
"""Maximum number of parallel matches of all guests (clients without a token) at one IP address."""

_GUEST_NAME_PATTERN = re.compile(r"guest-[0-9]{1,6}")


def is_guest_name(name: str) -> bool:
    """Return True for the name of a guest (client without a token): `guest-` and one to six digits.

    The number of such names is limited because each name that is used stays in the store.
    """
    return _GUEST_NAME_PATTERN.fullmatch(name) is not None


def find_guest_refusal_reason(
    challenge: Challenge, house_engine_names: Container[str], allowed_map_names: Container[str]
) -> str | None:
    """Return a one-line reason why a guest (client without a token) may not play this match; None if the guest may.

    challenge           request for the match; the game in it must exist
    house_engine_names  names of the server's own engines
    allowed_map_names   names of the maps that a guest may play on
    """
    control = challenge.time_control
    if challenge.opponent not in house_engine_names:
        return "a guest plays the server's own bots only; ask the host for a token to play others"
    if challenge.rated:
        return "a guest's match is not rated: send rated false, or ask the host for a token"
    if has_maps(challenge.game) and challenge.map not in allowed_map_names:
        return "a guest plays on the built-in maps only"
    if control.per_move and control.base_ms > MAX_GUEST_MS_PER_MOVE:
        return f"a guest's match has at most {MAX_GUEST_MS_PER_MOVE // 1000} s a move"
    if (
        control.base_ms > MAX_GUEST_TIME_CONTROL.base_ms
        or control.increment_ms > MAX_GUEST_TIME_CONTROL.increment_ms
    ):
        return f"a guest's match has at most {MAX_GUEST_TIME_CONTROL}"
    return None
