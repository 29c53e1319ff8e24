"""Simulated message bus between edges and cores, in place of NATS.

All processes connect to one broker, which can lose, repeat and delay messages, and cut connections. As with NATS, messages
from one sender to one receiver arrive in order and at most once, unless SimulatedBroker has a fault probability above 0.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from testkit.simulation.world import NS_PER_MS, SimulatedProcess, World

BusMessageHandler = Callable[[bytes], None]

MIN_MESSAGE_LATENCY_NS = NS_PER_MS // 10
"""Shortest latency of a message on the bus, in virtual ns."""


class SimulatedBroker:
    """Simulated message broker, in place of NATS: it passes each message to the subscribers of its subject.

    loss_probability, repeat_probability, reorder_probability: probability that a message is lost, repeated, or delayed so that
        a later message may overtake it
    """

    def __init__(self, world: World, *, stall_probability: float = 0.005) -> None:
        """Create a broker that loses, repeats and reorders nothing.

        stall_probability: probability that the delivery of a message takes up to 150 ms instead of up to 2 ms
        """
        self.world = world
        self.is_unreachable = False
        self.loss_probability = 0.0
        self.repeat_probability = 0.0
        self.reorder_probability = 0.0
        """Probability that a message is delayed by up to 400 ms, so that later messages may overtake it."""
        self.cut_process_names: set[str] = set()
        """Names of the processes whose connections to the broker are cut."""
        self.carried_message_count = 0
        self._stall_probability = stall_probability
        self._subscriptions: dict[str, list[tuple[SimulatedBus, BusMessageHandler]]] = {}
        self._last_arrival_ns_by_route: dict[tuple[str, str], int] = {}
        self._rng = world.make_random_generator("bus")

    @asynccontextmanager
    async def open_bus(self, process: SimulatedProcess) -> AsyncIterator[SimulatedBus]:
        """Connect a process to the broker until the end of the `with` block."""
        try:
            yield SimulatedBus(self, process)
        finally:
            self.drop_subscriptions(process)

    def subscribe(self, bus: SimulatedBus, subject: str, handler: BusMessageHandler) -> None:
        """Pass all later messages of a subject to `handler`, through the connection `bus`."""
        self._subscriptions.setdefault(subject, []).append((bus, handler))

    def drop_subscriptions(self, process: SimulatedProcess) -> None:
        """Drop the subscriptions of a process that has disconnected from the bus."""
        for subject, subscriptions in list(self._subscriptions.items()):
            kept_subscriptions = [
                subscription for subscription in subscriptions if subscription[0].process is not process
            ]
            if kept_subscriptions:
                self._subscriptions[subject] = kept_subscriptions
            else:
                del self._subscriptions[subject]

    def publish(self, sender: SimulatedBus, subject: str, payload: bytes) -> None:
        """Schedule the delivery of a message to each subscriber of the subject.

        Messages are lost, repeated and reordered with the fault probabilities of the broker.
        """
        rng = self._rng
        for receiver, handler in self._subscriptions.get(subject, ()):
            if not self.loss_probability or rng.random() >= self.loss_probability:
                self._deliver_later(sender, receiver, handler, payload)
            while self.repeat_probability and rng.random() < self.repeat_probability:
                self._deliver_later(sender, receiver, handler, payload)

    def _deliver_later(
        self, sender: SimulatedBus, receiver: SimulatedBus, handler: BusMessageHandler, payload: bytes
    ) -> None:
        rng, route = self._rng, (sender.process.name, receiver.process.name)
        latency_ns = (
            rng.randrange(150 * NS_PER_MS)
            if rng.random() < self._stall_probability
            else rng.randrange(2 * NS_PER_MS)
        )
        arrival_ns = max(
            self._last_arrival_ns_by_route.get(route, 0) + 1,
            self.world.now_ns + MIN_MESSAGE_LATENCY_NS + latency_ns,
        )
        if self.reorder_probability and rng.random() < self.reorder_probability:
            arrival_ns += rng.randrange(400 * NS_PER_MS)
        else:
            self._last_arrival_ns_by_route[route] = arrival_ns
        self.carried_message_count += 1
        receiver.process.schedule(lambda: receiver.deliver(handler, payload), arrival_ns)


class SimulatedBus:
    """Connection of one process to the simulated message broker."""

    def __init__(self, broker: SimulatedBroker, process: SimulatedProcess) -> None:
        self.process = process
        self._broker = broker

    @property
    def is_connected(self) -> bool:
        return (
            self.process.is_alive
            and not self._broker.is_unreachable
            and self.process.name not in self._broker.cut_process_names
        )

    def publish(self, subject: str, payload: bytes) -> bool:
        if not self.is_connected:
            return False
        self._broker.publish(self, subject, payload)
        return True

    async def subscribe(self, subject: str, handler: BusMessageHandler) -> None:
        self._broker.subscribe(self, subject, handler)

    def deliver(self, handler: BusMessageHandler, payload: bytes) -> None:
        """Pass a message that has arrived to `handler`. Drop it if the connection is cut."""
        if self.is_connected:
            self._broker.world.add_to_digest(b"bus " + payload)
            handler(payload)
