"""Medians of costs, and the ratio of runs that are neighbours in time."""

from __future__ import annotations

import re

from benchmarks.runners import EQUAL, FASTCHESS, Cost, report

COSTS = {
    FASTCHESS: [Cost(40.0, 88, 0.031, 0.9), Cost(42.0, 88, 0.030, 0.9), Cost(44.0, 88, 0.032, 0.9)],
    EQUAL: [Cost(20.0, 88, 0.1, 0.9), Cost(10.5, 88, 0.2, 0.9), Cost(33.0, 88, 0.3, 0.9)],
    "riskless": [Cost(5.0, 400, 0.2, 0.9), Cost(6.0, 400, 0.14, 0.9), Cost(5.5, 400, 0.1, 0.9)],
    "tictactoe": [Cost(200.0, 5, 0.6, 0.9)] * 3,
}


def test_each_cost_and_the_ratio_of_neighbours_in_time_are_found() -> None:
    found = re.findall(r"\*Found:\* ([0-9.]+ \([0-9.]+ to [0-9.]+\))", report(COSTS, 2, "Today."))
    assert found == ["0.14 (0.10 to 0.20)", "0.60 (0.60 to 0.60)", "0.50 (0.25 to 0.75)"]
