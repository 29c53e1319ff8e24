"""The bench: what puts a bot there, for how long, and what brings it back."""

from __future__ import annotations

import pytest

from protocol.codes import FORFEITS, EndReason
from server.lobby.matchmaking.suspension import (
    EARLY_PLIES,
    FAILURES,
    FIRST_SECONDS,
    LONGEST_SECONDS,
    Suspensions,
)

PLIES = EARLY_PLIES
"""Of a match in which both have played."""


def fail(bench: Suspensions, times: int, now: float = 0.0) -> str:
    why = ""
    for _ in range(times):
        why = bench.note("anna", lost=True, reason=EndReason.TIMEOUT, plies=PLIES, now=now)
    return why


def test_failures_in_a_row_bench_with_the_reason_until_the_time_is_up() -> None:
    bench = Suspensions()
    assert fail(bench, FAILURES - 1) == ""
    assert not bench.sits("anna", 0)
    assert "timeout" in fail(bench, 1)
    assert bench.next_return == FIRST_SECONDS
    assert bench.sits("anna", FIRST_SECONDS - 0.001)
    assert not bench.sits("bert", 0)
    assert not bench.sits("anna", FIRST_SECONDS)
    assert bench.next_return is None


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
    bench = Suspensions()
    fail(bench, FAILURES - 1)
    assert bench.note("anna", lost=lost, reason=reason, plies=PLIES, now=0) == ""
    assert fail(bench, FAILURES - 1) == ""


@pytest.mark.parametrize("reason", sorted(FORFEITS))
def test_every_forfeit_counts(reason: EndReason) -> None:
    bench = Suspensions()
    for _ in range(FAILURES):
        why = bench.note("anna", lost=True, reason=reason, plies=PLIES, now=0)
    assert reason.value in why


def test_who_resigns_before_it_has_played_counts_too() -> None:
    """A bot that raises at its first moves would lose a rated match every few milliseconds."""
    bench = Suspensions()
    for _ in range(FAILURES):
        why = bench.note("anna", lost=True, reason=EndReason.RESIGNATION, plies=EARLY_PLIES - 1, now=0)
        bench.note("bert", lost=False, reason=EndReason.RESIGNATION, plies=EARLY_PLIES - 1, now=0)
    assert "the last by resignation" in why
    assert not bench.sits("bert", 0)


def test_each_time_it_sits_twice_as_long_up_to_a_limit() -> None:
    bench, now, sat = Suspensions(), 0.0, []
    fail(bench, FAILURES - 1)
    for _ in range(10):
        fail(bench, 1, now)
        assert bench.next_return is not None
        sat.append(bench.next_return - now)
        now = bench.next_return
    assert sat[:3] == [FIRST_SECONDS, 2 * FIRST_SECONDS, 4 * FIRST_SECONDS]
    assert sat[-1] == LONGEST_SECONDS == max(sat)


def test_who_comes_anew_is_pardoned_but_not_forgotten() -> None:
    bench = Suspensions()
    fail(bench, FAILURES)
    bench.pardon("anna")
    assert not bench.sits("anna", 0)
    assert fail(bench, 1) != "", "one more failure is enough"
