"""The link of edges and cores over a bus that loses, repeats, delays and is cut, on a virtual clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena.protocol.messages import Move
from arena.server.cluster.edge_link import MAX_RESEND_AGE_NS, MAX_RESENT_MESSAGES
from arena.server.cluster.frames import HEARTBEAT_NS, MAX_SILENCE_NS, make_core_subject, make_edge_subject
from arena.server.core.inputs import EdgeResynced, MessageReceived, TurnSent
from arena.server.ports import RequestResync
from testkit.simulation.bus import SimulatedExchange
from testkit.simulation.world import MS, SECOND
from tests.properties import seeds
from tests.server.cluster.links import NotingCore, NotingEdge, exchanging

SETTLED_NS = 2 * SECOND


@pytest.fixture
def exchange() -> Iterator[SimulatedExchange]:
    with exchanging(1) as exchange:
        yield exchange


def synced_pair(exchange: SimulatedExchange, number: int = 5) -> tuple[NotingEdge, NotingCore, int]:
    """Return an edge in sync with a core, and a client there."""
    core, edge = NotingCore(exchange, fencing_token=1), NotingEdge(exchange, number)
    exchange.world.run_for(SECOND)
    client = edge.request("anna")
    exchange.world.run_for(SECOND)
    assert edge.in_sync()
    assert client in core.clients
    return edge, core, client


def test_messages_cross_in_order_both_ways_within_milliseconds(exchange: SimulatedExchange) -> None:
    edge, core, client = synced_pair(exchange)
    for number in range(1, 50):
        edge.say(client, number)
        core.send(client, number)
    exchange.world.run_for(3 * MS)
    assert core.heard() == list(range(1, 50))
    assert edge.heard() == list(range(1, 50))
    assert edge.link.resync_count == 1


def test_messages_given_together_are_sent_in_one_frame(exchange: SimulatedExchange) -> None:
    edge, _, client = synced_pair(exchange)
    carried = exchange.carried
    for number in range(50):
        edge.say(client, number)
    exchange.world.run_for(3 * MS)
    assert exchange.carried == carried + 1


def test_times_are_those_of_the_cores_clock(exchange: SimulatedExchange) -> None:
    edge, core, client = synced_pair(exchange)
    edge.link.submit(MessageReceived(client, Move("m", 3, 1), edge.process.now_ns(), elapsed_ns=77))
    edge.link.submit(TurnSent(client, "m", 3, edge.process.now_ns(), lag=9))
    before = core.process.now_ns()
    exchange.world.run_for(3 * MS)
    (said,), (sent,) = core.of(MessageReceived), core.of(TurnSent)
    assert before <= said.at <= before + 3 * MS
    assert (said.elapsed_ns, sent.lag) == (77, 9)
    assert before <= sent.at <= before + 3 * MS


@pytest.mark.parametrize("seed", seeds(20))
def test_after_any_losses_repeats_and_delays_both_sides_agree_who_is_connected(seed: int) -> None:
    with exchanging(seed) as exchange:
        lose_repeat_and_delay(exchange)


def lose_repeat_and_delay(exchange: SimulatedExchange) -> None:
    dice = exchange.world.random_generator("test")
    core, edges = (
        NotingCore(exchange, fencing_token=1),
        [NotingEdge(exchange, number) for number in (3, 4, 5)],
    )
    exchange.world.run_for(SECOND)
    exchange.loss, exchange.repeats, exchange.reorderings = 0.1, 0.1, 0.1
    for step in range(300):
        edge = dice.choice(edges)
        match dice.randrange(4):
            case 0:
                edge.request(f"bot {step}")
            case 1 if edge.connected:
                edge.leave(dice.choice(list(edge.connected)))
            case _ if edge.connected:
                client = dice.choice(list(edge.connected))
                edge.say(client, step)
                if client in core.clients:
                    core.send(client, step + 1)
        exchange.world.run_for(dice.randrange(30 * MS))
    exchange.loss = exchange.repeats = exchange.reorderings = 0.0
    exchange.world.run_for(SETTLED_NS)
    for edge in edges:
        assert not edge.pending, "each request is answered in the end"
    assert core.clients == {client for edge in edges for client in edge.connected}
    assert not core.link.loss_reason
    counts = [edge.link.resync_count for edge in edges]
    exchange.world.run_for(10 * SECOND)
    assert counts == [edge.link.resync_count for edge in edges], "a quiet link stays in sync"


def test_a_silent_edge_is_gone_and_comes_back(exchange: SimulatedExchange) -> None:
    edge, core, client = synced_pair(exchange)
    other = NotingEdge(exchange, 6)
    exchange.world.run_for(SECOND)
    exchange.cut.add("edge 5")
    exchange.world.run_for(MAX_SILENCE_NS + 2 * HEARTBEAT_NS)
    assert core.gone == [5]
    assert client not in core.clients
    assert other.in_sync()
    assert not edge.in_sync()
    edge.say(client, 1)
    exchange.cut.clear()
    exchange.world.run_for(SECOND)
    assert client in core.clients
    assert edge.in_sync()
    assert core.heard() == [1]


def test_a_core_that_cannot_hear_the_bus_gives_up_and_takes_no_edge_for_gone(
    exchange: SimulatedExchange,
) -> None:
    edge, core, client = synced_pair(exchange)
    exchange.cut.add("core 1")
    exchange.world.run_for(MAX_SILENCE_NS + 2 * HEARTBEAT_NS)
    assert core.link.loss_reason == "the bus is unavailable"
    assert not core.gone
    new = NotingCore(exchange, fencing_token=2)
    exchange.world.run_for(SECOND)
    assert client in new.clients
    assert edge.in_sync()


def test_held_messages_are_bounded_in_number_and_time(exchange: SimulatedExchange) -> None:
    edge, core, client = synced_pair(exchange)
    core.process.kill()
    exchange.world.run_for(MAX_SILENCE_NS + 2 * HEARTBEAT_NS)
    edge.say(client, 1)
    exchange.world.run_for(MAX_RESEND_AGE_NS)
    for number in range(MAX_RESENT_MESSAGES + 10):
        edge.say(client, number)
    new = NotingCore(exchange, fencing_token=2)
    exchange.world.run_for(SECOND)
    assert new.heard() == list(range(10, MAX_RESENT_MESSAGES + 10))


def test_a_list_larger_than_a_message_may_be_crosses_in_pieces(exchange: SimulatedExchange) -> None:
    edge, core, _ = synced_pair(exchange)
    for number in range(12_000):
        edge.request(f"a bot with a long name {number:>40}")
    exchange.world.run_for(SECOND)
    assert len(edge.connected) == 12_001
    carried = exchange.carried
    core.process.kill()
    new = NotingCore(exchange, fencing_token=2)
    exchange.world.run_for(HEARTBEAT_NS + 10 * MS)
    (here,) = new.of(EdgeResynced)
    assert len(here.clients) == 12_001
    assert new.clients == core.clients
    assert exchange.carried - carried < 20


def test_a_core_that_was_built_anew_asks_every_edge_and_is_told_again(exchange: SimulatedExchange) -> None:
    edge, core, client = synced_pair(exchange)
    edge.say(client, 1)
    exchange.world.run_for(SECOND)
    for port in core.ports.values():
        port.deliver([RequestResync()])
    edge.say(client, 2)
    exchange.world.run_for(SECOND)
    assert len(core.of(EdgeResynced)) == 2
    assert core.heard() == [1, 2, 1, 2], "what it had taken in is lost with what it was before"


def test_nothing_that_no_frame_is_harms_anybody(exchange: SimulatedExchange) -> None:
    edge, core, client = synced_pair(exchange)
    for noise in (b"", b"\x00", b"\x96\x01\x01\x01\x00\xc2\xc4\x01\xff", bytes(range(256))):
        edge.link.receive(noise)
        core.link.receive(noise)
    exchange.world.run_for(SECOND)
    assert edge.in_sync()
    assert client in core.clients


def test_shards_do_not_hear_each_other() -> None:
    names = ["", "-", "a", "a.b", "a b", "ä", "a_2e_b", "A", "*", ">"]
    assert len({make_core_subject(name) for name in names}) == len(names)
    assert all(
        " " not in make_core_subject(name) and make_core_subject(name).count(".") == 2 for name in names
    )
    assert make_edge_subject("one", 7) == "arena.one.edge.7"
