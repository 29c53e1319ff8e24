"""Guests: a client without a token may play the house engines, without a rating and within limits."""

from __future__ import annotations

from collections.abc import Container

from arena.protocol.messages import Challenge
from arena.protocol.timecontrol import TimeControl

LONGEST = TimeControl(900_000, 10_000)
"""Most time of a guest's match: a house engine plays only so many matches at once."""
LONGEST_MOVE_MS = 60_000
"""Most time for each move of a guest's match."""
TOTAL_MS = 900_000
"""Time that each player of a guest's match may think in all: a match takes half an hour at the most."""
BEGIN_INTERVAL_NS, BEGIN_BURST = 1_000_000_000, 10
"""Rate at which matches of all guests together begin: each is kept in the store."""
ASK_INTERVAL_NS, ASK_BURST = 5_000_000_000, 4
"""Rate at which the guests of one address may ask for matches."""
PLACES_PER_ADDRESS = 2
"""Matches with house engines that the guests of one address may be in at the same time."""


def objection(asked: Challenge, house: Container[str], maps: Container[str]) -> str | None:
    """Return the reason for which a guest may not ask for this match, as a line; None where it may."""
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
