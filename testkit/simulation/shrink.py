"""Reduction of a failing run, which leaves out faults as long as the run still fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from testkit.simulation.arena import SimulationPlan, SimulationResult, simulate

MAX_RUNS = 40
"""Maximum number of runs for one reduction."""


def generalize_failure(failure: str) -> str:
    """Return a failure without details that differ between runs: names, numbers and ids."""
    return re.sub(r"[0-9a-f]{8,}|[a-z]+-\d+|\d+(\.\d+)*", "…", failure.partition(":")[0])


def reduce_failure(
    failed: SimulationResult, run: Callable[[SimulationPlan], SimulationResult] = simulate
) -> SimulationResult:
    """Return a run of the same seed with the same failure and as few faults as possible."""
    kind, best, runs = generalize_failure(failed.failure), failed, 0

    def still_fails(numbers: Sequence[int]) -> bool:
        nonlocal best, runs
        runs += 1
        result = run(replace(failed.plan, only=tuple(numbers)))
        if generalize_failure(result.failure) != kind:
            return False
        best = result
        return True

    numbers = [each.number for each in failed.faults]
    size = len(numbers) // 2
    while size and runs < MAX_RUNS:
        place = 0
        while place < len(numbers) and runs < MAX_RUNS:
            rest = numbers[:place] + numbers[place + size :]
            if still_fails(rest):
                numbers = rest
            else:
                place += size
        size //= 2
    return best
