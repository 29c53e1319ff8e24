"""Suspension: what causes it, how long it lasts, and what ends it."""

from __future__ import annotations

import pytest

from arena.protocol.codes import FORFEITS, EndReason
from arena.server.lobby.matchmaking.suspension import (
    EARLY_PLIES,
    FAILURES,
    FIRST_SECONDS,
    LONGEST_SECONDS,
    Suspensions,
)

PLIES = EARLY_PLIES
"""The length of a match in which both have played."""


def fail(suspensions: Suspensions, times: int, now: float = 0.0) -> str:
    why = ""
    for _ in range(times):
        why = suspensions.note("anna", lost=True, reason=EndReason.TIMEOUT, plies=PLIES, now=now)
    return why


def test_failures_in_a_row_suspend_with_the_reason_until_the_time_is_up() -> None:
    suspensions = Suspensions()
    assert fail(suspensions, FAILURES - 1) == ""
    assert not suspensions.holds("anna", 0)
    assert "timeout" in fail(suspensions, 1)
    assert suspensions.next_return == FIRST_SECONDS
    assert suspensions.holds("anna", FIRST_SECONDS - 0.001)
    assert not suspensions.holds("bert", 0)
    assert not suspensions.holds("anna", FIRST_SECONDS)
    assert suspensions.next_return is None


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        (False, EndReason.TIMEOUT),
        (True, EndReason.LINE),
        (True, EndReason.SERVER_FAULT),
        (True, EndReason.RESIGNATION),
    ],
)
def test_a_match_that_was_not_forfeited_wipes_the_slate(*, lost: bool, reason: EndReason) -> None:
    suspensions = Suspensions()
    fail(suspensions, FAILURES - 1)
    assert suspensions.note("anna", lost=lost, reason=reason, plies=PLIES, now=0) == ""
    assert fail(suspensions, FAILURES - 1) == ""


@pytest.mark.parametrize("reason", sorted(FORFEITS))
def test_every_forfeit_counts(reason: EndReason) -> None:
    suspensions = Suspensions()
    for _ in range(FAILURES):
        why = suspensions.note("anna", lost=True, reason=reason, plies=PLIES, now=0)
    assert reason.value in why


def test_who_resigns_before_it_has_played_counts_too() -> None:
    """A bot that raises at its first moves would lose a rated match every few milliseconds."""
    suspensions = Suspensions()
    for _ in range(FAILURES):
        why = suspensions.note("anna", lost=True, reason=EndReason.RESIGNATION, plies=EARLY_PLIES - 1, now=0)
        suspensions.note("bert", lost=False, reason=EndReason.RESIGNATION, plies=EARLY_PLIES - 1, now=0)
    assert "the last by resignation" in why
    assert not suspensions.holds("bert", 0)


def test_each_suspension_lasts_twice_as_long_up_to_a_limit() -> None:
    suspensions, now, lasted = Suspensions(), 0.0, []
    fail(suspensions, FAILURES - 1)
    for _ in range(10):
        fail(suspensions, 1, now)
        assert suspensions.next_return is not None
        lasted.append(suspensions.next_return - now)
        now = suspensions.next_return
    assert lasted[:3] == [FIRST_SECONDS, 2 * FIRST_SECONDS, 4 * FIRST_SECONDS]
    assert lasted[-1] == LONGEST_SECONDS == max(lasted)


def test_who_comes_anew_is_pardoned_but_not_forgotten() -> None:
    suspensions = Suspensions()
    fail(suspensions, FAILURES)
    suspensions.pardon("anna")
    assert not suspensions.holds("anna", 0)
    assert fail(suspensions, 1) != "", "one more failure is enough"
