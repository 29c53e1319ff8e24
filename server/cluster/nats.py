"""Message bus over NATS. After each loss of the connection, it opens a new one with a new NATS client.

The NATS client could reconnect by itself, but this has three drawbacks. On some errors, the client gives up for good.
Before it reconnects, it waits until written data are sent: a quarter of an hour if a cable is cut. After it has
reconnected, it sends the old messages, which are outdated by then.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from arena.clock import MONOTONIC_CLOCK
from arena.processes.tasks import open_background_tasks
from arena.server.cluster.address import NatsOptions, parse_bus_url
from arena.server.cluster.bus import MAX_PAYLOAD_BYTES, BusError, PayloadHandler
from arena.server.cluster.tls import TlsContext

log = logging.getLogger("arena.bus")

NATS_CONNECT_TIMEOUT_SECONDS = 2
"""Timeout for connecting to one NATS server, in seconds. Connecting and subscribing together may take twice as long."""
NATS_FLUSH_TIMEOUT_SECONDS = 1
"""Timeout for the answer with which NATS confirms that it has received all messages sent so far, in seconds."""
NATS_CHECK_TIMEOUT_SECONDS = 0.5
"""Seconds within which the test message of a connection check must come back; also the pause between two checks."""
MAX_FAILED_NATS_CHECKS = 4
"""Number of consecutive checks without an answer after which NATS counts as unavailable.

A single missing answer may only mean that this process was suspended for a moment.
"""
NATS_RECONNECT_PAUSE_SECONDS = 0.25
"""Pause between attempts to reconnect, in seconds."""
NATS_CLOSE_TIMEOUT_SECONDS = 1
"""Timeout, in seconds, of each of the two steps in which the bus closes: send the queued messages, close the NATS client."""
MAX_QUEUED_BUS_BYTES = 16 << 20
"""Maximum number of bytes in the messages queued for sending, and in the queue of each subscription."""
MAX_QUEUED_BUS_MESSAGES = 65_536
"""Maximum number of messages queued for sending, and in the queue of each subscription."""
MAX_UNSENT_NATS_CLIENT_BYTES = 2 << 20
"""Number of unsent bytes in the NATS client above which no further messages are passed to it.

With many more unsent bytes, each call of the client would wait up to a second for the NATS server, also a call that checks
whether the connection is lost.
"""
FULL_NATS_CLIENT_PAUSE_SECONDS = 0.01
"""Pause before checking again whether the NATS client still has more than MAX_UNSENT_NATS_CLIENT_BYTES unsent, in seconds."""
TLS_NOT_OFFERED_REASON = "it offers no TLS, and nothing may be sent to it unencrypted"
"""Reason for not using a NATS server whose URL requires TLS."""
NATS_CLIENT_ERRORS = (nats.errors.Error, OSError)
"""Exceptions by which calls inside `_nats_client_errors_as_connection_errors` report that NATS is lost or cannot be reached."""


class _NatsClient(Client):
    """NATS client that drops its unsent data when it closes.

    The library's client tries to send the data before it closes. If the connection is lost, this fails, and if NATS hangs,
    it waits. In both cases, the tasks that the client runs for its subscriptions never end.
    """

    async def _close(self, status: int, do_cbs: bool = True) -> None:  # noqa: FBT001, FBT002  signature of the library
        self._pending = []
        self._pending_data_size = 0
        await super()._close(status, do_cbs)


@contextmanager
def _nats_client_errors_as_connection_errors() -> Iterator[None]:
    """Raise ConnectionError in place of a RuntimeError or a ValueError with which the NATS client reports a lost connection.

    uvloop raises RuntimeError for a write to a lost connection. The client raises ValueError if the connection is lost
    within the first line that NATS sends. The block must contain only calls of the client, because such an exception of
    other code is a bug.
    """
    try:
        yield
    except OSError:
        raise  # ssl.SSLCertVerificationError is a ValueError too
    except (RuntimeError, ValueError) as error:
        raise ConnectionError(f"the connection to the NATS server was lost ({error})") from error


class _NatsConnection:
    """One connection to NATS, from its opening to its loss."""

    def __init__(self) -> None:
        self.client = _NatsClient()
        self.lost = anyio.Event()
        self.loss_reason = "NATS has closed the connection"
        self.last_error: Exception | None = None

    def mark_lost(self, reason: str) -> None:
        """Mark the connection as lost. `reason`: reason for the server's log; ignored if the connection is lost already."""
        if not self.lost.is_set():
            self.loss_reason = reason
            self.lost.set()

    async def record_error(self, error: Exception) -> None:
        """Store the last error of the NATS client as a possible reason for a loss, and log it if the client is connected."""
        if self.client.is_connected:
            log.warning("NATS: %s", describe_nats_error(error))
        self.last_error = error

    async def record_close(self) -> None:
        """Mark the connection as lost. The NATS client calls this when it has closed the connection."""
        self.mark_lost(describe_nats_error(self.last_error) if self.last_error else self.loss_reason)

    async def subscribe(self, subject: str, handler: PayloadHandler) -> None:
        """Pass the messages on a subject to `handler`. Raises an exception of NATS_CLIENT_ERRORS if NATS cannot be reached."""

        async def pass_payload_to_handler(message: Msg) -> None:
            try:
                handler(message.data)
            except Exception:
                log.exception("a message on %s was not handled", subject)

        with _nats_client_errors_as_connection_errors():
            await self.client.subscribe(
                subject,
                cb=pass_payload_to_handler,
                pending_msgs_limit=MAX_QUEUED_BUS_MESSAGES,
                pending_bytes_limit=MAX_QUEUED_BUS_BYTES,
            )

    async def flush_to_server(self) -> None:
        """Wait until NATS has received all earlier messages. Raises an exception of NATS_CLIENT_ERRORS if NATS cannot be reached."""
        if not await self.does_respond_within(NATS_FLUSH_TIMEOUT_SECONDS):
            raise TimeoutError

    async def does_respond_within(self, timeout_seconds: float) -> bool:
        """Send a test message to NATS, which returns it over this connection. Return False if it is not back in time.

        Raises an exception of NATS_CLIENT_ERRORS if NATS cannot be reached.
        """
        # The client's `flush` breaks its reader if the pong arrives after the timeout. A callback would need a client
        # task, which is left behind if the connection breaks while it is being closed.
        with _nats_client_errors_as_connection_errors():
            subscription = await self.client.subscribe(self.client.new_inbox())
            try:
                with anyio.fail_after(timeout_seconds):
                    await self.client.publish(subscription.subject, b"")
                    await subscription.next_msg(timeout_seconds)
            except TimeoutError:
                return False
            finally:
                await subscription.unsubscribe()
            return True

    async def close_client(self) -> None:
        """Close the NATS client of this connection, within NATS_CLOSE_TIMEOUT_SECONDS."""
        with anyio.move_on_after(NATS_CLOSE_TIMEOUT_SECONDS, shield=True):
            await self.client.close()


class NatsBus:
    """Message bus (`Bus`) over NATS. Use `open_nats_bus` to open one."""

    def __init__(self, options: NatsOptions, tls_context: TlsContext, connection_name: str) -> None:
        """Prepare a bus without connecting it.

        tls_context: TLS context for all connections
        connection_name: name of the connection, which NATS shows to its administrator
        """
        self._options = options
        self._tls_context = tls_context
        self._name = connection_name
        self._connection: _NatsConnection | None = None
        self._subscriptions: list[tuple[str, PayloadHandler]] = []
        self._outgoing_messages: deque[tuple[str, bytes]] = deque()
        self._queued_bytes = 0
        self._message_queued = asyncio.Event()

    @property
    def is_connected(self) -> bool:
        """True while the connection is open, as far as this process knows."""
        return self._connection is not None

    def publish(self, subject: str, payload: bytes) -> bool:
        if (
            self._connection is None
            or len(self._outgoing_messages) >= MAX_QUEUED_BUS_MESSAGES
            or self._queued_bytes + len(payload) > MAX_QUEUED_BUS_BYTES
        ):
            return False
        self._outgoing_messages.append((subject, payload))
        self._queued_bytes += len(payload)
        self._message_queued.set()
        return True

    async def subscribe(self, subject: str, handler: PayloadHandler) -> None:
        self._subscriptions.append((subject, handler))
        connection = self._connection
        if connection is not None:
            try:
                await connection.subscribe(subject, handler)
                await connection.flush_to_server()
            except NATS_CLIENT_ERRORS as error:
                connection.mark_lost(describe_nats_error(error))

    async def open_first_connection(self) -> None:
        """Open the first connection. Raises BusError if no server accepts the connection."""
        self._connection = await self._connect_to_first_usable_server()

    async def maintain_connection(self) -> None:
        """Maintain the connection, and reconnect after each loss, until cancelled."""
        while True:
            if self._connection is not None:
                await self._use_connection_until_lost(self._connection)
            await self._reconnect_until_connected()

    async def close(self) -> None:
        """Send the queued messages within NATS_CLOSE_TIMEOUT_SECONDS, and close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with anyio.move_on_after(NATS_CLOSE_TIMEOUT_SECONDS, shield=True):
                try:
                    await self._forward_queued_messages(connection)
                    await connection.flush_to_server()
                except NATS_CLIENT_ERRORS as error:
                    log.info(
                        "the bus was closed before all messages were sent: %s", describe_nats_error(error)
                    )
            await connection.close_client()

    async def _connect_to_first_usable_server(self) -> _NatsConnection:
        """Return a connection to the first usable server. Raises BusError if none is usable, with the error of the last one."""
        for server_url in self._options.server_urls:
            connection = _NatsConnection()
            why = await self._try_to_connect_and_subscribe(connection, server_url)
            if why is None:
                return connection
            await connection.close_client()
        raise BusError(f"cannot use the NATS server at {server_url}: {why}")

    async def _try_to_connect_and_subscribe(self, connection: _NatsConnection, server_url: str) -> str | None:
        """Connect to one server and subscribe. Return None on success, otherwise the reason for the failure."""
        options, tls_context = self._options, self._tls_context
        tls_context.reset_for_new_connection()

        def make_secret_provider(secret: str) -> Callable[[], str] | None:
            # Called after the TLS handshake, and before any secret is sent.
            def return_secret_if_encrypted() -> str:
                if options.requires_tls and not tls_context.has_wrapped_connection:
                    raise ConnectionError(TLS_NOT_OFFERED_REASON)
                return secret

            return return_secret_if_encrypted if secret else None

        try:
            with anyio.fail_after(2 * NATS_CONNECT_TIMEOUT_SECONDS):
                with _nats_client_errors_as_connection_errors():
                    await connection.client.connect(
                        [server_url],
                        name=self._name,
                        error_cb=connection.record_error,
                        closed_cb=connection.record_close,
                        allow_reconnect=False,
                        # The client makes one attempt more than this, and with 0 it tries forever.
                        max_reconnect_attempts=1,
                        reconnect_time_wait=0,
                        connect_timeout=NATS_CONNECT_TIMEOUT_SECONDS,
                        flush_timeout=NATS_FLUSH_TIMEOUT_SECONDS,
                        pending_size=2 * MAX_QUEUED_BUS_BYTES,
                        tls=tls_context,
                        user=make_secret_provider(options.user),
                        password=make_secret_provider(options.password),
                        token=make_secret_provider(options.token),
                    )
                if options.requires_tls and not tls_context.has_wrapped_connection:
                    raise ConnectionError(TLS_NOT_OFFERED_REASON)
                if connection.client.max_payload < MAX_PAYLOAD_BYTES:
                    max_payload = connection.client.max_payload
                    return f"it accepts only messages of up to {max_payload} bytes; set its max_payload to {MAX_PAYLOAD_BYTES}"
                for subject, handler in self._subscriptions:
                    await connection.subscribe(subject, handler)
                await connection.flush_to_server()
        except NATS_CLIENT_ERRORS as error:
            # If no server is left or none answers, the reason is in the client's last error.
            is_vague = isinstance(error, nats.errors.NoServersError | TimeoutError)
            return describe_nats_error((connection.last_error if is_vague else None) or error)
        return None

    async def _use_connection_until_lost(self, connection: _NatsConnection) -> None:
        """Send queued messages over a connection, and test the connection, until it is lost."""
        async with anyio.create_task_group() as tasks:
            for job in (self._forward_messages_until_lost, self._check_connection_until_lost):
                tasks.start_soon(_mark_lost_on_failure, connection, job)
            await connection.lost.wait()
            tasks.cancel_scope.cancel()
        if self._connection is connection:
            self._connection = None
            self._outgoing_messages.clear()
            self._queued_bytes = 0
            log.warning("the connection to NATS is lost: %s", connection.loss_reason)
            await connection.close_client()

    async def _reconnect_until_connected(self) -> None:
        logged_reason = ""
        while self._connection is None:
            await MONOTONIC_CLOCK.sleep(NATS_RECONNECT_PAUSE_SECONDS)
            try:
                self._connection = await self._connect_to_first_usable_server()
            except BusError as error:
                if str(error) != logged_reason:
                    logged_reason = str(error)
                    log.warning("%s", error)
        log.warning("NATS is back")

    async def _forward_messages_until_lost(self, connection: _NatsConnection) -> None:
        while True:
            await self._message_queued.wait()
            self._message_queued.clear()
            await self._forward_queued_messages(connection)

    async def _forward_queued_messages(self, connection: _NatsConnection) -> None:
        """Pass queued messages to the NATS client, but pause while the client has more than MAX_UNSENT_NATS_CLIENT_BYTES unsent."""
        while self._outgoing_messages:
            if connection.client.pending_data_size > MAX_UNSENT_NATS_CLIENT_BYTES:
                await MONOTONIC_CLOCK.sleep(FULL_NATS_CLIENT_PAUSE_SECONDS)
                continue
            subject, payload = self._outgoing_messages.popleft()
            self._queued_bytes -= len(payload)
            with _nats_client_errors_as_connection_errors():
                await connection.client.publish(subject, payload)

    async def _check_connection_until_lost(self, connection: _NatsConnection) -> None:
        """Send test messages to this process itself. If MAX_FAILED_NATS_CHECKS in a row get lost, mark the connection as lost."""
        failed_checks = 0
        while failed_checks < MAX_FAILED_NATS_CHECKS:
            if await connection.does_respond_within(NATS_CHECK_TIMEOUT_SECONDS):
                failed_checks = 0
                await MONOTONIC_CLOCK.sleep(NATS_CHECK_TIMEOUT_SECONDS)
            else:
                failed_checks += 1
        connection.mark_lost("it does not answer")


async def _mark_lost_on_failure(
    connection: _NatsConnection, job: Callable[[_NatsConnection], Awaitable[None]]
) -> None:
    """Run `job` on a connection, and mark the connection as lost if the job raises an exception of NATS_CLIENT_ERRORS."""
    try:
        await job(connection)
    except NATS_CLIENT_ERRORS as error:
        connection.mark_lost(describe_nats_error(error))


def describe_nats_error(error: Exception) -> str:
    """Return the reason why a NATS server cannot be used, as text for the operator, such as `it does not answer`."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message}); set bus.ca to the CA bundle"
    if isinstance(error, TimeoutError):
        return "it does not answer"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    text = str(error).removeprefix("nats: ").strip("'")
    if "authorization" in text.lower():
        return "it rejects this user, password or token"
    if "INFO" in text or "json" in text:
        return "no NATS server listens there"
    return text


@asynccontextmanager
async def open_nats_bus(
    bus_url: str, *, connection_name: str, ca_file: Path | None = None
) -> AsyncIterator[NatsBus]:
    """Connect to NATS during the `async with` block, and reconnect after each loss.

    bus_url: value of the setting `bus.url`
    connection_name: name of the connection, which NATS shows to its administrator
    ca_file: file with the certificate authorities to trust; None for those of the system

    Raises BusError if `bus_url` or `ca_file` is invalid, or if no server accepts the first connection.
    """
    bus = NatsBus(parse_bus_url(bus_url), TlsContext.from_ca_bundle(ca_file), connection_name)
    await bus.open_first_connection()
    async with open_background_tasks() as tasks:
        try:
            tasks.start_soon(bus.maintain_connection)
            yield bus
        finally:
            await bus.close()
