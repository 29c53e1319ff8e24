"""Suspensions: a bot that forfeits repeatedly gets no matches for a while, and is sent the reason."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from arena.protocol.codes import FORFEIT_REASONS, EndReason

MAX_FAILURES = 3
"""Number of consecutive failures, by forfeit or early resignation, after which a bot is suspended."""
EARLY_LOSS_PLIES = 6
"""Ply before which a resignation counts as a failure: a bot that resigns so early usually has a bug."""
MIN_SUSPENSION_SECONDS = 30
"""Length of the first suspension, in seconds. Each further suspension in a row lasts twice as long."""
MAX_SUSPENSION_SECONDS = 1800
"""Length of the longest suspension, in seconds."""
MAX_TRACKED_NAMES = 10_000
"""Maximum number of remembered names. The name whose last failure is oldest is forgotten first."""


@dataclass(slots=True)
class _FailureRecord:
    failures: int = 0
    suspended_until: int = 0
    reason: str = ""


class Suspensions:
    """Consecutive failures of each bot, and the end of its suspension. Times are in ns."""

    def __init__(self) -> None:
        self._failures: OrderedDict[str, _FailureRecord] = OrderedDict()

    def record_result(self, name: str, reason: EndReason, *, lost: bool, plies: int, now: int) -> str:
        """Record the end of a bot's match. If the bot is suspended for it, return the reason; otherwise an empty text.

        reason  reason why the match ended
        lost    True if the bot did not win; both bots lose a match for which neither appeared
        plies   number of plies played
        """
        early = reason is EndReason.RESIGNATION and plies < EARLY_LOSS_PLIES
        if not (lost and (early or reason in FORFEIT_REASONS)):
            self._failures.pop(name, None)
            return ""
        failing = self._failures.setdefault(name, _FailureRecord())
        self._failures.move_to_end(name)
        if len(self._failures) > MAX_TRACKED_NAMES:
            self._failures.popitem(last=False)
        failing.failures += 1
        if failing.failures < MAX_FAILURES:
            return ""
        seconds = min(
            MAX_SUSPENSION_SECONDS, MIN_SUSPENSION_SECONDS << min(10, failing.failures - MAX_FAILURES)
        )
        failing.suspended_until = now + seconds * 1_000_000_000
        times = f"{failing.failures} matches in a row forfeited, the last by {reason.value}"
        failing.reason = f"{times}; back in {seconds} s"
        return failing.reason

    def count_suspended(self, now: int) -> int:
        return sum(now < failing.suspended_until for failing in self._failures.values())

    def suspended_until(self, name: str) -> int:
        """Return the end of a bot's latest suspension, in ns, even if past; 0 if there was none, or it was pardoned."""
        failing = self._failures.get(name)
        return 0 if failing is None else failing.suspended_until

    def suspension_reason(self, name: str, now: int) -> str:
        """Return the reason for a bot's suspension at `now`; empty if it is not suspended."""
        failing = self._failures.get(name)
        return failing.reason if failing is not None and now < failing.suspended_until else ""

    def pardon(self, name: str) -> None:
        """End the suspension of a bot that starts a new session, because the bot may have been fixed.

        One more failure suspends the bot again.
        """
        failing = self._failures.get(name)
        if failing is not None:
            failing.suspended_until = 0
