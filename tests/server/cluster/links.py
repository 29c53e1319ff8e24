"""Links of edges and cores over a simulated bus. The links are real; the edges and cores only record messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from arena.protocol.messages import Accepted, Hello, Status
from arena.server.cluster.core_link import CoreSideLink, LeadershipLost
from arena.server.cluster.edge_link import EdgeSideLink
from arena.server.core.effects import SendToClient
from arena.server.core.inputs import (
    EDGE_NUMBER_SHIFT_BITS,
    ClientAdmitted,
    ClientDisconnected,
    EdgeResynced,
    MessageReceived,
)
from arena.server.ports import AdmissionRequest, EdgePort, MessageToCore, MessageToEdge, RequestResync
from testkit.simulation.bus import SimulatedBroker, SimulatedBus
from testkit.simulation.network import SimulatedNetwork
from testkit.simulation.world import SimulatedProcess, World

T = TypeVar("T")


@contextmanager
def open_broker(seed: int) -> Iterator[SimulatedBroker]:
    """Run a simulated broker during the block, in a new simulated world."""
    world = World(seed)
    world.network = SimulatedNetwork(world)
    yield SimulatedBroker(world, stall_probability=0.0)
    world.close()


class RecordingEdge:
    """Edge process that records the messages to its clients. A client is connected once the core has answered its hello."""

    def __init__(self, broker: SimulatedBroker, number: int) -> None:
        self.number = number
        self.count = 0
        self.process = SimulatedProcess(broker.world, f"edge {number}")
        self.bus = SimulatedBus(broker, self.process)
        self.connected: dict[int, Hello] = {}
        self.pending: dict[int, Hello] = {}
        self.delivered: list[MessageToEdge] = []
        self.resync_count = 0
        self.link = EdgeSideLink(
            self.bus, "serve", number, clock=self.process.clock, call_soon=self.process.schedule
        )
        self.link.edge_port = self
        self.process.start(self.link.run())

    def deliver_from_core(self, messages: Sequence[MessageToEdge]) -> None:
        for each in messages:
            if isinstance(each, RequestResync):
                self.resync_count += 1
                clients = [
                    ClientAdmitted(client, hello, "192.0.2.1", "", "")
                    for client, hello in self.connected.items()
                ]
                self.link.submit(EdgeResynced(self.number, clients))
                for client, hello in self.pending.items():
                    self.link.submit(AdmissionRequest(client, hello, "192.0.2.1"))
                continue
            self.delivered.append(each)
            if isinstance(each, SendToClient) and each.client_number in self.pending:
                self.connected[each.client_number] = self.pending.pop(each.client_number)

    def send_hello(self, name: str) -> int:
        """Send the hello of a new client, and return the client's number."""
        self.count += 1
        client = self.number << EDGE_NUMBER_SHIFT_BITS | self.count
        self.pending[client] = Hello(name)
        self.link.submit(AdmissionRequest(client, Hello(name), "192.0.2.1"))
        return client

    def send_status(self, client: int, number: int) -> None:
        """Send a `status` with the quota `number`, by which `RecordingCore.list_received` identifies the message."""
        self.link.submit(MessageReceived(client, Status(quota=number), self.process.now_ns()))

    def is_synced(self) -> bool:
        return self.link.is_synced

    def list_received(self) -> list[int]:
        """Return the plies of the `accepted` messages that the edge has received, in order."""
        sent = [each.message for each in self.delivered if isinstance(each, SendToClient)]
        return [each.ply for each in sent if isinstance(each, Accepted) and each.ply]

    def disconnect(self, client: int) -> None:
        del self.connected[client]
        self.link.submit(ClientDisconnected(client))


class RecordingCore:
    """Core process that admits every client, and records all messages from edges."""

    def __init__(self, broker: SimulatedBroker, fencing_token: int) -> None:
        self.process = SimulatedProcess(broker.world, f"core {fencing_token}")
        self.bus = SimulatedBus(broker, self.process)
        self.submitted: list[MessageToCore] = []
        self.detached_edges: list[int] = []
        self.ports: dict[int, EdgePort] = {}
        self.clients: set[int] = set()
        self.link = CoreSideLink(self.bus, "serve", fencing_token, self, clock=self.process.clock)
        self.process.start(self._main())

    async def _main(self) -> None:
        with suppress(LeadershipLost):
            await self.link.run()

    def attach_edge(self, edge: int, port: EdgePort) -> None:
        self.ports[edge] = port

    def detach_edge(self, edge: int) -> None:
        del self.ports[edge]
        self.detached_edges.append(edge)
        self.clients = {each for each in self.clients if each >> EDGE_NUMBER_SHIFT_BITS != edge}

    def submit(self, message: MessageToCore) -> None:
        self.submitted.append(message)
        match message:
            case AdmissionRequest(client):
                self.clients.add(client)
                self.send_accepted(client, 0)
            case ClientDisconnected(client):
                self.clients.discard(client)
            case EdgeResynced(edge, clients):
                self.clients = {each for each in self.clients if each >> EDGE_NUMBER_SHIFT_BITS != edge}
                self.clients |= {each.client_number for each in clients}

    def send_accepted(self, client: int, number: int) -> None:
        """Send a client an `accepted` with the ply `number`, by which `RecordingEdge.list_received` identifies the message."""
        self.ports[client >> EDGE_NUMBER_SHIFT_BITS].deliver_from_core(
            [SendToClient(client, Accepted("m", number, 0.0, 0))]
        )

    def of(self, kind: type[T]) -> list[T]:
        return [each for each in self.submitted if isinstance(each, kind)]

    def list_received(self) -> list[int]:
        """Return the quotas of the `status` messages that the core has received, in order."""
        messages = [each.message for each in self.of(MessageReceived)]
        return [each.quota for each in messages if isinstance(each, Status) and isinstance(each.quota, int)]
