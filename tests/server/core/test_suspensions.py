"""Suspensions: their causes, durations and ends."""

from __future__ import annotations

import pytest

from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.server.core.suspensions import (
    EARLY_RESIGNATION_BEFORE_PLY,
    MAX_FAILURES_BEFORE_SUSPENSION,
    MAX_SUSPENSION_SECONDS,
    MIN_SUSPENSION_SECONDS,
    BotSuspensions,
)

SECOND = 1_000_000_000


def record_failures(
    suspensions: BotSuspensions, times: int, now: int = 0, reason: EndReason = EndReason.TIMEOUT
) -> str:
    """Record failures of the bot anna, and return the reason for its suspension; empty if it is not suspended."""
    why = ""
    for _ in range(times):
        why = suspensions.record_match_result_and_suspend(
            "anna", reason, has_won=False, ply_count=EARLY_RESIGNATION_BEFORE_PLY, now_ns=now
        )
    return why


def test_failures_in_a_row_suspend_a_bot_for_a_time_with_a_reason() -> None:
    suspensions = BotSuspensions()
    assert record_failures(suspensions, MAX_FAILURES_BEFORE_SUSPENSION - 1) == ""
    assert suspensions.find_suspension_end_ns("anna") == 0
    assert "timeout" in record_failures(suspensions, 1)
    end = MIN_SUSPENSION_SECONDS * SECOND
    assert suspensions.find_suspension_end_ns("anna") == end
    assert suspensions.find_suspension_reason("anna", end - 1) != ""
    assert (
        suspensions.find_suspension_reason("anna", end) == suspensions.find_suspension_reason("bert", 0) == ""
    )


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        (False, EndReason.TIMEOUT),
        (True, EndReason.LINE),
        (True, EndReason.SERVER_FAULT),
        (True, EndReason.RESIGNATION),
    ],
)
def test_a_match_without_forfeit_resets_the_failure_count(*, lost: bool, reason: EndReason) -> None:
    suspensions = BotSuspensions()
    record_failures(suspensions, MAX_FAILURES_BEFORE_SUSPENSION - 1)
    assert (
        suspensions.record_match_result_and_suspend(
            "anna", reason, has_won=not lost, ply_count=EARLY_RESIGNATION_BEFORE_PLY, now_ns=0
        )
        == ""
    )
    assert record_failures(suspensions, MAX_FAILURES_BEFORE_SUSPENSION - 1) == ""


@pytest.mark.parametrize("reason", sorted(FORFEIT_REASONS))
def test_every_forfeit_counts(reason: EndReason) -> None:
    assert reason.value in record_failures(BotSuspensions(), MAX_FAILURES_BEFORE_SUSPENSION, reason=reason)


def test_an_early_resignation_counts_as_a_failure() -> None:
    """Otherwise, a bot that crashes at its first moves would lose a rated match every few milliseconds."""
    suspensions = BotSuspensions()
    for _ in range(MAX_FAILURES_BEFORE_SUSPENSION):
        why = suspensions.record_match_result_and_suspend(
            "anna", EndReason.RESIGNATION, has_won=False, ply_count=EARLY_RESIGNATION_BEFORE_PLY - 1, now_ns=0
        )
        suspensions.record_match_result_and_suspend(
            "bert", EndReason.RESIGNATION, has_won=True, ply_count=EARLY_RESIGNATION_BEFORE_PLY - 1, now_ns=0
        )
    assert "the last by resignation" in why
    assert suspensions.find_suspension_end_ns("bert") == 0


def test_each_suspension_lasts_twice_as_long_up_to_a_limit() -> None:
    suspensions, now, lasted = BotSuspensions(), 0, []
    record_failures(suspensions, MAX_FAILURES_BEFORE_SUSPENSION - 1)
    for _ in range(10):
        record_failures(suspensions, 1, now)
        lasted.append((suspensions.find_suspension_end_ns("anna") - now) // SECOND)
        now = suspensions.find_suspension_end_ns("anna")
    assert lasted[:3] == [MIN_SUSPENSION_SECONDS, 2 * MIN_SUSPENSION_SECONDS, 4 * MIN_SUSPENSION_SECONDS]
    assert lasted[-1] == MAX_SUSPENSION_SECONDS == max(lasted)


def test_a_lifted_suspension_keeps_the_failure_count() -> None:
    suspensions = BotSuspensions()
    record_failures(suspensions, MAX_FAILURES_BEFORE_SUSPENSION)
    suspensions.lift_suspension("anna")
    assert suspensions.find_suspension_reason("anna", 0) == ""
    assert record_failures(suspensions, 1) != "", "one more failure is enough"
