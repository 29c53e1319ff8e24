"""Pings of a connection: the lag is the least of the recent times, and silence is found out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.edge.pings import PONG_SECONDS, OpenPings

SECOND = 1_000_000_000


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8))
def test_the_lag_is_the_least_of_the_recent_times(times: list[int]) -> None:
    pings = OpenPings()
    for number, time in enumerate(times):
        payload = pings.new(number * SECOND)
        pings.answer(payload, number * SECOND + time)
    assert pings.lag == min(times)


def test_a_pong_answers_the_pings_before_its_own_and_one_that_nobody_asked_for_nothing() -> None:
    pings = OpenPings()
    first, second = pings.new(0), pings.new(SECOND)
    pings.answer(b"none", SECOND)
    assert pings.is_overdue(round(PONG_SECONDS * SECOND))
    pings.answer(second, SECOND + 7)
    assert pings.lag == 7
    pings.answer(first, 100 * SECOND)
    assert pings.lag == 7, "it was answered already"
    assert not pings.is_overdue(100 * SECOND)
