"""The parts of the program that the simulation replaces, quickly: its own tests are slow."""

from __future__ import annotations

import pytest

from testkit.simulation.arena import SimulatedArena, SimulationPlan, simulate
from testkit.simulation.planted import PLANTED, planted
from testkit.simulation.servers import in_place


def test_whatever_the_simulation_replaces_is_there() -> None:
    arena = SimulatedArena(SimulationPlan(1, 0, bots=0))
    with in_place(arena):
        pass
    arena.world.close()
    arena.store.close()


@pytest.mark.parametrize("name", PLANTED)
def test_whatever_a_planted_defect_replaces_is_there(name: str) -> None:
    with planted(name):
        pass


def test_an_idle_host_has_little_to_do() -> None:
    """A timer that polls although nothing can have changed would add a step at each of its ticks."""
    outcome = simulate(SimulationPlan(1, 30, bots=0, cluster=False, only=()))
    assert not outcome.failure
    assert outcome.steps / outcome.seconds < 25
