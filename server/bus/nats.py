"""The bus as NATS carries it: one connection of the maintainers' client after the other.

The client's own way to connect again is not used: it gives up for good on some errors, sends what is old when it is back,
and waits for what it has written to leave, which over a cut cable takes a quarter of an hour.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import deque
from collections.abc import Callable

import anyio
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as ClientSubscription

from arena.server.bus.address import Address
from arena.server.bus.bus import (
    MAX_PAYLOAD,
    WAITING_BYTES,
    WAITING_MESSAGES,
    Bus,
    BusAway,
    BusError,
    Handler,
    Message,
    NoAnswer,
    NobodyListens,
    Subscription,
    check_message,
    check_pattern,
    hand_over,
)
from arena.server.bus.trust import Trust

log = logging.getLogger("arena.bus")

CONNECT_SECONDS = 2
"""How long one server of a NATS may take to let this one in."""
ASK_SECONDS = 0.5
"""From one look at whether NATS is there to the next."""
ANSWER_SECONDS = 1
"""How long NATS may take to answer; it is away when it does not twice, as the first may be this server's own standstill."""
RETRY_SECONDS = 0.25
"""From one attempt to connect again to the next."""
CLOSE_SECONDS = 1
"""How long what still waits may take to leave at the end."""


class NoTls(ConnectionError):
    """A server that was to be reached by TLS alone does not offer it."""

    def __init__(self) -> None:
        super().__init__("it offers no TLS, and nothing may be told to it in clear")


class _Link:
    """One connection, from its beginning to its loss."""

    def __init__(self, drop: Callable[[], None]) -> None:
        self.client = Client()
        self._drop = drop
        self.gone = anyio.Event()
        self.why = "NATS has closed the connection"
        self.problems: list[Exception] = []

    def lose(self, why: str) -> None:
        """Take note that the connection is of no use any more."""
        if not self.gone.is_set():
            self.why = why
            self.gone.set()

    async def note(self, error: Exception) -> None:
        """For the client: something went wrong."""
        if isinstance(error, nats.errors.SlowConsumerError):
            self._drop()
        elif self.client.is_connected:
            log.warning("NATS: %s", said(error))
        self.problems = [*self.problems[-9:], error]

    async def closed(self) -> None:
        """For the client: the connection has ended."""
        self.lose(said(self.problems[-1]) if self.problems else self.why)

    async def settle(self) -> None:
        """Wait until NATS has everything that was said to it before."""
        # The client's ping overtakes what its own task is about to send. A second one does not.
        for _ in range(2):
            await self.client.flush(timeout=ANSWER_SECONDS)

    async def discard(self) -> None:
        """Close what is left of it, as far as that is soon done."""
        with anyio.move_on_after(CLOSE_SECONDS, shield=True):
            await self.client.close()


class NatsSubscription(Subscription):
    """A subscription that outlives the connections."""

    def __init__(self, bus: NatsBus, pattern: str, handler: Handler) -> None:
        """Made by `NatsBus.subscribe`."""
        self.bus = bus
        self.link: _Link | None = None
        """The connection that it holds on."""
        self._pattern = pattern
        self._handler: Handler | None = handler
        self._inner: ClientSubscription | None = None

    async def begin(self, link: _Link) -> None:
        """Hold on this connection from now on."""
        self.link = link
        self._inner = await link.client.subscribe(
            self._pattern,
            cb=self._take,
            pending_msgs_limit=WAITING_MESSAGES,
            pending_bytes_limit=WAITING_BYTES,
        )

    async def _take(self, message: Msg) -> None:
        if self._handler is None:
            return
        if len(message.data) > MAX_PAYLOAD:
            self.bus.drop()
            return
        hand_over(self._handler, Message(message.subject, message.data, message.reply))

    async def end(self) -> None:
        self._handler = None
        inner, self._inner = self._inner, None
        if self.bus.forget(self) and inner is not None:
            try:
                await inner.unsubscribe()
            except nats.errors.Error as error:
                # The connection that it held on has ended, and the subscription with it.
                log.debug("unsubscribing: %s", error)


class NatsBus(Bus):
    """A bus that NATS carries. `connect`, then have `run` under way until `close`."""

    def __init__(
        self,
        address: Address,
        trust: Trust,
        *,
        name: str,
        lost: Callable[[str], None],
        back: Callable[[], None],
    ) -> None:
        """Made by `server.bus.opening.open_bus`, which says what the arguments are."""
        super().__init__()
        self._address = address
        self._trust = trust
        self._name = name
        self._lost = lost
        self._back = back
        self._link: _Link | None = None
        self._subscriptions: dict[NatsSubscription, None] = {}
        self._waiting: deque[tuple[str, bytes, str]] = deque()
        self._waiting_bytes = 0
        self._wake = asyncio.Event()

    @property
    def connected(self) -> bool:
        return self._link is not None

    async def connect(self) -> None:
        """Make the first connection. Raises BusError."""
        self._link = await self._connect()

    async def run(self) -> None:
        """Keep the connection, and make a new one as often as it is lost, until cancelled."""
        while True:
            if self._link is not None:
                await self._keep(self._link)
            await self._connect_again()

    def forget(self, subscription: NatsSubscription) -> bool:
        """Have no such subscription on further connections; whether there was one on this."""
        self._subscriptions.pop(subscription, None)
        return self._link is not None and subscription.link is self._link

    def _publish(self, subject: str, payload: bytes, reply: str) -> bool:
        if (
            self._link is None
            or len(self._waiting) >= WAITING_MESSAGES
            or self._waiting_bytes + len(payload) > WAITING_BYTES
        ):
            return False
        self._waiting.append((subject, payload, reply))
        self._waiting_bytes += len(payload)
        self._wake.set()
        return True

    async def subscribe(self, pattern: str, handler: Handler) -> Subscription:
        check_pattern(pattern)
        made = NatsSubscription(self, pattern, handler)
        self._subscriptions[made] = None
        link = self._link
        if link is not None:
            try:
                await made.begin(link)
                await link.settle()
            except (nats.errors.Error, OSError) as error:
                link.lose(said(error))
        return made

    async def request(self, subject: str, payload: bytes, seconds: float) -> bytes:
        check_message(subject, payload)
        link = self._link
        if link is None:
            raise BusAway(subject)
        try:
            with anyio.fail_after(seconds):
                await self._hand_on(link)
                answer = await link.client.request(subject, payload, timeout=seconds)
        except nats.errors.NoRespondersError:
            raise NobodyListens(subject) from None
        except TimeoutError:
            # The client's own error of that name is one of these too.
            raise NoAnswer(subject) from None
        except (nats.errors.Error, OSError) as error:
            raise BusAway(f"{subject}: {said(error)}") from None
        return answer.data

    async def close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                try:
                    await self._hand_on(link)
                    await link.settle()
                except (nats.errors.Error, OSError) as error:
                    log.info("the bus was closed before all had left: %s", said(error))
            await link.discard()
        self._subscriptions.clear()

    async def _connect(self) -> _Link:
        problem = BusError("no server is named")
        for server in self._address.servers:
            link = _Link(self.drop)
            why = await self._try(link, server)
            if why is None:
                return link
            await link.discard()
            problem = BusError(f"cannot use the NATS at {server}: {why}")
        raise problem

    async def _try(self, link: _Link, server: str) -> str | None:
        """Connect to one server, and subscribe to all there; or why that cannot be done."""
        address = self._address
        trust = self._trust
        trust.begin()

        def told(secret: str) -> Callable[[], str] | None:
            # Asked for after TLS was agreed upon, and before anything is told.
            def tell() -> str:
                if address.tls and not trust.used:
                    raise NoTls
                return secret

            return tell if secret else None

        try:
            with anyio.fail_after(2 * CONNECT_SECONDS):
                await link.client.connect(
                    [server],
                    name=self._name,
                    error_cb=link.note,
                    closed_cb=link.closed,
                    allow_reconnect=False,
                    # The client tries once more than this, and for ever with 0.
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    connect_timeout=CONNECT_SECONDS,
                    flush_timeout=ANSWER_SECONDS,
                    tls=trust,
                    user=told(address.user),
                    password=told(address.password),
                    token=told(address.token),
                )
                if address.tls and not trust.used:
                    raise NoTls
                if link.client.max_payload < MAX_PAYLOAD:
                    return f"it takes messages of {link.client.max_payload} bytes; set its max_payload to {MAX_PAYLOAD}"
                # More may come meanwhile.
                while todo := [each for each in self._subscriptions if each.link is not link]:
                    for each in todo:
                        await each.begin(link)
                    await link.settle()
        except (nats.errors.Error, OSError) as error:
            # The client says at the end only that it has no server left.
            return said(link.problems[-1] if isinstance(error, nats.errors.NoServersError) else error)
        return None

    async def _keep(self, link: _Link) -> None:
        """Carry messages over a connection until it is lost."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send, link)
            tasks.start_soon(self._watch, link)
            await link.gone.wait()
            tasks.cancel_scope.cancel()
        if self._link is link:
            self._link = None
            self.drop(len(self._waiting))
            self._waiting.clear()
            self._waiting_bytes = 0
            log.warning("the connection to NATS is lost: %s", link.why)
            self._lost(link.why)
            await link.discard()

    async def _connect_again(self) -> None:
        told = ""
        while self._link is None:
            await anyio.sleep(RETRY_SECONDS)
            try:
                self._link = await self._connect()
            except BusError as error:
                if str(error) != told:
                    told = str(error)
                    log.warning("%s", error)
        log.warning("NATS is back")
        self._back()

    async def _send(self, link: _Link) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                await self._hand_on(link)
        except (nats.errors.Error, OSError) as error:
            link.lose(said(error))

    async def _hand_on(self, link: _Link) -> None:
        """Give the client what waits. It takes a message at once, and waits only where it has too many of them."""
        while self._waiting:
            subject, payload, reply = self._waiting.popleft()
            self._waiting_bytes -= len(payload)
            await link.client.publish(subject, payload, reply)

    async def _watch(self, link: _Link) -> None:
        silent = 0
        while silent < 2:
            try:
                with anyio.fail_after(2 * ANSWER_SECONDS):
                    await link.client.flush(timeout=ANSWER_SECONDS)
            except TimeoutError:
                silent += 1
                continue
            except (nats.errors.Error, OSError) as error:
                link.lose(said(error))
                return
            silent = 0
            await anyio.sleep(ASK_SECONDS)
        link.lose("it does not answer")


def said(error: Exception) -> str:
    """What went wrong, in words for whoever runs the server."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message}); bus.ca names who certified it"
    if isinstance(error, TimeoutError):
        return "it does not answer"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    words = str(error).removeprefix("nats: ").strip("'")
    if "authorization" in words.lower():
        return "it does not know this user, password or token"
    if "INFO" in words or "json" in words:
        return "whoever listens there is no NATS"
    return words
