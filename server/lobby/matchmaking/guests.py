"""Guests: who has no token may play the server's own bots, without a rating and within limits. Pure.

A stranger can thus play after two clicks, and nobody who connected a bot of their own is bothered.
"""

from __future__ import annotations

import re
from collections.abc import Container

from arena.protocol.messages import Challenge
from arena.protocol.timecontrol import TimeControl
from arena.server.net.by_address.work import WorkBudget
from arena.server.net.token_bucket import TokenBucket

LONGEST = TimeControl(900_000, 10_000)
"""The most time that a guest's match may have: a house bot plays only so many matches at once."""
LONGEST_MOVE_MS = 60_000
"""The most time for each move that a guest's match may have."""
TOTAL_MS = 900_000
"""How long each player of a guest's match may think in all: with both, a match takes half an hour at the most."""
PER_SECOND = 1.0
"""Matches of all guests together that begin in a second: each is kept in the store."""
BURST = 10
"""Matches of all guests together that may begin at one moment, after none did."""
COST = 500_000
"""What a match that is asked for takes of its address's budget for guests, in µs."""
MS_PER_SECOND = 100.0
"""The budget of each address: with `COST`, a match in 5 s on the average, and four at one moment after asking for none."""
PLACES_PER_ADDRESS = 2
"""Matches with house bots that the guests of one address may be in at the same time: others want to play too."""

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


class GuestMatches:
    """How often the guests of each address may ask for a match, and how often one of all guests may begin."""

    def __init__(self, now: int) -> None:
        """`now`: monotonic ns, as in the methods."""
        self._all = TokenBucket(PER_SECOND, BURST, now)
        self._each = WorkBudget(MS_PER_SECOND)

    def refusal(self, address: str, now: int) -> str | None:
        """Why a guest of this address may not ask for a match; None where it may, and then it is counted."""
        if self._each.ask(address, COST, now / 1e9) > 0:
            return "many guests from your address ask for a match just now: try again in a moment"
        return None

    def may_begin(self, now: int) -> bool:
        """Whether a guest's match may begin; it is counted if so. Whoever may not waits for its turn."""
        return self._all.take(now)
