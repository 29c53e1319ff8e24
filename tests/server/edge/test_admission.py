"""Admission control: limits on the number of connections, in total and per address."""

from __future__ import annotations

import pytest

from arena.clock import TimeSource
from arena.server.core.limits import ServerLimits
from arena.server.edge.admission import ConnectionAdmission
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings


def admission(*proxies: str, **limits: int) -> ConnectionAdmission:
    return ConnectionAdmission(ServerLimits(**limits), proxies, TimeSource(lambda: 0))


def test_connections_are_limited_in_total_and_per_address() -> None:
    guard = admission(connections=3, connections_per_address=2)
    assert [guard.try_admit_connection("10.0.0.1") for _ in range(3)] == [True, True, False]
    assert guard.try_admit_connection("10.0.0.2")
    assert not guard.try_admit_connection("10.0.0.3"), "the limit in total is three"
    guard.stop_counting_connection("10.0.0.1")
    assert guard.try_admit_connection("10.0.0.3")
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
        guard.stop_counting_connection(address)
    assert not guard.open_connection_counts, "addresses without connections are forgotten"


def test_the_limit_per_address_applies_only_when_many_connections_are_open() -> None:
    guard = admission(connections=400, connections_per_address=4)
    hall = sum(guard.try_admit_connection("10.0.0.1") for _ in range(300))
    assert hall == 100
    assert [guard.try_admit_connection("10.0.0.2") for _ in range(5)] == [True, True, True, True, False]
    guard.stop_counting_connection("10.0.0.1")
    for _ in range(4):
        guard.stop_counting_connection("10.0.0.2")
    assert guard.try_admit_connection("10.0.0.1")


def test_connections_stay_open_only_while_few_are_open() -> None:
    guard = admission("10.9.0.0/16", connections=8, connections_per_address=4)
    for address, room in (
        ("10.0.0.1", True),
        ("10.0.0.1", True),
        ("10.0.0.1", False),
        ("10.9.0.1", True),
        ("10.9.0.1", False),
    ):
        assert guard.try_admit_connection(address)
        assert guard.may_connection_stay_open(address) == room
    guard.stop_counting_connection("10.9.0.1")
    assert guard.may_connection_stay_open("10.9.0.1"), "only the total limit applies to a proxy"
    guard.close()
    assert not guard.may_connection_stay_open("10.9.0.1")


def test_all_addresses_of_an_ipv6_network_count_as_one_address() -> None:
    guard = admission(connections=4, connections_per_address=1)
    assert guard.try_admit_connection("2001:db8::1")
    assert not guard.try_admit_connection("2001:db8::2")
    assert guard.try_admit_connection("2001:db8:0:1::1")
    guard.stop_counting_connection("2001:db8::2")
    assert guard.try_admit_connection("2001:db8::3")


def test_all_connections_of_an_address_share_a_token_bucket() -> None:
    guard = admission(moves_per_second=1)
    for address in ("10.0.0.1", "10.0.0.1", "10.0.0.2"):
        assert guard.try_admit_connection(address)
    assert guard.find_or_add_read_bucket("10.0.0.1") is guard.find_or_add_read_bucket("10.0.0.1")
    assert guard.find_or_add_read_bucket("10.0.0.1") is not guard.find_or_add_read_bucket("10.0.0.2")
    before = guard.find_or_add_read_bucket("10.0.0.1")
    guard.stop_counting_connection("10.0.0.1")
    assert guard.find_or_add_read_bucket("10.0.0.1") is before
    guard.stop_counting_connection("10.0.0.1")
    assert guard.try_admit_connection("10.0.0.1")
    assert guard.find_or_add_read_bucket("10.0.0.1") is not before


def test_only_the_total_limit_applies_to_a_proxy() -> None:
    guard = admission("10.0.0.0/8", connections=3, connections_per_address=1)
    assert guard.is_trusted_proxy("10.1.2.3")
    assert not guard.is_trusted_proxy("11.0.0.1")
    assert not guard.is_trusted_proxy("local")
    assert [guard.try_admit_connection("10.0.0.1") for _ in range(4)] == [True, True, True, False]


def test_a_closed_admission_control_admits_no_connection() -> None:
    guard = admission()
    guard.close()
    assert not guard.try_admit_connection("10.0.0.1")


def test_an_address_with_misbehaving_connections_is_refused_for_a_while_unless_it_is_a_proxy() -> None:
    now = 0
    guard = ConnectionAdmission(ServerLimits(cut_offs=2), ["10.9.0.0/16"], TimeSource(lambda: now))
    for address in ("10.0.0.1", "10.9.0.1"):
        for _ in range(2):
            guard.record_misbehaving_connection(address)
    assert not guard.try_admit_connection("10.0.0.1")
    assert guard.try_admit_connection("10.9.0.1")
    assert guard.try_admit_connection("10.0.0.2")
    now = 61_000_000_000
    assert guard.try_admit_connection("10.0.0.1")


async def test_an_address_is_refused_for_at_most_half_the_grace_period(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_arena_server(
        make_private_server_settings(grace_seconds=30, limits=ServerLimits(cut_offs=1))
    ) as host:
        host.edge.admission.record_misbehaving_connection("10.0.0.1")
    assert "refused for 15 s: too many of its connections misbehaved" in caplog.text
