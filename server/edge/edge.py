"""The edge, the part of the server that holds connections: listening sockets, connections and clients.

The core, which decides matches, knows the clients by their numbers.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
from collections.abc import Callable, Collection, Container, Coroutine, Sequence
from ssl import SSLContext
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.abc

from arena.clock import MONOTONIC_CLOCK, TimeSource
from arena.processes.tasks import open_background_tasks
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import End, ServerMessage
from arena.server.abuse_counter import MAX_ABUSE_REFUSAL_SECONDS
from arena.server.core.effects import CloseClient, PublishToTopic, SendToClient
from arena.server.core.inputs import EDGE_NUMBER_SHIFT_BITS, EdgeResynced
from arena.server.core.limits import ServerLimits
from arena.server.edge.addresses import describe_listen_error
from arena.server.edge.admission import ConnectionAdmission
from arena.server.edge.connection import WEBSOCKET_CLOSE_TIMEOUT_SECONDS, Connection
from arena.server.edge.directives import ActiveDirectives
from arena.server.edge.fair_queue import FairQueue
from arena.server.edge.page_client import PageClient
from arena.server.edge.pings import PING_INTERVAL_SECONDS
from arena.server.edge.responses import PAGE_NOT_FOUND_RESPONSE, PageHandler
from arena.server.edge.session import Session
from arena.server.edge.topics import Topic, encode_server_frame
from arena.server.edge.work_budget import WorkBudget
from arena.server.loop_lag import EventLoopLag
from arena.server.metrics import Metrics
from arena.server.ports import CorePort, MessageToEdge

log = logging.getLogger("arena.connection")

MAX_READ_CHUNK_BYTES = 1024
"""Maximum size of one read from a connection (a chunk), in bytes: a move with its analysis, or 170 of the smallest frames."""
MAX_CHUNK_BYTES_WHILE_CLOSING = 64 * 1024
"""Maximum size of one read from a connection that is ending, in bytes. The bytes are discarded."""
SOCKET_BUFFER_BYTES = 32 * 1024
"""Size of the operating system's send buffer, and of its receive buffer, of each connection. Linux reserves twice as much."""
LISTEN_BACKLOG = 100
"""Maximum number of connections that the operating system queues until the server accepts them."""


class CannotListen(Exception):
    """Raised when the server cannot listen on an address; the one-line message has the address and the reason."""


async def require_usable_address(host: str, port: int, *, reuse_port: bool = False) -> None:
    """Raise CannotListen if no server can listen on `host`:`port`. The arguments are those of `Edge.start_listening`."""
    with anyio.CancelScope(shield=True):
        (await _create_bound_server(asyncio.Protocol, host, port, reuse_port=reuse_port)).close()


async def _create_bound_server(
    make_protocol: Callable[[], asyncio.BaseProtocol],
    host: str,
    port: int,
    *,
    reuse_port: bool,
    **options: Any,
) -> asyncio.Server:
    """Return a server whose sockets are bound to `host`:`port`, but do not listen yet.

    make_protocol  function that makes the protocol of each connection
    options        further arguments for `loop.create_server`

    Raises CannotListen if the address cannot be used.
    """
    if reuse_port:
        options["reuse_port"] = True
    try:
        return await asyncio.get_running_loop().create_server(
            make_protocol, host, port, backlog=LISTEN_BACKLOG, start_serving=False, **options
        )
    except OSError as error:
        raise CannotListen(describe_listen_error(host, port, error)) from None


EdgeClient = Session | PageClient
"""Client of an edge (holder of connections): the session of a websocket, or the internal client of the server's web page."""


class Edge:
    """Listening sockets, connections and clients of one process. An async context manager, which closes them on exit."""

    def __init__(
        self,
        edge_number: int,
        core: CorePort,
        limits: ServerLimits,
        *,
        metrics: Metrics,
        server_program: str,
        proxies: Collection[str] = (),
        abuse_refusal_seconds: float = MAX_ABUSE_REFUSAL_SECONDS,
        allows_any_origin: bool = False,
        rate_exempt_names: Container[str] = frozenset(),
        loop_lag: EventLoopLag,
        is_storing_moves: Callable[[], bool] = lambda: False,
        clock: TimeSource = MONOTONIC_CLOCK,
    ) -> None:
        """Make an edge (holder of connections) that does not listen yet.

        edge_number            number of this edge, which becomes the high bits of its clients' numbers
        core                   part of the server that handles the clients' messages; may be replaced before the edge
                               listens
        server_program         name and version in the `Server` header of responses
        proxies                addresses or networks whose X-Forwarded-For is trusted
        abuse_refusal_seconds  time for which an address with many misbehaving connections is refused
        allows_any_origin      True if browsers may connect from pages of other sites
        rate_exempt_names      names of bots without rate limits: the server's own
        loop_lag               meter of the event loop's lag, shared with a core in this process
        is_storing_moves       function that returns True while this process stores moves; the fair queue then waits a moment
        """
        self.number = edge_number
        self.core = core
        self.limits = limits
        self.page_handler: PageHandler = lambda _request, _address: PAGE_NOT_FOUND_RESPONSE
        """Function that answers requests for web pages. Before it is set, the answer is that there is no such page."""
        self.metrics = metrics
        self.program = server_program
        self.allows_any_origin = allows_any_origin
        self.rate_exempt_names = rate_exempt_names
        self.clock = clock
        self.now_ns = clock.now_ns
        self.work_budget = WorkBudget(limits)
        self.admission = ConnectionAdmission(limits, proxies, clock, abuse_refusal_seconds)
        self.fair_queue = FairQueue(clock, is_storing_moves)
        self.make_session: Callable[[Edge, Connection], Session] = Session
        """Function that makes the session of a websocket. A benchmark that needs only connections replaces it."""
        self.page_client = PageClient(self)
        """Internal client by which the server's web page gets matches in progress and the listing from the server's core."""
        self.read_buffer = memoryview(bytearray(MAX_READ_CHUNK_BYTES))
        """Buffer for the next chunk of input, shared by all connections."""
        self.discard_buffer = memoryview(bytearray(MAX_CHUNK_BYTES_WHILE_CLOSING))
        """Buffer for input that is discarded, shared by all connections."""
        self.connections: set[Connection] = set()
        self._listeners: list[asyncio.Server] = []
        self._clients: dict[int, EdgeClient] = {}
        self._topics: dict[str, Topic] = {}
        self._client_numbers = itertools.count(1)
        self._shared_frame: tuple[ServerMessage | None, bytes] = (None, b"")
        """Last message passed to `encode_shared_frame`, and its frame, to encode the message once for several clients."""
        self._background_tasks = open_background_tasks()
        self._tasks: anyio.abc.TaskGroup
        self._all_closed: anyio.Event | None = None
        """Event (of anyio) that is set when no connection is left; None while `close` does not wait for this."""
        self._is_closed = False
        self.directives = ActiveDirectives()
        """Bans and the notice of the server's operator that are in force now."""
        self.is_cut_off_from_core = False
        """True while the edge receives nothing from any server core. Its clients must then connect through another edge."""
        self.loop_lag = loop_lag
        """Meter of the event loop's delays (stalls). The time of a stall is not charged to the clocks of players."""
        self.loop_lag.add_measurement_condition(lambda: bool(self.connections))

    async def __aenter__(self) -> Self:
        self._tasks = await self._background_tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        with anyio.CancelScope(shield=True):
            await self.close()
        return await self._background_tasks.__aexit__(exception_type, exception, traceback)

    async def start_listening(
        self, host: str, port: int, tls: SSLContext | None = None, *, reuse_port: bool = False
    ) -> tuple[Any, ...]:
        """Accept connections on `host`:`port` (0 means any free port). Return the address of the first socket.

        The address has the IP address, the port, and for IPv6 two more values.

        tls         TLS settings with the server's certificate; None for no TLS
        reuse_port  True to share the port with other processes of this user: the operating system distributes the
                    connections

        Raises CannotListen if the address cannot be used.
        """
        options: dict[str, Any] = {"ssl_handshake_timeout": self.limits.hello_seconds} if tls else {}
        # A cancellation after a socket is bound and before it is stored here would leave it open.
        with anyio.CancelScope(shield=True):
            listener = await _create_bound_server(
                lambda: Connection(self), host, port, reuse_port=reuse_port, ssl=tls, **options
            )
            self._listeners.append(listener)
            for listening_socket in listener.sockets:  # accepted connections inherit these sizes
                listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
                listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER_BYTES)
            await listener.start_serving()
        address: tuple[Any, ...] = next(iter(listener.sockets)).getsockname()
        return address

    async def close(self, reason_code: ErrorCode = ErrorCode.SHUTTING_DOWN) -> None:
        """Stop listening, send all clients the error `reason_code`, and wait a few seconds at most until all connections end.

        Further calls do nothing.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self.admission.close()
        for listener in self._listeners:
            listener.close()
        self.page_client.disconnect_from_core()
        for connection in list(self.connections):
            connection.send_reason_and_close(reason_code)
        with anyio.move_on_after(2 * WEBSOCKET_CLOSE_TIMEOUT_SECONDS):
            while self.connections:
                self._all_closed = anyio.Event()
                await self._all_closed.wait()

    def set_cut_off_from_core(self, *, is_cut_off: bool) -> None:
        """Record whether this edge is cut off from all core processes. If so, disconnect all clients, and admit none meanwhile.

        Plain requests are still answered.
        """
        if is_cut_off and not self.is_cut_off_from_core:
            log.warning("edge %d receives nothing from any core: disconnecting its clients", self.number)
            for connection in list(self.connections):
                if connection.session is not None:
                    connection.send_reason_and_close(ErrorCode.SHUTTING_DOWN)
        elif self.is_cut_off_from_core and not is_cut_off:
            log.warning("edge %d receives messages from a core again, and admits clients", self.number)
        self.is_cut_off_from_core = is_cut_off

    def apply_directives(self, directives: ActiveDirectives) -> None:
        """Apply new directives of the server's operator: disconnect banned clients, and send a new notice to all others."""
        directives_before, self.directives = self.directives, directives
        if directives == directives_before:
            return
        for connection in list(self.connections):
            if connection.session is not None:
                connection.session.apply_directives(
                    is_notice_new=directives.notice != directives_before.notice
                )

    # from the core

    def deliver_from_core(self, messages: Sequence[MessageToEdge]) -> None:
        """Deliver messages from the server's core to clients of this edge, in order. Drop messages for clients that have left.

        A `RequestResync` is for the edge itself, which answers with the list of its clients.
        """
        clients = self._clients
        for message in messages:
            message_type = type(message)
            if message_type is SendToClient:
                client = clients.get(message.client_number)  # type: ignore[union-attr]
                if client is not None:
                    client.send(message)  # type: ignore[arg-type]
            elif message_type is PublishToTopic:
                self._publish_to_topic_followers(message)  # type: ignore[arg-type]
            elif message_type is CloseClient:
                client = clients.get(message.client_number)  # type: ignore[union-attr]
                if client is not None:
                    client.end_session(message.error_code, message.detail)  # type: ignore[union-attr]
            else:
                self.resync_with_core()

    def _publish_to_topic_followers(self, publish: PublishToTopic) -> None:
        topic = self._topics.get(publish.topic_name)
        if topic is None:
            return
        topic.publish_to_followers(publish.message)
        if type(publish.message) is End:
            del self._topics[publish.topic_name]

    def resync_with_core(self) -> None:
        """Send the server's core the list of clients and what they follow, because the core is new or messages were lost."""
        clients = list(self._clients.values())
        admissions = [
            admission for client in clients if (admission := client.make_resync_entry()) is not None
        ]
        self.core.submit(EdgeResynced(self.number, admissions))
        for client in clients:
            client.resubscribe_to_core()

    # called by connections and sessions

    def add_client(self, client: EdgeClient) -> int:
        """Register a client, so that messages are delivered to it, and return its number."""
        number = self.number << EDGE_NUMBER_SHIFT_BITS | next(self._client_numbers)
        self._clients[number] = client
        return number

    def drop_client(self, client_number: int) -> None:
        """Stop delivering messages to a client."""
        self._clients.pop(client_number, None)

    def find_or_add_topic(self, topic_name: str) -> Topic:
        """Return the topic of that name (a match, or the listing of matches, bots …), and create the topic if it is new."""
        topic = self._topics.get(topic_name)
        if topic is None:
            topic = self._topics[topic_name] = Topic(topic_name, self.clock)
        return topic

    def forget_topic_without_followers(self, topic: Topic) -> None:
        """Forget a topic (a match, or the listing) if no client of this edge follows the topic any more."""
        if not len(topic) and self._topics.get(topic.name) is topic:
            del self._topics[topic.name]

    def encode_shared_frame(self, message: ServerMessage) -> bytes:
        """Return a message encoded as a websocket frame.

        If several clients get the same message in succession, the message is encoded only once.
        """
        if self._shared_frame[0] is not message:
            self._shared_frame = message, encode_server_frame(message)
        return self._shared_frame[1]

    def compute_first_ping_delay_s(self) -> float:
        """Return the time until a new connection's first ping, in seconds.

        The time differs between connections. Otherwise, clients that connect together would also be pinged together.
        """
        return PING_INTERVAL_SECONDS * (0.5 + 0.61803 * len(self.connections) % 0.5)

    def add_connection(self, connection: Connection) -> None:
        self.connections.add(connection)
        self.loop_lag.start_measuring()

    def remove_connection(self, connection: Connection) -> None:
        self.connections.discard(connection)
        if self._all_closed is not None and not self.connections:
            self._all_closed.set()

    def start_soon(self, job: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        """Run a job of a connection in a task of its own. An exception is logged, and affects no other connection."""
        self._tasks.start_soon(self._run_job_and_log_errors, job, *arguments)

    @staticmethod
    async def _run_job_and_log_errors(
        job: Callable[..., Coroutine[Any, Any, None]], *arguments: object
    ) -> None:
        try:
            await job(*arguments)
        except Exception:
            log.exception("a connection failed")
