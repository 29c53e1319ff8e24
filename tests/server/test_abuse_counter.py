"""Limit on abuse for each address, here of wrong tokens."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.server.abuse_counter import (
    ABUSE_WINDOW_SECONDS,
    MAX_ABUSE_REFUSAL_SECONDS,
    MAX_REMEMBERED_ADDRESSES,
    MAX_WRONG_TOKENS_PER_WINDOW,
    AbuseCounter,
    compute_refusal_seconds,
    make_address_key,
)


def test_the_last_allowed_wrong_token_blocks_its_address_for_the_pause() -> None:
    counter = AbuseCounter(refusal_seconds=300)
    for _ in range(MAX_WRONG_TOKENS_PER_WINDOW - 1):
        counter.record_abuse("10.0.0.1", 1, MAX_WRONG_TOKENS_PER_WINDOW)
        assert counter.get_refusal_seconds_left("10.0.0.1", 1) == 0
    counter.record_abuse("10.0.0.1", 2, MAX_WRONG_TOKENS_PER_WINDOW)
    assert counter.get_refusal_seconds_left("10.0.0.1", 2) == 300
    assert counter.get_refusal_seconds_left("10.0.0.2", 2) == 0
    assert counter.get_refusal_seconds_left("10.0.0.1", 301.5) == 0.5
    assert counter.get_refusal_seconds_left("10.0.0.1", 302) == 0


def test_rare_wrong_tokens_block_no_address() -> None:
    counter = AbuseCounter(refusal_seconds=300)
    pause = math.ceil(ABUSE_WINDOW_SECONDS / (MAX_WRONG_TOKENS_PER_WINDOW - 1))
    for at in range(0, 100 * pause, pause):
        counter.record_abuse("10.0.0.1", at, MAX_WRONG_TOKENS_PER_WINDOW)
        assert counter.get_refusal_seconds_left("10.0.0.1", at) == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("10.0.0.1", "10.0.0.2", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("local", "local", True),
        ("", "local", False),
    ],
)
def test_addresses_that_count_as_one(one: str, other: str, same: bool) -> None:
    assert (make_address_key(one) == make_address_key(other)) is same


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 20)), max_size=200))
def test_no_address_gets_more_wrong_tokens_in_a_window_than_allowed(tries: list[tuple[int, float]]) -> None:
    counter = AbuseCounter(refusal_seconds=300)
    now, allowed = 0.0, dict[str, list[float]]()
    for number, passed in tries:
        now += passed
        address = f"10.0.0.{number}"
        if counter.get_refusal_seconds_left(address, now) == 0:
            counter.record_abuse(address, now, MAX_WRONG_TOKENS_PER_WINDOW)
            allowed.setdefault(address, []).append(now)
    for times in allowed.values():
        # One window may end and the next begin within ABUSE_WINDOW_SECONDS, so twice the limit less one is possible.
        for at in times:
            assert (
                sum(at <= each < at + ABUSE_WINDOW_SECONDS for each in times)
                <= 2 * MAX_WRONG_TOKENS_PER_WINDOW - 1
            )


def test_the_number_of_remembered_addresses_is_limited() -> None:
    counter = AbuseCounter(refusal_seconds=300)
    for number in range(MAX_REMEMBERED_ADDRESSES + 100):
        counter.record_abuse(f"2001:db8:{number:x}::1", number, MAX_WRONG_TOKENS_PER_WINDOW)
    assert len(vars(counter)["_abuse_by_address"]) == MAX_REMEMBERED_ADDRESSES


@given(st.floats(0.001, 3600))
def test_a_refusal_ends_before_the_grace_period(grace: float) -> None:
    assert 0 < compute_refusal_seconds(grace) < grace
    assert compute_refusal_seconds(grace) <= MAX_ABUSE_REFUSAL_SECONDS


def test_without_a_grace_period_a_refusal_lasts_the_default_time() -> None:
    assert compute_refusal_seconds(0) == MAX_ABUSE_REFUSAL_SECONDS
