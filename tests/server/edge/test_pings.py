"""Pings of a connection: the shortest recent round-trip time, and overdue pongs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.edge.pings import PONG_TIMEOUT_SECONDS, PingTracker

SECOND = 1_000_000_000


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8))
def test_the_lag_is_the_shortest_recent_round_trip_time(times: list[int]) -> None:
    pings = PingTracker()
    for number, time in enumerate(times):
        payload = pings.record_ping_and_make_payload(number * SECOND)
        pings.handle_pong(payload, number * SECOND + time)
    assert pings.min_round_trip_ns == min(times)


def test_a_pong_answers_all_earlier_pings_and_an_unsolicited_pong_answers_none() -> None:
    pings = PingTracker()
    first, second = pings.record_ping_and_make_payload(0), pings.record_ping_and_make_payload(SECOND)
    pings.handle_pong(b"none", SECOND)
    assert pings.is_pong_overdue(round(PONG_TIMEOUT_SECONDS * SECOND))
    pings.handle_pong(second, SECOND + 7)
    assert pings.min_round_trip_ns == 7
    pings.handle_pong(first, 100 * SECOND)
    assert pings.min_round_trip_ns == 7, "a second pong for a ping is ignored"
    assert not pings.is_pong_overdue(100 * SECOND)
