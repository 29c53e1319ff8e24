"""Suspensions: a bot that keeps failing gets no matches for a while, with a reason, and can return."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from arena.protocol.codes import FORFEITS, EndReason

FAILURES = 3
"""Forfeits in a row that suspend a bot."""
EARLY_PLIES = 6
"""A bot that resigns before this ply has not played: as a rule it raised, and would do so in every match."""
FIRST_SECONDS = 30
"""Length of the first suspension. Each further one in a row lasts twice as long as the one before."""
LONGEST_SECONDS = 1800
NAMES = 10_000
"""Names that are kept. The one that failed longest ago is forgotten first."""


@dataclass(slots=True)
class _Failing:
    failures: int = 0
    until: int = 0
    why: str = ""


class Suspensions:
    """Failures in a row of each bot, and the time until which it is suspended."""

    def __init__(self) -> None:
        self._failing: OrderedDict[str, _Failing] = OrderedDict()

    def note(self, name: str, reason: EndReason, *, lost: bool, plies: int, now: int) -> str:
        """Count the end of a bot's match. Return the reason of its suspension, empty where it is not suspended."""
        early = reason is EndReason.RESIGNATION and plies < EARLY_PLIES
        if not (lost and (early or reason in FORFEITS)):
            self._failing.pop(name, None)
            return ""
        failing = self._failing.setdefault(name, _Failing())
        self._failing.move_to_end(name)
        if len(self._failing) > NAMES:
            self._failing.popitem(last=False)
        failing.failures += 1
        if failing.failures < FAILURES:
            return ""
        seconds = min(LONGEST_SECONDS, FIRST_SECONDS << min(10, failing.failures - FAILURES))
        failing.until = now + seconds * 1_000_000_000
        times = f"{failing.failures} matches in a row forfeited, the last by {reason.value}"
        failing.why = f"{times}; back in {seconds} s"
        return failing.why

    def until(self, name: str) -> int:
        """Return the time at which a bot's suspension ends; 0 where it never was suspended."""
        failing = self._failing.get(name)
        return 0 if failing is None else failing.until

    def why(self, name: str, now: int) -> str:
        """Return the reason for which a bot is suspended at `now`; empty where it is not."""
        failing = self._failing.get(name)
        return failing.why if failing is not None and now < failing.until else ""

    def pardon(self, name: str) -> None:
        """End the suspension of a bot that came anew, perhaps mended. One more failure suspends it again."""
        failing = self._failing.get(name)
        if failing is not None:
            failing.until = 0
