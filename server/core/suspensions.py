"""Suspensions: a bot that forfeits repeatedly gets no matches for a while, and is sent the reason."""

from __future__ import annotations

from dataclasses import dataclass

from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.server.core.bounded_dict import BoundedDict

MAX_FAILURES_BEFORE_SUSPENSION = 3
"""Number of consecutive failures, by forfeit or early resignation, after which a bot is suspended."""
EARLY_RESIGNATION_BEFORE_PLY = 6
"""Ply before which a resignation counts as a failure: a bot that resigns so early usually has a bug."""
MIN_SUSPENSION_SECONDS = 30
"""Length of a bot's first suspension, in seconds. Each further suspension is twice as long, up to MAX_SUSPENSION_SECONDS.

After a match without failure, the next suspension has this length again.
"""
MAX_SUSPENSION_SECONDS = 1800
"""Length of a bot's longest suspension for consecutive failures (forfeits or early resignations), in seconds."""
MAX_BOTS_WITH_REMEMBERED_FAILURES = 10_000
"""Maximum number of bots whose failures are remembered. The bot whose last failure is oldest is forgotten first."""


@dataclass(slots=True)
class _FailureRecord:
    failure_count: int = 0
    suspended_until_ns: int = 0
    suspension_reason: str = ""


class BotSuspensions:
    """Suspensions of bots: the consecutive failures of each bot, and the end of its suspension. Times are in monotonic ns."""

    def __init__(self) -> None:
        self._failures = BoundedDict[str, _FailureRecord](MAX_BOTS_WITH_REMEMBERED_FAILURES)

    def record_match_result_and_suspend(
        self, bot_name: str, end_reason: EndReason, *, has_won: bool, ply_count: int, now_ns: int
    ) -> str:
        """Record the end of a bot's match. If this suspends the bot, return the reason; otherwise an empty string.

        end_reason  reason why the match ended
        has_won     True if the bot has won
        ply_count   number of plies played
        """
        is_early_resignation = (
            end_reason is EndReason.RESIGNATION and ply_count < EARLY_RESIGNATION_BEFORE_PLY
        )
        if has_won or not (is_early_resignation or end_reason in FORFEIT_REASONS):
            self._failures.pop(bot_name, None)
            return ""
        failure_record = self._failures.get(bot_name, _FailureRecord())
        self._failures[bot_name] = failure_record
        failure_record.failure_count += 1
        if failure_record.failure_count < MAX_FAILURES_BEFORE_SUSPENSION:
            return ""
        seconds = min(
            MAX_SUSPENSION_SECONDS,
            MIN_SUSPENSION_SECONDS << min(10, failure_record.failure_count - MAX_FAILURES_BEFORE_SUSPENSION),
        )
        failure_record.suspended_until_ns = now_ns + seconds * 1_000_000_000
        failures_text = (
            f"{failure_record.failure_count} matches in a row forfeited, the last by {end_reason.value}"
        )
        failure_record.suspension_reason = f"{failures_text}; back in {seconds} s"
        return failure_record.suspension_reason

    def count_suspended_bots(self, now_ns: int) -> int:
        return sum(now_ns < record.suspended_until_ns for record in self._failures.values())

    def find_suspension_end_ns(self, bot_name: str) -> int:
        """Return the time (monotonic ns) at which a bot's latest suspension ends or has ended.

        Return 0 if the bot was not suspended, if the suspension was lifted, or if the bot has since ended a match without
        failure.
        """
        record = self._failures.get(bot_name)
        return 0 if record is None else record.suspended_until_ns

    def find_suspension_reason(self, bot_name: str, now_ns: int) -> str:
        """Return the reason for a bot's suspension at `now_ns`; empty if it is not suspended."""
        record = self._failures.get(bot_name)
        return record.suspension_reason if record is not None and now_ns < record.suspended_until_ns else ""

    def lift_suspension(self, bot_name: str) -> None:
        """End the suspension of a bot that starts a new session, because the bot may have been fixed.

        One more failure suspends the bot again.
        """
        record = self._failures.get(bot_name)
        if record is not None:
            record.suspended_until_ns = 0
