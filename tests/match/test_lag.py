"""Lag credit: never more than the lag, the time spent, or the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.match.clock import NS_PER_MS
from arena.match.lag import (
    LAG_BUDGET_REFILL_PER_MOVE_NS,
    MAX_LAG_BUDGET_NS,
    MAX_REMEMBERED_PINGS,
    LagBudget,
    RecentPings,
)

times = st.integers(0, 10_000 * NS_PER_MS)
moves = st.lists(st.tuples(times, times), max_size=50)


@given(moves)
def test_a_credit_is_within_lag_spent_and_budget_and_the_budget_within_its_cap(
    each: list[tuple[int, int]],
) -> None:
    budget = LagBudget()
    for lag, spent in each:
        credited, after = budget.credit_lag(lag, spent)
        assert 0 <= credited <= min(lag, spent, budget.remaining_ns)
        assert credited in (lag, spent, budget.remaining_ns)
        assert after.remaining_ns == min(
            MAX_LAG_BUDGET_NS, budget.remaining_ns - credited + LAG_BUDGET_REFILL_PER_MOVE_NS
        )
        budget = after


@given(moves)
def test_all_credits_of_a_match_stay_within_the_cap_and_its_refills(each: list[tuple[int, int]]) -> None:
    budget, total = LagBudget(), 0
    for lag, spent in each:
        credited, budget = budget.credit_lag(lag, spent)
        total += credited
    assert total <= MAX_LAG_BUDGET_NS + LAG_BUDGET_REFILL_PER_MOVE_NS * len(each)


@given(st.integers(0, LAG_BUDGET_REFILL_PER_MOVE_NS), st.integers(1, 100))
def test_a_connection_no_farther_than_the_refill_is_always_credited_all(lag: int, plies: int) -> None:
    budget = LagBudget()
    for _ in range(plies):
        credited, budget = budget.credit_lag(lag, 1000 * NS_PER_MS)
        assert credited == lag


def test_the_least_recent_ping_counts_and_one_slow_ping_credits_nothing() -> None:
    assert RecentPings().smallest_ping_ns == 0
    pings = RecentPings()
    for ping in (20, 30, 5000):
        pings.add_ping(ping)
    assert pings.smallest_ping_ns == 20
    for _ in range(MAX_REMEMBERED_PINGS):
        pings.add_ping(40)
    assert pings.smallest_ping_ns == 40, "what is long ago is forgotten"
