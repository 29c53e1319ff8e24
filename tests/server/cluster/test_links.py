"""Links between edges and cores on a virtual clock, over a bus that loses, repeats and delays frames."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena.protocol.messages import Move
from arena.server.cluster.edge_link import MAX_RESENDABLE_MESSAGE_AGE_NS, MAX_RESENDABLE_MESSAGES
from arena.server.cluster.frames import (
    HEARTBEAT_INTERVAL_NS,
    MAX_SILENCE_BEFORE_LOSS_NS,
    make_core_subject,
    make_edge_subject,
)
from arena.server.core.inputs import EdgeResynced, MessageReceived, TurnSent
from arena.server.ports import RequestResync
from testkit.simulation.bus import SimulatedBroker
from testkit.simulation.world import NS_PER_MS, NS_PER_SECOND
from tests.properties import seeds
from tests.server.cluster.links import RecordingCore, RecordingEdge, open_broker

SETTLED_NS = 2 * NS_PER_SECOND


@pytest.fixture
def broker() -> Iterator[SimulatedBroker]:
    with open_broker(1) as broker:
        yield broker


def synced_pair(broker: SimulatedBroker, number: int = 5) -> tuple[RecordingEdge, RecordingCore, int]:
    """Return an edge and a core that are in sync, and the number of a connected client."""
    core, edge = RecordingCore(broker, fencing_token=1), RecordingEdge(broker, number)
    broker.world.run_for(NS_PER_SECOND)
    client = edge.send_hello("anna")
    broker.world.run_for(NS_PER_SECOND)
    assert edge.is_synced()
    assert client in core.clients
    return edge, core, client


def test_messages_cross_in_order_both_ways_within_milliseconds(broker: SimulatedBroker) -> None:
    edge, core, client = synced_pair(broker)
    for number in range(1, 50):
        edge.send_status(client, number)
        core.send_accepted(client, number)
    broker.world.run_for(3 * NS_PER_MS)
    assert core.list_received() == list(range(1, 50))
    assert edge.list_received() == list(range(1, 50))
    assert edge.resync_count == 1


def test_messages_submitted_together_are_sent_in_one_frame(broker: SimulatedBroker) -> None:
    edge, _, client = synced_pair(broker)
    carried = broker.carried_message_count
    for number in range(50):
        edge.send_status(client, number)
    broker.world.run_for(3 * NS_PER_MS)
    assert broker.carried_message_count == carried + 1


def test_arrival_times_are_times_of_the_cores_clock(broker: SimulatedBroker) -> None:
    edge, core, client = synced_pair(broker)
    edge.link.submit(MessageReceived(client, Move("m", 3, 1), edge.process.now_ns(), elapsed_ns=77))
    edge.link.submit(TurnSent(client, "m", 3, edge.process.now_ns(), min_round_trip_ns=9))
    before = core.process.now_ns()
    broker.world.run_for(3 * NS_PER_MS)
    (said,), (sent,) = core.of(MessageReceived), core.of(TurnSent)
    assert before <= said.arrived_ns <= before + 3 * NS_PER_MS
    assert (said.elapsed_ns, sent.min_round_trip_ns) == (77, 9)
    assert before <= sent.sent_ns <= before + 3 * NS_PER_MS


@pytest.mark.parametrize("seed", seeds(20))
def test_both_sides_agree_on_the_clients_after_losses_repeats_and_delays(seed: int) -> None:
    with open_broker(seed) as broker:
        lose_repeat_and_delay(broker)


def lose_repeat_and_delay(broker: SimulatedBroker) -> None:
    dice = broker.world.make_random_generator("test")
    core, edges = (
        RecordingCore(broker, fencing_token=1),
        [RecordingEdge(broker, number) for number in (3, 4, 5)],
    )
    broker.world.run_for(NS_PER_SECOND)
    broker.loss_probability, broker.repeat_probability, broker.reorder_probability = 0.1, 0.1, 0.1
    for step in range(300):
        edge = dice.choice(edges)
        match dice.randrange(4):
            case 0:
                edge.send_hello(f"bot {step}")
            case 1 if edge.connected:
                edge.disconnect(dice.choice(list(edge.connected)))
            case _ if edge.connected:
                client = dice.choice(list(edge.connected))
                edge.send_status(client, step)
                if client in core.clients:
                    core.send_accepted(client, step + 1)
        broker.world.run_for(dice.randrange(30 * NS_PER_MS))
    broker.loss_probability = broker.repeat_probability = broker.reorder_probability = 0.0
    broker.world.run_for(SETTLED_NS)
    for edge in edges:
        assert not edge.pending, "each hello is answered in the end"
    assert core.clients == {client for edge in edges for client in edge.connected}
    assert not core.link.leadership_loss_reason
    counts = [edge.resync_count for edge in edges]
    broker.world.run_for(10 * NS_PER_SECOND)
    assert counts == [edge.resync_count for edge in edges], "a quiet link stays in sync"


def test_a_silent_edge_counts_as_lost_until_it_is_heard_again(broker: SimulatedBroker) -> None:
    edge, core, client = synced_pair(broker)
    other = RecordingEdge(broker, 6)
    broker.world.run_for(NS_PER_SECOND)
    broker.cut_process_names.add("edge 5")
    broker.world.run_for(MAX_SILENCE_BEFORE_LOSS_NS + 2 * HEARTBEAT_INTERVAL_NS)
    assert core.detached_edges == [5]
    assert client not in core.clients
    assert other.is_synced()
    assert not edge.is_synced()
    edge.send_status(client, 1)
    broker.cut_process_names.clear()
    broker.world.run_for(NS_PER_SECOND)
    assert client in core.clients
    assert edge.is_synced()
    assert core.list_received() == [1]


def test_a_core_without_the_bus_stops_leading_and_detaches_no_edge(
    broker: SimulatedBroker,
) -> None:
    edge, core, client = synced_pair(broker)
    broker.cut_process_names.add("core 1")
    broker.world.run_for(MAX_SILENCE_BEFORE_LOSS_NS + 2 * HEARTBEAT_INTERVAL_NS)
    assert core.link.leadership_loss_reason == "the bus is unavailable"
    assert not core.detached_edges
    new = RecordingCore(broker, fencing_token=2)
    broker.world.run_for(NS_PER_SECOND)
    assert client in new.clients
    assert edge.is_synced()


def test_messages_held_for_a_core_are_limited_in_number_and_age(broker: SimulatedBroker) -> None:
    edge, core, client = synced_pair(broker)
    core.process.kill()
    broker.world.run_for(MAX_SILENCE_BEFORE_LOSS_NS + 2 * HEARTBEAT_INTERVAL_NS)
    edge.send_status(client, 1)
    broker.world.run_for(MAX_RESENDABLE_MESSAGE_AGE_NS)
    for number in range(MAX_RESENDABLE_MESSAGES + 10):
        edge.send_status(client, number)
    new = RecordingCore(broker, fencing_token=2)
    broker.world.run_for(NS_PER_SECOND)
    assert new.list_received() == list(range(10, MAX_RESENDABLE_MESSAGES + 10))


def test_a_list_of_messages_larger_than_a_frame_is_split(broker: SimulatedBroker) -> None:
    edge, core, _ = synced_pair(broker)
    for number in range(12_000):
        edge.send_hello(f"a bot with a long name {number:>40}")
    broker.world.run_for(NS_PER_SECOND)
    assert len(edge.connected) == 12_001
    carried = broker.carried_message_count
    core.process.kill()
    new = RecordingCore(broker, fencing_token=2)
    broker.world.run_for(HEARTBEAT_INTERVAL_NS + 10 * NS_PER_MS)
    (here,) = new.of(EdgeResynced)
    assert len(here.clients) == 12_001
    assert new.clients == core.clients
    assert broker.carried_message_count - carried < 20


def test_a_rebuilt_core_gets_the_clients_and_recent_messages_of_each_edge_again(
    broker: SimulatedBroker,
) -> None:
    edge, core, client = synced_pair(broker)
    edge.send_status(client, 1)
    broker.world.run_for(NS_PER_SECOND)
    for port in core.ports.values():
        port.deliver_from_core([RequestResync()])
    edge.send_status(client, 2)
    broker.world.run_for(NS_PER_SECOND)
    assert len(core.of(EdgeResynced)) == 2
    assert core.list_received() == [1, 2, 1, 2], (
        "the new core gets again the messages that only the old one had"
    )


def test_invalid_frames_are_dropped(broker: SimulatedBroker) -> None:
    edge, core, client = synced_pair(broker)
    for noise in (b"", b"\x00", b"\x96\x01\x01\x01\x00\xc2\xc4\x01\xff", bytes(range(256))):
        edge.link.receive_frame(noise)
        core.link.receive_frame(noise)
    broker.world.run_for(NS_PER_SECOND)
    assert edge.is_synced()
    assert client in core.clients


def test_each_shard_has_its_own_subjects() -> None:
    names = ["", "-", "a", "a.b", "a b", "ä", "a_2e_b", "A", "*", ">"]
    assert len({make_core_subject(name) for name in names}) == len(names)
    assert all(
        " " not in make_core_subject(name) and make_core_subject(name).count(".") == 2 for name in names
    )
    assert make_edge_subject("one", 7) == "arena.one.edge.7"
