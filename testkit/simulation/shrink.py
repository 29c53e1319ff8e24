"""Reduction of a failing simulation run to a run with fewer injected faults that still fails in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from testkit.simulation.arena import SimulationPlan, SimulationResult, simulate

MAX_RUNS_PER_REDUCTION = 40
"""Maximum number of simulation runs to reduce one failing run."""


def mask_run_specific_words(failure: str) -> str:
    """Return the text of a failure up to its first colon, with each name, number and id replaced by `…`.

    Names, numbers and ids differ from run to run. If this function returns the same text for two runs, they failed in the
    same way.
    """
    return re.sub(r"[0-9a-f]{8,}|[a-z]+-\d+|\d+(\.\d+)*", "…", failure.partition(":")[0])


def reduce_failed_run(
    failed: SimulationResult, run: Callable[[SimulationPlan], SimulationResult] = simulate
) -> SimulationResult:
    """Return a run of the same seed that fails in the same way with fewer faults, or `failed` if none is found.

    The function leaves out halves of the faults, then quarters and so on, in at most MAX_RUNS_PER_REDUCTION calls of `run`.
    """
    failure_kind, best, run_count = mask_run_specific_words(failed.failure), failed, 0

    def still_fails(kept_fault_numbers: Sequence[int]) -> bool:
        nonlocal best, run_count
        run_count += 1
        result = run(replace(failed.plan, included_fault_numbers=tuple(kept_fault_numbers)))
        if mask_run_specific_words(result.failure) != failure_kind:
            return False
        best = result
        return True

    numbers = [fault.number for fault in failed.injected_faults]
    chunk_size = len(numbers) // 2
    while chunk_size and run_count < MAX_RUNS_PER_REDUCTION:
        chunk_start = 0
        while chunk_start < len(numbers) and run_count < MAX_RUNS_PER_REDUCTION:
            rest = numbers[:chunk_start] + numbers[chunk_start + chunk_size :]
            if still_fails(rest):
                numbers = rest
            else:
                chunk_start += chunk_size
        chunk_size //= 2
    return best
