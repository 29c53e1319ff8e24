"""Fair queue for expensive requests: clients' addresses take turns, and a pause follows each response.

Even within their work budgets, many addresses together could overload a machine that also serves matches. Therefore,
only a few responses are made in parallel, and the pause after each is a multiple of its cost. So all responses together
use a limited share of the machine.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from arena.clock import TimeSource
from arena.server.abuse_counter import make_address_key

MAX_PROCESSOR_CORE_SHARE = 0.2
"""Maximum share of one CPU core, from 0 to 1, that all responses together may use.

The pause after each response is computed from this share.
"""
MAX_WAITING_REQUESTS, MAX_WAITING_REQUESTS_PER_ADDRESS = 256, 16
"""Maximum number of waiting requests, in total and, by default, per address."""
TOO_MANY_REQUESTS_REASON = "too many requests: try again in a few seconds"
"""Message for a request that is refused because too many requests wait, or because it has waited too long."""


class ServerBusy(Exception):
    """Raised when a request cannot be answered now; the message is a one-line reason."""


class RequestQueue:
    """Queue of requests in which client addresses take turns: each address has one request answered, then the next address.

    At most `max_parallel` responses are made at a time, and at most `max_waiting_per_address` requests of an address may wait.
    """

    def __init__(
        self,
        max_parallel: int,
        clock: TimeSource,
        max_waiting_per_address: int = MAX_WAITING_REQUESTS_PER_ADDRESS,
    ) -> None:
        self._max_parallel = max_parallel
        self._max_per_address = max_waiting_per_address
        self._free_slots = max_parallel
        self._clock = clock
        self._turns_by_address: OrderedDict[str, deque[anyio.Event]] = OrderedDict()
        """`anyio.Event` objects that wake the waiting requests, by client address. The first address is served next."""
        self._waiting_count = 0

    @asynccontextmanager
    async def wait_for_turn(self, address: str, cost_us: int, timeout_seconds: float) -> AsyncIterator[None]:
        """Wait for the turn of a request. The caller makes the response in the `async with` block, which ends the turn.

        After the block, a pause in proportion to `cost_us` passes before the turn is given to another request.

        address: address of the client; an IPv6 address counts as its /64 network
        cost_us: maximum CPU time that the response takes, in µs
        timeout_seconds: maximum time to wait for the turn

        Raises ServerBusy if too many requests wait already, or if the turn does not come in time.
        """
        try:
            with anyio.fail_after(timeout_seconds):
                await self._wait_for_slot(make_address_key(address))
        except TimeoutError:
            raise ServerBusy(TOO_MANY_REQUESTS_REASON) from None
        try:
            yield
        finally:
            self._clock.call_later(
                cost_us / 1e6 * self._max_parallel / MAX_PROCESSOR_CORE_SHARE, self._pass_slot_to_next_request
            )

    async def _wait_for_slot(self, address_key: str) -> None:
        if self._free_slots > 0:
            self._free_slots -= 1
            return
        waiting_turns = self._turns_by_address.get(address_key, ())
        if self._waiting_count >= MAX_WAITING_REQUESTS or len(waiting_turns) >= self._max_per_address:
            raise ServerBusy(TOO_MANY_REQUESTS_REASON)
        turn = anyio.Event()
        self._turns_by_address.setdefault(address_key, deque()).append(turn)
        self._waiting_count += 1
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():  # its turn came just when it was cancelled
                self._pass_slot_to_next_request()
            else:
                self._waiting_count -= 1
                self._turns_by_address[address_key].remove(turn)
                if not self._turns_by_address[address_key]:
                    del self._turns_by_address[address_key]
            raise

    def _pass_slot_to_next_request(self) -> None:
        """Let the next waiting request begin, after another request has ended.

        If none waits, one more request may begin at once.
        """
        if not self._turns_by_address:
            self._free_slots += 1
            return
        key, waiting = self._turns_by_address.popitem(last=False)
        self._waiting_count -= 1
        waiting.popleft().set()
        if waiting:
            self._turns_by_address[key] = waiting
