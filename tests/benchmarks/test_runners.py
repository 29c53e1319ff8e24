"""What the section on the runner tells of what was measured."""

from __future__ import annotations

from benchmarks.kit.stages import STAGES
from benchmarks.runners import CORES, EQUAL, FASTCHESS, Cost, report

COSTS = {
    FASTCHESS: [Cost(40.0, 88, 0.031, 0.9), Cost(42.0, 88, 0.030, 0.9), Cost(44.0, 88, 0.032, 0.9)],
    EQUAL: [Cost(20.0, 88, 0.1, 0.9), Cost(10.5, 88, 0.2, 0.9), Cost(33.0, 88, 0.3, 0.9)],
    "riskless": [Cost(5.0, 400, 0.2, 0.9), Cost(6.0, 400, 0.14, 0.9), Cost(5.5, 400, 0.1, 0.9)],
    "tictactoe": [Cost(200.0, 5, 0.6, 0.9)] * 3,
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


def test_matches_a_second_that_are_too_few_are_told_with_who_had_the_cores() -> None:
    costs = COSTS | {
        EQUAL: [Cost(10 * CORES, 80, 0.25, 0.9)] * 3,
        FASTCHESS: [Cost(40 * CORES, 80, 0.03, 0.9)] * 3,
    }
    told = report(costs, STAGES_OF, 2, "Today.").splitlines()
    assert told[-3].endswith(
        "*Found:* 0.25 (0.25 to 0.25) ×; of the time of all cores the runner takes 20%, its bots and the kernel 70%, and "
        "for 10% each waits until another has woken up."
    )
    assert (
        f"| {EQUAL} | 80 | {10 * CORES}.0 ({10 * CORES}.0 to {10 * CORES}.0) | {800 * CORES:,} | 0.250 (0.250 to 0.250) | 90%, 20% |"
        in told
    )
