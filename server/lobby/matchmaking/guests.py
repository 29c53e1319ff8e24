"""Guests: who has no token may play the server's own bots, without a rating and within limits. Pure.

A stranger can thus play after two clicks, and nobody who connected a bot of their own is bothered.
"""

from __future__ import annotations

import re
from collections.abc import Container

from protocol.messages import Challenge
from protocol.timecontrol import TimeControl

LONGEST = TimeControl(1_800_000, 30_000)
"""The most time that a guest's match may have: a house bot plays only so many matches at once."""
LONGEST_MOVE_MS = 60_000
"""The most time for each move that a guest's match may have."""
PER_SECOND = 1.0
"""Matches that all guests together may ask for in a second: each is kept in the store."""
BURST = 10
"""Matches that all guests together may ask for at one moment, after asking for none."""

_NAME = re.compile(r"guest-[0-9]{1,6}")


def is_guest(name: str) -> bool:
    """Whether a name is one that guests use. Such names are few, because each leaves a line in the store."""
    return _NAME.fullmatch(name) is not None


def objection(asked: Challenge, house: Container[str], maps: Container[str]) -> str | None:
    """Why a guest may not ask for this match, as a line, or None when it may."""
    control = asked.time_control
    if asked.opponent not in house:
        return "a guest plays the server's own bots only; ask the host for a token to play others"
    if asked.rated:
        return "a guest's match is not rated: send rated false, or ask the host for a token"
    if asked.game == "riskless" and asked.map not in maps:
        return "a guest plays on the shipped maps only"
    if control.per_move and control.base_ms > LONGEST_MOVE_MS:
        return f"a guest's match has at most {LONGEST_MOVE_MS // 1000} s a move"
    if control.base_ms > LONGEST.base_ms or control.increment_ms > LONGEST.increment_ms:
        return f"a guest's match has at most {LONGEST}"
    return None
