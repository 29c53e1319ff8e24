"""The timer of a room: it falls at a deadline in monotonic ns, or before it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic_ns

ARRIVAL_TURNS = 4
"""Turns of the event loop from a readable socket to an event in the inbox, where a few messages came before it."""


class DeadlineTimer:
    """Calls back at the deadlines that it follows. While it is stopped it refers to nobody."""

    __slots__ = ("_awaited", "_handle")

    def __init__(self) -> None:
        self._awaited: int | None = None
        """The deadline that it is set for, in monotonic ns; None where it is not set."""
        self._handle: asyncio.TimerHandle | None = None

    def follow(self, deadline: int, fell: Callable[[], None]) -> None:
        """Be set for this deadline, or for one that comes before it; `fell` is called then, once it is set for none.

        A timer that is set too early stays: it falls seldom, and to set it anew with every move would cost more.
        """
        if self._awaited is None or deadline < self._awaited:
            self.stop()
            wait = max(0, deadline - monotonic_ns()) / 1e9
            self._awaited = deadline
            self._handle = asyncio.get_running_loop().call_later(wait, self._let_arrive, fell, ARRIVAL_TURNS)

    def stop(self) -> None:
        """Be set for no deadline."""
        if self._handle is not None:
            self._handle.cancel()
        self._awaited = self._handle = None

    def _let_arrive(self, fell: Callable[[], None], turns: int) -> None:
        """Fall after so many turns of the event loop.

        What reached this machine before is still on its way through the loop, and goes first: the server's own
        delay never flags a bot that was in time.
        """
        if turns:
            asyncio.get_running_loop().call_soon(self._let_arrive, fell, turns - 1)
            return
        self.stop()
        fell()
