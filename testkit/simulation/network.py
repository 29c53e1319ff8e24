"""Simulated TCP connections between processes, in memory: ordered bytes, with random latency and backpressure.

A connection can be reset and stalled, and it ends when either of its processes ends. The ports of all servers are on
one address. The public port leads to any running edge, as behind a load balancer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from testkit.simulation.world import NS_PER_MS, SimulatedProcess, World

PUBLIC_PORT = 80
"""Port of a simulated load balancer. Each connection to this port leads to a random running edge (holder of connections)."""
SEND_WINDOW_BYTES = 32 * 1024
"""Size of the TCP window: maximum number of bytes in one direction of a connection that are in transit or unread."""
FIRST_CLIENT_PORT = 40_000
"""Lowest port number of a client's end of a connection, as servers see it."""


class SimulatedNetwork:
    """Network of a simulated world: all listening ports and all open connections."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.connection_count = 0
        self.open_connections: dict[int, tuple[SimulatedTransport, SimulatedTransport]] = {}
        """Open connections by number, each as (client's end, server's end)."""
        self._listeners: dict[int, Listener] = {}
        self._rng = world.make_random_generator("network")

    def listen(self, process: SimulatedProcess, protocol_factory: Callable[[], Any], port: int) -> Listener:
        """Listen on a port, or on any free port if `port` is 0. Several processes may listen on the public port.

        protocol_factory: function that returns the asyncio protocol for each accepted connection
        """
        number = port or len(self._listeners) + 1_000
        key = number if number != PUBLIC_PORT else -len(self._listeners) - 1
        while key in self._listeners:
            key += 1 if key > 0 else -1
        listener = self._listeners[key] = Listener(self, key, process, protocol_factory, number)
        return listener

    def close_listener(self, listener: Listener) -> None:
        """Stop accepting connections on a listener's port."""
        if self._listeners.get(listener.key) is listener:
            del self._listeners[listener.key]

    def close_listeners_of(self, process: SimulatedProcess) -> None:
        """Close all listening ports of a process that has died."""
        for listener in [listener for listener in self._listeners.values() if listener.process is process]:
            self.close_listener(listener)

    def list_listeners(self, port: int) -> list[Listener]:
        """Return the listeners on a port: several if it is the public port, none if nobody listens."""
        return [listener for listener in self._listeners.values() if listener.port == port]

    async def connect(
        self, client_process: SimulatedProcess, protocol_factory: Callable[[], Any], port: int
    ) -> tuple[SimulatedTransport, Any]:
        """Connect `client_process` to a port, and return the client's end and its protocol, made by `protocol_factory`.

        Raises ConnectionRefusedError if no process listens on the port.
        """
        self.connection_count += 1
        number = self.connection_count
        rng = self.world.make_random_generator("connection", client_process.name, self.world.now_ns)
        latency_ns = rng.randrange(200_000, 20 * NS_PER_MS)
        await asyncio.sleep(2 * latency_ns / 1e9)
        listeners = self.list_listeners(port)
        if not listeners:
            raise ConnectionRefusedError(111, "Connection refused")
        listener = rng.choice(listeners)
        client = SimulatedTransport(
            self, number, client_process, rng, latency_ns, (listener.process.address, port)
        )
        server = SimulatedTransport(
            self,
            number,
            listener.process,
            rng,
            latency_ns,
            (client_process.address, FIRST_CLIENT_PORT + number % 20_000),
        )
        client.peer, server.peer = server, client
        self.open_connections[number] = client, server
        client.protocol = protocol = protocol_factory()
        listener.process.schedule(
            lambda: server.accept_connection(listener.protocol_factory), self.world.now_ns + latency_ns
        )
        protocol.connection_made(client)
        return client, protocol


class Listener:
    """Listening port of a process. One object stands both for asyncio's server and for the socket in its `sockets`."""

    def __init__(
        self,
        network: SimulatedNetwork,
        key: int,
        process: SimulatedProcess,
        protocol_factory: Callable[[], Any],
        port: int,
    ) -> None:
        self.key = key
        self.process = process
        self.protocol_factory = protocol_factory
        self.port = port
        self.sockets = [self]
        self._network = network

    async def start_serving(self) -> None:
        pass

    def setsockopt(self, *_given: object) -> None:
        pass

    def getsockname(self) -> tuple[str, int]:
        return (self.process.address, self.port)

    def close(self) -> None:
        self._network.close_listener(self)

    async def wait_closed(self) -> None:
        pass


class SimulatedTransport(asyncio.Transport):
    """One end of a simulated connection, as an asyncio transport."""

    def __init__(
        self,
        network: SimulatedNetwork,
        connection_number: int,
        process: SimulatedProcess,
        rng: Any,
        latency_ns: int,
        peername: tuple[str, int],
    ) -> None:
        super().__init__({"peername": peername, "sockname": (process.address, 0)})
        self.connection_number = connection_number
        self.process = process
        self.peer: SimulatedTransport
        self.protocol: Any = None
        self.held_until_ns = 0
        """Virtual time before which data sent from this end does not arrive, in ns."""
        self.sent_byte_count = 0
        self._network = network
        self._world = network.world
        self._rng = rng
        self._latency_ns = latency_ns
        self._last_arrival_ns = 0
        """Virtual time at which the latest data from this end arrives at the peer, in ns."""
        self._chunk: bytearray | None = None
        """Data of the latest send, at virtual time `_chunk_time_ns`. Data that is sent later at the same time is appended."""
        self._chunk_time_ns = -1
        self._outgoing = bytearray()
        """Data written at this end that waits until the window (of SEND_WINDOW_BYTES) has room for it."""
        self._in_flight_byte_count = 0
        """Number of bytes that this end has sent, but the peer has not yet read."""
        self._unread = bytearray()
        """Data that has arrived from the peer, but that the protocol has not yet received."""
        self._has_unread_eof = False
        self._is_reading_paused = False
        self._is_delivering = False
        self._high_water_bytes, self._low_water_bytes = 64 * 1024, 16 * 1024
        self._is_writing_paused = False
        self._is_eof_requested = False
        """True once nothing more may be written. The end of the stream is sent after the outgoing data."""
        self._has_sent_eof = False
        self._is_closing = False
        self._is_lost = False
        self._early_reset_error: Exception | None = None
        """Error with which the connection was lost before this end had a protocol; None if it was not lost so early."""
        process.connection_ends[self] = None

    # interface of asyncio.Transport

    def write(self, data: Any) -> None:
        if self._is_closing or self._is_eof_requested or not self.process.is_alive or not data:
            return
        self._outgoing += data
        self._send_one_window()
        if len(self._outgoing) > self._high_water_bytes and not self._is_writing_paused:
            self._is_writing_paused = True
            self.protocol.pause_writing()

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def get_write_buffer_size(self) -> int:
        return len(self._outgoing)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._low_water_bytes, self._high_water_bytes

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high_water_bytes = 64 * 1024 if high is None else high
        self._low_water_bytes = self._high_water_bytes // 4 if low is None else low

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if not self._is_eof_requested and not self._is_closing and self.process.is_alive:
            self._is_eof_requested = True
            self._send_one_window()

    def is_closing(self) -> bool:
        return self._is_closing

    def is_reading(self) -> bool:
        return not self._is_reading_paused and not self._is_closing

    def close(self) -> None:
        if self._is_closing or not self.process.is_alive:
            return
        self._is_closing = self._is_eof_requested = True
        self._send_one_window()

    def abort(self) -> None:
        if not self._is_lost and self.process.is_alive:
            self._is_closing = True
            self._outgoing.clear()
            self._reset_peer()
            self._handle_connection_loss(None)

    def pause_reading(self) -> None:
        self._is_reading_paused = True

    def resume_reading(self) -> None:
        if self._is_reading_paused and not self._is_closing:
            self._is_reading_paused = False
            self._world.loop.call_soon(self._deliver_received)

    def get_protocol(self) -> Any:
        return self.protocol

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    # data in transit

    def _send_one_window(self) -> None:
        """Send as much data as the window allows, and the end of the stream once all data was sent."""
        room = SEND_WINDOW_BYTES - self._in_flight_byte_count
        if self._outgoing and room > 0:
            data = self._outgoing[:room]
            del self._outgoing[:room]
            self._in_flight_byte_count += len(data)
            self.sent_byte_count += len(data)
            if self._chunk is not None and self._chunk_time_ns == self._world.now_ns:
                self._chunk += data
            else:
                self._chunk, self._chunk_time_ns = data, self._world.now_ns
                chunk = data
                self.peer.process.schedule(lambda: self.peer.receive(chunk), self._compute_arrival_ns())
        if self._is_eof_requested and not self._outgoing:
            if not self._has_sent_eof:
                self._has_sent_eof = True
                self.peer.process.schedule(self.peer.receive_eof, self._compute_arrival_ns())
            if self._is_closing:
                self._handle_connection_loss(None)

    def _compute_arrival_ns(self) -> int:
        """Return the virtual time at which data sent now arrives, in ns: always after the data sent before."""
        delay_ns = (
            self._rng.randrange(NS_PER_MS)
            if self._rng.random() > 0.01
            else self._rng.randrange(200 * NS_PER_MS)
        )
        arrival = max(
            self._world.now_ns + self._latency_ns + delay_ns, self.held_until_ns, self._last_arrival_ns + 1
        )
        self._last_arrival_ns = arrival
        return arrival  # type: ignore[no-any-return]

    def accept_connection(self, protocol_factory: Callable[[], Any]) -> None:
        """Accept the connection: create the protocol of the server's end, and report the connection to it.

        If the client reset the connection before this call, the protocol is told of the connection and then of its loss,
        as in asyncio.
        """
        self.protocol = protocol_factory()
        self.protocol.connection_made(self)
        if self._early_reset_error is not None:
            self.report_connection_loss(self._early_reset_error)

    def receive(self, data: bytearray) -> None:
        """Receive data from the peer. If this end is closed, drop the data and reset the peer's end."""
        if self._is_lost or self._is_closing:
            self.peer._record_bytes_read(len(data))
            self._reset_peer()
            return
        self._unread += data
        self._deliver_received()

    def receive_eof(self) -> None:
        """Receive the end of the peer's stream, and report it to this end's protocol after all earlier data."""
        if not self._is_lost:
            self._has_unread_eof = True
            self._deliver_received()

    def _deliver_received(self) -> None:
        if self._is_delivering:
            return
        self._is_delivering = True
        try:
            while self._unread and not self._is_reading_paused and not self._is_closing:
                self._deliver_chunk()
            if (
                self._has_unread_eof
                and not self._unread
                and not self._is_reading_paused
                and not self._is_lost
            ):
                self._has_unread_eof = False
                if not self._is_closing and not self.protocol.eof_received():
                    self.close()
        finally:
            self._is_delivering = False

    def _deliver_chunk(self) -> None:
        if isinstance(self.protocol, asyncio.BufferedProtocol):
            buffer = self.protocol.get_buffer(-1)
            chunk = bytes(self._unread[: len(buffer)])  # type: ignore[arg-type]
            del self._unread[: len(chunk)]
            buffer[: len(chunk)] = chunk  # type: ignore[index]
            self._add_chunk_to_digest(chunk)
            self.protocol.buffer_updated(len(chunk))
        else:
            chunk = bytes(self._unread)
            self._unread.clear()
            self._add_chunk_to_digest(chunk)
            self.protocol.data_received(chunk)
        self.peer._record_bytes_read(len(chunk))

    def _add_chunk_to_digest(self, chunk: bytes) -> None:
        if not chunk.startswith(b"GET "):  # the headers of a request name the version of Python
            self._world.add_to_digest(b"%d %d " % (self.connection_number, self.peer.sent_byte_count) + chunk)

    def _record_bytes_read(self, count: int) -> None:
        """Record that the peer has read `count` bytes, which makes room in the window."""
        self._in_flight_byte_count -= count
        if (self._outgoing or self._is_writing_paused) and not self._is_lost:
            self.process.schedule(self._resume_writing, self._world.now_ns + self._latency_ns)

    def _resume_writing(self) -> None:
        if self._is_lost:
            return
        self._send_one_window()
        if self._is_writing_paused and len(self._outgoing) <= self._low_water_bytes:
            self._is_writing_paused = False
            self.protocol.resume_writing()

    # end of the connection

    def close_on_process_death(self) -> None:
        """Close this end because its process has died. The peer sees a connection reset, as with a real operating system."""
        self._is_closing = self._is_lost = True
        self._network.open_connections.pop(self.connection_number, None)
        self.process.connection_ends.pop(self, None)
        self._reset_peer()

    def reset(self) -> None:
        """Reset the connection at both ends, as if a device between them failed."""
        for end in (self, self.peer):
            end.process.schedule(
                lambda end=end: end.report_connection_loss(
                    ConnectionResetError(104, "Connection reset by peer")
                )  # type: ignore[misc]
            )

    def stall_until(self, end_ns: int) -> None:
        """Hold back all data sent from now on, in both directions, until virtual time `end_ns` (ns)."""
        self.held_until_ns = self.peer.held_until_ns = end_ns

    def _reset_peer(self) -> None:
        peer = self.peer
        peer.process.schedule(
            lambda: peer.report_connection_loss(ConnectionResetError(104, "Connection reset by peer")),
            self._compute_arrival_ns(),
        )

    def report_connection_loss(self, error: Exception | None) -> None:
        """Tell the asyncio protocol of this end that the connection is lost. `error`: cause of the loss; None for a regular end."""
        if self.protocol is None:
            self._early_reset_error = error
            return
        self._is_closing = True
        self._handle_connection_loss(error)

    def _handle_connection_loss(self, error: Exception | None) -> None:
        if self._is_lost:
            return
        self._is_lost = True
        self._network.open_connections.pop(self.connection_number, None)
        self.process.connection_ends.pop(self, None)
        self._outgoing.clear()
        self._unread.clear()
        self._world.loop.call_soon(self.protocol.connection_lost, error)
