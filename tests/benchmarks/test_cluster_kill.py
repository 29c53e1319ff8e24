"""What the benchmark of deaths says of what it has seen."""

from __future__ import annotations

import argparse

from benchmarks.cluster_kill import percentile, section, took
from testkit.deaths import Death, Report


def test_percentiles_are_values_of_the_list() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([3.0, 1.0, 2.0], 0.99) == 3.0
    assert str(percentile([], 0.5)) == "nan"


def test_only_take_overs_of_matches_count() -> None:
    deaths = [Death("kill", "a", 0, 0.01), Death("kill", "a", 2, 1.5), Death("kill", "a", 2, None)]
    assert took(deaths) == [1.5]


def test_faults_and_take_overs_that_did_not_come_are_told() -> None:
    report = Report([Death("kill", "a", 2, 1.5, [1.0, 2.0]), Death("split", "b", 1, None)])
    report.outcome.faults.append("a move is lost")
    given = argparse.Namespace(servers=3, bots=4, think=1.0, seed=1, kinds=["kill", "split"])
    text = section(report, given, "Measured.")
    assert "| killed with -9 | 1 | 2 | 1.50 | 1.50 | 1.50 | 2.00 | 2.00 |" in text
    assert "*Found:* 1 faults in 0 matches" in text
    assert "; 1 not at all" in text
