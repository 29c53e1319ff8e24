"""A bus that loses, repeats and reorders what it carries, for tests."""

from __future__ import annotations

import asyncio
from random import Random

from arena.server.bus.bus import Bus, Handler, Message, Subscription
from arena.server.bus.local import LocalBus


class LossyBus(Bus):
    """A bus over another one, on which each message may be lost, come twice, or come late."""

    def __init__(self, bus: LocalBus, random: Random, *, loses: float, repeats: float, late: float) -> None:
        """loses, repeats, late: how often a message is lost, comes once more, or comes up to 50 ms late."""
        super().__init__()
        self._bus = bus
        self._random = random
        self._loses = loses
        self._repeats = repeats
        self._late = late
        self.lost = 0
        self.away = False
        """Whether nothing is carried at all."""

    @property
    def connected(self) -> bool:
        return not self.away

    async def subscribe(self, pattern: str, handler: Handler) -> Subscription:
        def take(message: Message) -> None:
            if not self.away:
                handler(message)

        return await self._bus.subscribe(pattern, take)

    async def request(self, subject: str, payload: bytes, seconds: float) -> bytes:
        return await self._bus.request(subject, payload, seconds)

    async def close(self) -> None:
        await self._bus.close()

    def _publish(self, subject: str, payload: bytes, reply: str) -> bool:
        if self.away:
            return False
        while True:
            if self._random.random() < self._loses:
                self.lost += 1
            elif self._random.random() < self._late:
                loop = asyncio.get_running_loop()
                loop.call_later(self._random.uniform(0, 0.05), self._carry, subject, payload, reply)
            else:
                self._carry(subject, payload, reply)
            if self._random.random() >= self._repeats:
                return True

    def _carry(self, subject: str, payload: bytes, reply: str) -> None:
        if not self.away:
            self._bus.publish(subject, payload, reply)
