"""The work budget of an address."""

from __future__ import annotations

from arena.server.core.limits import ServerLimits
from arena.server.edge.work_budget import WorkBudget


def test_addresses_have_separate_budgets_and_an_ipv6_network_has_one() -> None:
    budget = WorkBudget(ServerLimits(work_ms_per_second=1))
    assert budget.charge_or_compute_wait_seconds("192.0.2.1", 20_000, 0) == 0
    assert budget.charge_or_compute_wait_seconds("192.0.2.1", 1_000, 0) > 0
    assert budget.charge_or_compute_wait_seconds("192.0.2.2", 1_000, 0) == 0
    assert budget.charge_or_compute_wait_seconds("2001:db8::1", 20_000, 0) == 0
    assert budget.charge_or_compute_wait_seconds("2001:db8::2", 1_000, 0) > 0


def test_a_changed_limit_applies_immediately() -> None:
    limits = ServerLimits(work_ms_per_second=1)
    budget = WorkBudget(limits)
    assert budget.charge_or_compute_wait_seconds("a", 20_000, 0.0) == 0
    assert budget.charge_or_compute_wait_seconds("a", 1_000, 0.0) == 1
    limits.work_ms_per_second = 100
    assert budget.charge_or_compute_wait_seconds("a", 1_000, 0.01) == 0
