"""The token bucket: the burst, the rate, and never more than both together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.net.token_bucket import TokenBucket

SECOND = 1_000_000_000


def test_a_burst_goes_at_once_and_then_as_many_as_the_rate_gives() -> None:
    bucket = TokenBucket(10, 3, 0)
    assert [bucket.take(0) for _ in range(4)] == [True, True, True, False]
    assert not bucket.take(SECOND // 10 - 1)
    assert bucket.take(SECOND // 10)
    assert [bucket.take(100 * SECOND) for _ in range(4)] == [True, True, True, False], "no more is saved up"


def test_what_was_asked_for_is_free() -> None:
    bucket = TokenBucket(1, 1, 0)
    assert bucket.take(0)
    bucket.allow()
    bucket.allow()
    assert [bucket.take(0) for _ in range(3)] == [True, True, False]


@given(st.floats(0.1, 1e4), st.integers(1, 50), st.lists(st.integers(0, SECOND), max_size=60))
def test_never_more_than_burst_and_rate_together(rate: float, burst: int, pauses: list[int]) -> None:
    bucket, now, taken = TokenBucket(rate, burst, 0), 0, 0
    for pause in pauses:
        now += pause
        taken += bucket.take(now)
        assert taken <= burst + rate * now / SECOND + 1e-6


@given(st.integers(1, 1000), st.integers(1, 200))
def test_who_keeps_to_the_rate_is_never_refused(rate: int, messages: int) -> None:
    bucket = TokenBucket(rate, 1, 0)
    step = -(-SECOND // rate) + 1
    assert all(bucket.take(number * step) for number in range(messages))


def test_what_is_left_is_what_may_still_be_taken() -> None:
    bucket = TokenBucket(10, 3, 0)
    assert bucket.left(0) == 3
    bucket.allow()
    assert bucket.take_all(2, 0)
    assert bucket.left(0) == 2
    assert not bucket.take_all(3, 0)
    assert bucket.left(SECOND // 10) == 1


def test_it_is_easy_for_who_was_asked_or_sends_little() -> None:
    bucket = TokenBucket(1, 100, 0)
    assert bucket.easy(25, 0)
    assert not bucket.easy(26, 0)
    assert bucket.take_all(50, 0)
    assert not bucket.easy(1, 0)
    bucket.allow()
    assert bucket.easy(1, 0)
    assert not bucket.easy(2, 0)
    assert bucket.easy(2, 50 * SECOND)


@given(st.integers(1, 50), st.integers(1, 20), st.integers(1, 200), st.integers(0, 100))
def test_who_keeps_to_the_rate_is_never_refused_however_long_its_messages_wait(
    rate: int, burst: int, messages: int, longest: int
) -> None:
    bucket, step = TokenBucket(rate, burst, 0), -(-SECOND // rate) + 1
    waiting: list[int] = []
    for number in range(messages):
        assert len(waiting) < bucket.left(number * step), "one more is within the limit"
        waiting.append(number * step)
        bucket.expect(1)
        if len(waiting) > longest:
            assert all(bucket.take(at) for at in waiting)
            waiting = []


@given(st.lists(st.tuples(st.integers(0, SECOND), st.booleans()), max_size=60))
def test_waiting_gives_nobody_more_than_burst_and_rate_together(steps: list[tuple[int, bool]]) -> None:
    bucket, now, arrived, waiting = TokenBucket(10, 3, 0), 0, 0, 0
    for pause, taken in steps:
        now += pause
        if waiting < bucket.left(now):
            arrived += 1
            waiting += 1
            bucket.expect(1)
        assert arrived <= 3 + 10 * now / SECOND + 1e-6
        if taken and waiting:
            waiting -= 1
            assert bucket.take(now)


def test_what_costs_more_is_counted_also_where_nothing_is_left() -> None:
    bucket = TokenBucket(10, 3, 0)
    bucket.spend(5)
    assert bucket.left(0) == 0
    assert not bucket.take(SECOND // 5)
    assert bucket.take(3 * SECOND // 10)


def test_after_an_overrun_nothing_is_within_the_limit_any_more() -> None:
    bucket = TokenBucket(10, 3, 0)
    bucket.allow()
    bucket.overrun()
    assert not bucket.take(0)
    assert not bucket.take(100 * SECOND)
    assert bucket.left(200 * SECOND) == 0
