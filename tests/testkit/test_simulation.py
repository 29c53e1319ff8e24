"""The parts of the program that the simulation replaces, quickly: its own tests are slow."""

from __future__ import annotations

import asyncio

import pytest

from arena.server.core.matchmaker import Matchmaker
from testkit.simulation.arena import SimulatedArena, SimulationPlan, simulate
from testkit.simulation.defects import DEFECTS, plant_defect
from testkit.simulation.models import MAX_UNPAIRED_NS, PairingModel
from testkit.simulation.network import PUBLIC_PORT, SimulatedNetwork
from testkit.simulation.servers import patch_servers_environment
from testkit.simulation.world import NS_PER_SECOND, SimulatedProcess, World


def test_whatever_the_simulation_replaces_is_there() -> None:
    arena = SimulatedArena(SimulationPlan(1, 0, bot_count=0))
    with patch_servers_environment(arena):
        pass
    arena.world.close()
    arena.store.close()


@pytest.mark.parametrize("name", DEFECTS)
def test_whatever_a_planted_defect_replaces_is_there(name: str) -> None:
    with plant_defect(name):
        pass


def test_an_idle_host_has_little_to_do() -> None:
    """A timer that polls more often than once a second would add a step at each of its ticks.

    The tasks that read the store once a second take about 30 steps a second.
    """
    outcome = simulate(SimulationPlan(1, 15, bot_count=0, is_cluster=False, included_fault_numbers=()))
    assert not outcome.failure
    assert outcome.executed_call_count / outcome.elapsed_seconds < 35


def test_two_free_bots_are_unpaired_once_both_have_waited_for_too_long() -> None:
    pairing = PairingModel()
    free = {"ada-1": "ada", "ada-2": "ada", "bob-1": "bob"}
    late = MAX_UNPAIRED_NS + 1
    assert pairing.find_unpaired_bots(free, 0) == []
    assert pairing.find_unpaired_bots(free, MAX_UNPAIRED_NS) == []
    assert pairing.find_unpaired_bots(free, late) == list(free)
    assert pairing.find_unpaired_bots({"ada-1": "ada", "ada-2": "ada"}, late) == [], (
        "they have the same owner"
    )
    assert pairing.find_unpaired_bots(free, late) == [], "bob-1 was not free meanwhile"
    assert pairing.find_unpaired_bots(free, 2 * late) == list(free)
    pairing.record_match_start("bob-1")
    assert pairing.find_unpaired_bots(free, 2 * late) == [], "bob-1 has just got a match"


def test_bots_that_the_matchmaker_never_pairs_are_found_even_if_nothing_happens_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Matchmaker, "pair_waiting_bots", lambda _matchmaker, _load: [])
    outcome = simulate(SimulationPlan(1, 20, bot_count=2, included_fault_numbers=()))
    assert outcome.failure == "free bots were not paired: late-1, client-0"


class NotingProtocol(asyncio.Protocol):
    def __init__(self) -> None:
        self.calls: list[str] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.calls.append(f"made, {'closing' if transport.is_closing() else 'open'}")

    def connection_lost(self, exc: Exception | None) -> None:
        self.calls.append(f"lost: {exc}")


def test_a_connection_that_is_reset_before_it_is_accepted_is_made_and_lost() -> None:
    """As by asyncio, which finds the reset when it reads. Otherwise a server would keep such a connection forever."""
    world = World(1)
    world.network = network = SimulatedNetwork(world)
    server, client = SimulatedProcess(world, "server"), SimulatedProcess(world, "client")
    accepted = NotingProtocol()
    network.listen(server, lambda: accepted, PUBLIC_PORT)

    async def connect() -> None:
        await network.connect(client, NotingProtocol, PUBLIC_PORT)
        network.open_connections[1][0].reset()

    client.start(connect())
    world.run_for(NS_PER_SECOND)
    assert accepted.calls == ["made, open", "lost: [Errno 104] Connection reset by peer"]
    assert not network.open_connections
    assert not server.connection_ends
    world.close()
