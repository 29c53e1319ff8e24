"""The life of a server that `arena serve` has opened: until it is told to stop, and again where it lost its place in an arena."""

from __future__ import annotations

import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, closing
from pathlib import Path
from time import monotonic

import anyio

from arena.console import err
from arena.server.arena.membership import CutOff
from arena.server.bus.bus import Bus
from arena.server.bus.opening import open_bus
from arena.server.host import Host
from arena.server.settings import Settings
from arena.server.store.database import StoreError
from arena.server.store.lease import LeaseLost

log = logging.getLogger("arena.serve")

AGAIN_SECONDS = 0.5
"""From a server's end, where it lost its place in the arena, to its new beginning."""
LASTING_SECONDS = 2.0
"""How long a server has run that has come in before it lost its place."""


class StopSignals:
    """SIGINT and SIGTERM, each of which tells to stop.

    Before the first wait and after `close` they end the process at once. Between the two none is lost, whatever
    becomes of the server meanwhile.
    """

    def __init__(self) -> None:
        self.told = False
        """Whether somebody who waited has been told."""
        self._open = ExitStack()
        self._coming: AsyncIterator[signal.Signals] | None = None

    async def wait(self) -> None:
        """Wait until told to stop; not at all where that has been."""
        if not self.told:
            await self.wait_again()

    async def wait_again(self) -> None:
        """Wait for a signal that nobody has taken yet."""
        if self._coming is None:
            receiver = anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM)
            self._coming = self._open.enter_context(receiver)
        async for _ in self._coming:
            break
        self.told = True

    async def come_within(self, seconds: float) -> bool:
        """Wait so long at the most, and say whether told to stop."""
        with anyio.move_on_after(seconds):
            await self.wait()
        return self.told

    def close(self) -> None:
        """Wait for none any more."""
        self._open.close()


async def in_arena(settings: Settings, once: Callable[[Bus], Awaitable[None]], stop: StopSignals) -> None:
    """Serve as one of an arena until told to stop. Raises BusError."""
    name, ca = settings.server.name or "arena", Path(settings.bus.ca) if settings.bus.ca else None
    async with open_bus(settings.bus.url, name=name, ca=ca, lost=_tell_lost, back=_tell_back) as bus:
        await again_and_again(bus, once, stop)


def _tell_lost(why: str) -> None:
    log.warning("the bus is away: %s", why)


def _tell_back() -> None:
    log.warning("the bus is back")


async def again_and_again(bus: Bus, once: Callable[[Bus], Awaitable[None]], stop: StopSignals) -> None:
    """Be a server of an arena until it is told to stop. One that lost its place comes in anew, as soon as it can.

    once: is such a server until it is told to stop, or raises what it ended by
    """
    was_in = False
    while True:
        while not bus.connected:
            if await stop.come_within(AGAIN_SECONDS):
                return
        began = monotonic()
        try:
            await once(bus)
        except (LeaseLost, CutOff) as error:
            if stop.told:
                log.warning("%s; this server was about to stop, and has stopped", error)
                return
            was_in = True
            log.warning("%s; this server begins anew", error)
        except StoreError as error:
            if stop.told or (not was_in and monotonic() - began < LASTING_SECONDS):
                raise
            was_in = True
            log.warning("the store cannot be used: %s; trying again", error)
        else:
            return
        if await stop.come_within(AGAIN_SECONDS):
            return


async def until_told_to_stop(running: Host, stop: StopSignals) -> None:
    """Wait for SIGINT or SIGTERM, and then for matches to end, as long as they may."""
    await stop.wait()
    drain = running.settings.server.drain_seconds
    with closing(stop):  # whoever gets impatient with what is left to do ends the process
        if not running.rooms:
            return
        if running.membership is not None:
            err.print(f"stopping: {len(running.rooms)} matches go on elsewhere")
            await running.hand_on()
            return
        err.print(f"stopping: {len(running.rooms)} matches may end within {drain:g} s; again to stop at once")
        async with anyio.create_task_group() as tasks:

            async def impatient() -> None:
                await stop.wait_again()
                tasks.cancel_scope.cancel()

            tasks.start_soon(impatient)
            left = await running.drain(drain)
            if left:
                err.print(f"{left} matches are saved, and go on when the server is started again")
            tasks.cancel_scope.cancel()
