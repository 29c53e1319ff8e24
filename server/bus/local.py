"""The bus within one process: what an arena of one server has, and several servers in one event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator

import anyio

from arena.server.bus.bus import (
    WAITING_BYTES,
    WAITING_MESSAGES,
    Bus,
    BusAway,
    Handler,
    Message,
    NoAnswer,
    NobodyListens,
    Subscription,
    check_message,
    check_pattern,
    hand_over,
    matches,
)


class Exchange:
    """What the buses of one process have in common: who has subscribed to what."""

    def __init__(
        self, *, waiting_messages: int = WAITING_MESSAGES, waiting_bytes: int = WAITING_BYTES
    ) -> None:
        """How many messages, and bytes of them, may wait for each subscription."""
        self.waiting_messages = waiting_messages
        self.waiting_bytes = waiting_bytes
        self.subscriptions: dict[LocalSubscription, None] = {}
        self._requests = 0

    def join(self) -> LocalBus:
        """One more bus."""
        return LocalBus(self)

    def inbox(self) -> str:
        """A subject for the answer to one request."""
        self._requests += 1
        return f"_INBOX.{self._requests}"

    def listeners(self, subject: str) -> Iterator[LocalSubscription]:
        """The subscriptions to a subject."""
        tokens = tuple(subject.split("."))
        return (each for each in list(self.subscriptions) if matches(each.pattern, tokens))


class LocalSubscription(Subscription):
    """A subscription of a bus within a process."""

    def __init__(self, bus: LocalBus, pattern: str, handler: Handler) -> None:
        """Made by `LocalBus.subscribe`."""
        self.bus = bus
        self.pattern = tuple(pattern.split("."))
        self._handler = handler
        self._waiting: deque[Message] = deque()
        self._bytes = 0
        self._due = False

    def add(self, message: Message) -> None:
        """Let a message wait for the handler, if there is room."""
        exchange = self.bus.exchange
        if (
            len(self._waiting) >= exchange.waiting_messages
            or self._bytes + len(message.payload) > exchange.waiting_bytes
        ):
            self.bus.drop()
            return
        self._waiting.append(message)
        self._bytes += len(message.payload)
        if not self._due:
            # Not at once: whoever publishes has not finished what it is doing.
            self._due = True
            asyncio.get_running_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        self._due = False
        for _ in range(len(self._waiting)):
            # A handler may end the subscription.
            if not self._waiting:
                break
            message = self._waiting.popleft()
            self._bytes -= len(message.payload)
            hand_over(self._handler, message)

    async def end(self) -> None:
        self.bus.exchange.subscriptions.pop(self, None)
        self._waiting.clear()
        self._bytes = 0


class LocalBus(Bus):
    """A bus within a process, by itself or with the others of its exchange. Its connection is never lost."""

    def __init__(self, exchange: Exchange) -> None:
        """Made by `Exchange.join`."""
        super().__init__()
        self.exchange = exchange
        self._closed = False

    @property
    def connected(self) -> bool:
        return not self._closed

    def _publish(self, subject: str, payload: bytes, reply: str) -> bool:
        if self._closed:
            return False
        message = Message(subject, payload, reply)
        for each in self.exchange.listeners(subject):
            each.add(message)
        return True

    async def subscribe(self, pattern: str, handler: Handler) -> Subscription:
        check_pattern(pattern)
        made = LocalSubscription(self, pattern, handler)
        if not self._closed:
            self.exchange.subscriptions[made] = None
        return made

    async def request(self, subject: str, payload: bytes, seconds: float) -> bytes:
        check_message(subject, payload)
        if self._closed:
            raise BusAway(subject)
        if not any(self.exchange.listeners(subject)):
            raise NobodyListens(subject)
        answers: list[bytes] = []
        answered = anyio.Event()

        def take(message: Message) -> None:
            answers.append(message.payload)
            answered.set()

        inbox = self.exchange.inbox()
        subscription = await self.subscribe(inbox, take)
        try:
            if not self.publish(subject, payload, inbox):
                raise BusAway(subject)
            with anyio.move_on_after(seconds):
                await answered.wait()
        finally:
            await subscription.end()
        if not answers:
            raise NoAnswer(subject)
        return answers[0]

    async def close(self) -> None:
        self._closed = True
        for each in list(self.exchange.subscriptions):
            if each.bus is self:
                await each.end()
