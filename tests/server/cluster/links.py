"""Links of edges and cores over a simulated bus: real link classes between an edge and a shell that only take notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from arena.protocol.messages import Accepted, Hello, Status
from arena.server.cluster.core_link import CoreLink, CoreSuperseded
from arena.server.cluster.edge_link import EdgeLink
from arena.server.core.effects import SendToClient
from arena.server.core.inputs import (
    EDGE_SHIFT,
    ClientAdmitted,
    ClientDisconnected,
    EdgeResynced,
    MessageReceived,
)
from arena.server.ports import AdmissionRequest, EdgePort, MessageToCore, MessageToEdge, RequestResync
from testkit.simulation.bus import SimulatedBus, SimulatedExchange
from testkit.simulation.network import SimulatedNetwork
from testkit.simulation.world import SimulatedProcess, World

T = TypeVar("T")


@contextmanager
def exchanging(seed: int) -> Iterator[SimulatedExchange]:
    """Make an exchange in a world of its own."""
    world = World(seed)
    world.network = SimulatedNetwork(world)
    yield SimulatedExchange(world, stall_probability=0.0)
    world.close()


class NotingEdge:
    """An edge process. Each client that the core has answered is connected."""

    def __init__(self, exchange: SimulatedExchange, number: int) -> None:
        self.number = number
        self.count = 0
        self.process = SimulatedProcess(exchange.world, f"edge {number}")
        self.bus = SimulatedBus(exchange, self.process)
        self.connected: dict[int, Hello] = {}
        self.pending: dict[int, Hello] = {}
        self.told: list[MessageToEdge] = []
        self.link = EdgeLink(
            self.bus, "serve", number, clock=self.process.clock, call_soon=self.process.schedule
        )
        self.link.port = self
        self.process.start(self.link.run())

    def deliver(self, messages: Sequence[MessageToEdge]) -> None:
        for each in messages:
            if isinstance(each, RequestResync):
                clients = [
                    ClientAdmitted(client, hello, "192.0.2.1", "", "")
                    for client, hello in self.connected.items()
                ]
                self.link.submit(EdgeResynced(self.number, clients))
                for client, hello in self.pending.items():
                    self.link.submit(AdmissionRequest(client, hello, "192.0.2.1"))
                continue
            self.told.append(each)
            if isinstance(each, SendToClient) and each.client in self.pending:
                self.connected[each.client] = self.pending.pop(each.client)

    def request(self, name: str) -> int:
        self.count += 1
        client = self.number << EDGE_SHIFT | self.count
        self.pending[client] = Hello(name)
        self.link.submit(AdmissionRequest(client, Hello(name), "192.0.2.1"))
        return client

    def say(self, client: int, number: int) -> None:
        """Say something that can be told apart from all else."""
        self.link.submit(MessageReceived(client, Status(quota=number), self.process.now_ns()))

    def in_sync(self) -> bool:
        return self.link.is_synced

    def heard(self) -> list[int]:
        """Return the plies of the accepted moves that it was told, in order."""
        sent = [each.message for each in self.told if isinstance(each, SendToClient)]
        return [each.ply for each in sent if isinstance(each, Accepted) and each.ply]

    def leave(self, client: int) -> None:
        del self.connected[client]
        self.link.submit(ClientDisconnected(client))


class NotingCore:
    """A core process: it lets everybody in, and keeps what it was given."""

    def __init__(self, exchange: SimulatedExchange, fencing_token: int) -> None:
        self.process = SimulatedProcess(exchange.world, f"core {fencing_token}")
        self.bus = SimulatedBus(exchange, self.process)
        self.given: list[MessageToCore] = []
        self.gone: list[int] = []
        self.ports: dict[int, EdgePort] = {}
        self.clients: set[int] = set()
        self.link = CoreLink(self.bus, "serve", fencing_token, self, clock=self.process.clock)
        self.process.start(self._main())

    async def _main(self) -> None:
        with suppress(CoreSuperseded):
            await self.link.run()

    def attach(self, edge: int, port: EdgePort) -> None:
        self.ports[edge] = port

    def detach(self, edge: int) -> None:
        del self.ports[edge]
        self.gone.append(edge)
        self.clients = {each for each in self.clients if each >> EDGE_SHIFT != edge}

    def submit(self, message: MessageToCore) -> None:
        self.given.append(message)
        match message:
            case AdmissionRequest(client):
                self.clients.add(client)
                self.send(client, 0)
            case ClientDisconnected(client):
                self.clients.discard(client)
            case EdgeResynced(edge, clients):
                self.clients = {each for each in self.clients if each >> EDGE_SHIFT != edge}
                self.clients |= {each.client for each in clients}

    def send(self, client: int, number: int) -> None:
        """Send a client something that can be told apart from all else."""
        self.ports[client >> EDGE_SHIFT].deliver([SendToClient(client, Accepted("m", number, 0.0, 0))])

    def of(self, kind: type[T]) -> list[T]:
        return [each for each in self.given if isinstance(each, kind)]

    def heard(self) -> list[int]:
        """Return the clients' messages in order."""
        messages = [each.message for each in self.of(MessageReceived)]
        return [each.quota for each in messages if isinstance(each, Status) and isinstance(each.quota, int)]
