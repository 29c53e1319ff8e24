"""Simulations of a whole arena: invariants hold under failures, and the simulations find planted defects."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from arena.protocol.codes import EndReason
from testkit.simulation.arena import SimulationPlan, SimulationResult, simulate
from testkit.simulation.defects import DEFECTS, find_failing_seed, plant_defect
from testkit.simulation.shrink import mask_run_specific_words, reduce_failed_run


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_without_failures_no_honest_bot_loses_a_connection_or_forfeits() -> None:
    outcome = simulate(SimulationPlan(1, 20, 12, time_control_index=0, included_fault_numbers=()))
    assert outcome.failure == ""
    assert outcome.match_count > 10
    assert outcome.acknowledged_move_count > 50


def require_invariants(outcome: SimulationResult) -> None:
    assert outcome.failure == "", "\n".join(outcome.event_log)
    assert outcome.fault_counts.total() > 2
    assert outcome.match_count > 5


def test_invariants_hold_on_a_host_under_all_failures() -> None:
    require_invariants(simulate(SimulationPlan(24, 40, 8, time_control_index=0, is_cluster=False)))


def test_a_planted_defect_is_found_and_reduced_to_the_necessary_faults() -> None:
    with plant_defect("suspended-paired"):
        outcome = simulate(SimulationPlan(1, 120, 16))
        assert "got a match while it was suspended" in outcome.failure
        shrunk = reduce_failed_run(outcome)
    assert mask_run_specific_words(shrunk.failure) == mask_run_specific_words(outcome.failure)
    assert shrunk.injected_faults == []


@pytest.mark.slow
def test_a_freeze_of_the_server_voids_matches() -> None:
    outcome = simulate(SimulationPlan(20, 60, included_fault_numbers=(6,)))
    assert outcome.failure == "", "\n".join(outcome.event_log)
    assert outcome.fault_counts == {"server freeze": 1}
    assert outcome.end_reasons[EndReason.SERVER_FAULT] == 3


FIRST_SEED = {
    "second-writer": 19,
    "lease-renewed-by-name": 7,
    "frame-lost": 13,
    "standstill-charged": 5,
    "deadline-first": 2,
    "quota-not-counted": 2,
    "owner-unknown": 2,
    "session-not-kept": 2,
    "answer-forgotten": 7,
}
"""First seed to try for defects that seed 1 finds late or not at all, by the defect's name."""


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_every_planted_defect_is_found(name: str) -> None:
    assert find_failing_seed(name, FIRST_SEED.get(name, 1)).failure


def test_invariants_hold_on_a_cluster_and_the_same_seed_gives_the_same_run_byte_for_byte() -> None:
    code = (
        "from testkit.simulation.arena import SimulationPlan, simulate; import logging; logging.disable(50);"
        "outcome = simulate(SimulationPlan(24, 30, 8, time_control_index=0, is_cluster=True)); print(outcome.digest, outcome.executed_call_count, outcome.failure)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    outcome = simulate(SimulationPlan(24, 30, 8, time_control_index=0, is_cluster=True))
    require_invariants(outcome)
    assert printed == f"{outcome.digest} {outcome.executed_call_count} {outcome.failure}\n"
