"""What the section on the runner tells of what was measured."""

from __future__ import annotations

from benchmarks.kit.stages import STAGES
from benchmarks.runners import EQUAL, FASTCHESS, Cost, report

COSTS = {
    FASTCHESS: [Cost(40.0, 88, 0.031), Cost(42.0, 88, 0.030), Cost(44.0, 88, 0.032)],
    EQUAL: [Cost(20.0, 88, 0.1), Cost(10.5, 88, 0.2), Cost(33.0, 88, 0.3)],
    "riskless": [Cost(5.0, 400, 0.2), Cost(6.0, 400, 0.14), Cost(5.5, 400, 0.1)],
    "tictactoe": [Cost(200.0, 5, 0.6)] * 3,
}


STAGES_OF = {
    "riskless": dict.fromkeys(STAGES, 1.0),
    "tictactoe": dict.fromkeys(STAGES, 0.0) | {"commit": 3.0, "matches": 5.0, "write": 2.0},
}


def test_each_cost_and_the_ratio_of_neighbours_in_time_are_promised_and_found() -> None:
    found = [
        line for line in report(COSTS, STAGES_OF, 2, "Today.").splitlines() if line.startswith("*Promised:*")
    ]
    assert [line.partition("*Found:* ")[2] for line in found] == [
        "0.14 (0.10 to 0.20) ms.",
        "0.60 (0.60 to 0.60) ms; the most goes into matches (50%), commit (30%), write (20%).",
        "0.50 (0.25 to 0.75) ×.",
    ]
