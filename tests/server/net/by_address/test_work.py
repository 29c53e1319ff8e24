"""The budget of work of an address."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.server.net.by_address.work import BURST_SECONDS, CAPACITY, WorkBudget

ASKED = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 3_000_000), st.floats(0, 30)), min_size=1, max_size=60
)


@given(ASKED)
def test_no_address_gets_more_than_it_saves_up_and_one_piece_of_work(
    asked: list[tuple[str, int, float]],
) -> None:
    budget, now = WorkBudget(25), 0.0
    taken: dict[str, float] = {}
    for address, cost, pause in asked:
        now += pause
        if budget.ask(address, cost, now) == 0:
            taken[address] = taken.get(address, 0) + cost
        assert taken.get(address, 0) <= 25_000 * (now + BURST_SECONDS) + 3_000_000


@given(ASKED)
def test_whoever_waits_as_long_as_it_is_told_is_served(asked: list[tuple[str, int, float]]) -> None:
    budget, now = WorkBudget(25), 0.0
    for address, cost, pause in asked:
        now += pause
        wait = budget.ask(address, cost, now)
        if wait > 0:
            now += wait + 1e-6
            assert budget.ask(address, cost, now) == 0


def test_one_address_takes_nothing_from_another_and_a_network_counts_as_one() -> None:
    budget = WorkBudget(1)
    assert budget.ask("192.0.2.1", 20_000, 0) == 0
    assert budget.ask("192.0.2.1", 1_000, 0) > 0
    assert budget.ask("192.0.2.2", 1_000, 0) == 0
    assert budget.ask("2001:db8::1", 20_000, 0) == 0
    assert budget.ask("2001:db8::2", 1_000, 0) > 0


def test_only_so_many_addresses_are_kept() -> None:
    budget = WorkBudget(1)
    assert budget.ask("first", 20_000, 0) == 0
    for number in range(CAPACITY):
        assert budget.ask(f"address {number}", 1, 0) == 0
    assert budget.ask("first", 1_000, 0) == 0, "it was forgotten"
