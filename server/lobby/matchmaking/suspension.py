"""Suspension: a bot that keeps failing gets no matches for a while, with a reason, and can return. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.protocol.codes import FORFEITS, EndReason

FAILURES = 3
"""Forfeits in a row that suspend a bot."""
EARLY_PLIES = 6
"""A bot that resigns before this ply has not played: as a rule it raised, and would do so in every match."""
FIRST_SECONDS = 30
"""How long the first suspension lasts; each further one in a row lasts twice as long as the one before."""
LONGEST_SECONDS = 1800
"""How long a suspension lasts at the most."""


@dataclass
class Suspensions:
    """How often each bot has failed in a row, and until when (seconds of any clock) it is suspended."""

    _failures: dict[str, int] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)

    def note(self, name: str, *, lost: bool, reason: EndReason, plies: int, now: float) -> str:
        """Count the end of a bot's match after so many plies: why the bot is suspended now, or an empty string."""
        early = reason is EndReason.RESIGNATION and plies < EARLY_PLIES
        if not (lost and (early or reason in FORFEITS)):
            self._failures.pop(name, None)
            return ""
        failures = self._failures[name] = self._failures.get(name, 0) + 1
        if failures < FAILURES:
            return ""
        seconds = min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** (failures - FAILURES))
        self._until[name] = now + seconds
        return f"{failures} matches in a row forfeited, the last by {reason.value}; back in {seconds:.0f} s"

    def holds(self, name: str, now: float) -> bool:
        """Whether the bot is suspended at `now`."""
        until = self._until.get(name)
        if until is not None and until <= now:
            del self._until[name]
            return False
        return until is not None

    def pardon(self, name: str) -> None:
        """Give a bot that has come anew, perhaps mended, one chance before it is suspended again."""
        self._until.pop(name, None)

    @property
    def next_return(self) -> float | None:
        """When the first suspension ends; None where nobody is suspended."""
        return min(self._until.values(), default=None)
