"""The budget of work of an address."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.core.rate_limit import MAX_KEYS
from arena.server.edge.limits import HostLimits
from arena.server.edge.work_budget import BURST_SECONDS, WorkBudget

ASKED = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 3_000_000), st.floats(0, 30)), min_size=1, max_size=60
)


@given(ASKED)
def test_no_address_gets_more_than_it_saves_up_and_one_piece_of_work(
    asked: list[tuple[str, int, float]],
) -> None:
    budget, now = WorkBudget(HostLimits(work_ms_per_second=25)), 0.0
    taken: dict[str, float] = {}
    for address, cost, pause in asked:
        now += pause
        if budget.try_spend(address, cost, now) == 0:
            taken[address] = taken.get(address, 0) + cost
        assert taken.get(address, 0) <= 25_000 * (now + BURST_SECONDS) + 3_000_000


@given(ASKED)
def test_a_client_that_waits_as_long_as_it_is_told_is_served(asked: list[tuple[str, int, float]]) -> None:
    budget, now = WorkBudget(HostLimits(work_ms_per_second=25)), 0.0
    for address, cost, pause in asked:
        now += pause
        wait = budget.try_spend(address, cost, now)
        if wait > 0:
            now += wait + 1e-6
            assert budget.try_spend(address, cost, now) == 0


def test_one_address_takes_nothing_from_another_and_a_network_counts_as_one() -> None:
    budget = WorkBudget(HostLimits(work_ms_per_second=1))
    assert budget.try_spend("192.0.2.1", 20_000, 0) == 0
    assert budget.try_spend("192.0.2.1", 1_000, 0) > 0
    assert budget.try_spend("192.0.2.2", 1_000, 0) == 0
    assert budget.try_spend("2001:db8::1", 20_000, 0) == 0
    assert budget.try_spend("2001:db8::2", 1_000, 0) > 0


def test_only_so_many_addresses_are_kept() -> None:
    budget = WorkBudget(HostLimits(work_ms_per_second=1))
    assert budget.try_spend("first", 20_000, 0) == 0
    for number in range(MAX_KEYS):
        assert budget.try_spend(f"address {number}", 1, 0) == 0
    assert budget.try_spend("first", 1_000, 0) == 0, "it was forgotten"


def test_another_limit_holds_at_once() -> None:
    limits = HostLimits(work_ms_per_second=1)
    budget = WorkBudget(limits)
    assert budget.try_spend("a", 20_000, 0.0) == 0
    assert budget.try_spend("a", 1_000, 0.0) == 1
    limits.work_ms_per_second = 100
    assert budget.try_spend("a", 1_000, 0.01) == 0
