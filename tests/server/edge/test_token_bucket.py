"""The token bucket: its burst, its rate, and debts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.edge.token_bucket import TokenBucket

SECOND = 1_000_000_000


def test_a_burst_is_followed_by_the_average_rate() -> None:
    bucket = TokenBucket(10, 3, 0)
    assert [bucket.try_take_token(0) for _ in range(4)] == [True, True, True, False]
    assert not bucket.try_take_token(SECOND // 10 - 1)
    assert bucket.try_take_token(SECOND // 10)
    assert [bucket.try_take_token(100 * SECOND) for _ in range(4)] == [True, True, True, False], (
        "the bucket holds at most the burst"
    )


@given(st.floats(0.1, 1e4), st.integers(1, 50), st.lists(st.integers(0, SECOND), max_size=60))
def test_at_most_burst_and_rate_together_are_taken(rate: float, burst: int, pauses: list[int]) -> None:
    bucket, now, taken = TokenBucket(rate, burst, 0), 0, 0
    for pause in pauses:
        now += pause
        taken += bucket.try_take_token(now)
        assert taken <= burst + rate * now / SECOND + 1e-6


@given(st.integers(1, 1000), st.integers(1, 200))
def test_a_sender_within_the_rate_is_never_refused(rate: int, messages: int) -> None:
    bucket = TokenBucket(rate, 1, 0)
    step = -(-SECOND // rate) + 1
    assert all(bucket.try_take_token(number * step) for number in range(messages))


def test_a_debt_is_paid_back_and_limited_to_the_burst() -> None:
    bucket = TokenBucket(10, 3, 0)
    bucket.take_tokens_with_debt(5)
    assert not bucket.try_take_token(2 * SECOND // 10)
    assert bucket.try_take_token(3 * SECOND // 10)
    bucket.take_tokens_with_debt(1000)
    assert not bucket.try_take_token(6 * SECOND // 10)
    assert bucket.try_take_token(7 * SECOND // 10)
