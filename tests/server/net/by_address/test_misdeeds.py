"""server.net.by_address.misdeeds: what is told of addresses is what they did, each thing once."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from arena.server.net.by_address.misdeeds import MOST, Misdeeds

ADDRESSES = ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2")
AS_COUNTED = {"192.0.2.1": "192.0.2.1", "192.0.2.2": "192.0.2.2"} | dict.fromkeys(
    ("2001:db8::1", "2001:db8::2"), "2001:db8::/64"
)
"""A network of IPv6 is one address."""

DEEDS = st.tuples(
    st.sampled_from(["worked", "wrong", "cut_off", "take"]), st.sampled_from(ADDRESSES), st.integers(0, 9)
)


@given(st.lists(DEEDS, max_size=40))
def test_whatever_is_done_is_told_once_and_under_what_counts_as_the_address(
    deeds: list[tuple[str, str, int]],
) -> None:
    misdeeds = Misdeeds(shared=True)
    done: dict[str, Counter[str]] = {what: Counter() for what in ("worked", "wrong", "cut_off")}
    told: dict[str, Counter[str]] = {what: Counter() for what in done}

    def take() -> None:
        asked = misdeeds.take(Counter())
        for what, counted in zip(told, (asked.work, asked.wrong, asked.cut_off), strict=True):
            told[what].update(counted)

    for what, address, number in deeds:
        key = AS_COUNTED[address]
        match what:
            case "worked":
                misdeeds.worked(key, number + 0.5)  # the budget has found out already what it counts as
                done[what][key] += number
            case "wrong":
                misdeeds.wrong(address)
                done[what][key] += 1
            case "cut_off":
                misdeeds.cut_off(address)
                done[what][key] += 1
            case _:
                take()
    take()
    assert told == done
    assert misdeeds.take(Counter()) == ({}, {}, {}, {})


def test_of_very_many_addresses_those_that_did_most_are_told() -> None:
    misdeeds = Misdeeds(shared=True)
    for number in range(MOST + 10):
        misdeeds.worked(f"a{number}", number + 1)
    work = misdeeds.take(Counter({f"a{number}": number for number in range(MOST + 5)})).work
    assert len(work) == MOST
    assert min(work.values()) == 11


def test_connections_elsewhere_are_those_that_each_server_told_last() -> None:
    misdeeds = Misdeeds(shared=True)
    assert misdeeds.connections("192.0.2.1") == 0
    misdeeds.told("north", {"192.0.2.1": 2, "192.0.2.2": 1})
    misdeeds.told("south", {"192.0.2.1": 3})
    assert misdeeds.connections("192.0.2.1") == 5
    misdeeds.told("north", {"192.0.2.1": 1})
    assert (misdeeds.connections("192.0.2.1"), misdeeds.connections("192.0.2.2")) == (4, 0)
    misdeeds.forget("south")
    misdeeds.forget("unknown")
    assert misdeeds.connections("192.0.2.1") == 1


@given(st.lists(DEEDS, max_size=10))
def test_a_server_by_itself_counts_nothing_for_others(deeds: list[tuple[str, str, int]]) -> None:
    misdeeds = Misdeeds(shared=False)
    for _, address, number in deeds:
        misdeeds.worked(address, number)
        misdeeds.wrong(address)
        misdeeds.cut_off(address)
    assert misdeeds.take(Counter()) == ({}, {}, {}, {})
