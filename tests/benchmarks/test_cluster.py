"""What the benchmark of an arena's costs says of what it has measured."""

from __future__ import annotations

import argparse

from benchmarks.cluster import ALONE, LOCAL, POOLS, REMOTE, Cost, Used, section


def cost(servers: float, **other: float) -> Cost:
    known = {"postgresql": 50.0, "nats": 10.0, "idle_servers": 5.0, "rate": 100.0, "p50": 2.0, "p99": 9.0}
    return Cost(servers, **{**known, "away": 1.0, **other}, errors=0)


def test_ratios_are_of_one_round_and_told_as_their_median() -> None:
    costs = {
        ALONE.what: [cost(100), cost(200), cost(300)],
        LOCAL.what: [cost(110), cost(200), cost(360)],
        REMOTE.what: [cost(200), cost(400), cost(900)],
        POOLS[-1].what: [cost(500), cost(500), cost(500)],
    }
    given = argparse.Namespace(bots=40, rate=100.0, rounds=3, seconds=5.0)
    text = section(costs, given, "Measured.")
    assert "*Found:* 1.10 × (1.00 to 1.20)." in text
    assert "*Found:* 2.00 × (2.00 to 3.00)." in text


def test_what_was_used_is_a_difference() -> None:
    assert Used(5.0, 3.0, 1.0).since(Used(1.0, 1.0, 0.5)) == Used(4.0, 2.0, 0.5)
