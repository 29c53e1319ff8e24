"""The life of a server that `arena serve` has opened: until it is told to stop, and again where it lost its place in an arena."""

from __future__ import annotations

import logging
import signal
from collections.abc import Awaitable, Callable
from time import monotonic

import anyio

from console import Misuse, err
from server.arena.membership import CutOff
from server.bus.bus import Bus
from server.host import Host
from server.store.database import StoreError, file_of
from server.store.lease import LeaseLost

log = logging.getLogger("arena.serve")

AGAIN_SECONDS = 0.5
"""From a server's end, where it lost its place in the arena, to its new beginning."""
LASTING_SECONDS = 2.0
"""How long a server has run that has come in before it lost its place."""


def require_shared(option: str, db: str | None) -> None:
    """See that the servers of an arena can share a store, where this option asks for several. Raises Misuse."""
    if option and (not db or file_of(db) is not None):
        raise Misuse(f"{option}: the servers of an arena share a PostgreSQL: give its --db postgresql://…")


def tell_lost(why: str) -> None:
    """The bus is away."""
    log.warning("the bus is away: %s", why)


def tell_back() -> None:
    """The bus is there again."""
    log.warning("the bus is back")


async def again_and_again(bus: Bus, once: Callable[[Bus], Awaitable[None]]) -> None:
    """Be a server of an arena until it is told to stop. One that lost its place comes in anew, as soon as it can."""
    was_in = False
    while True:
        while not bus.connected:  # noqa: ASYNC110  the bus itself tells whether it is there
            await anyio.sleep(AGAIN_SECONDS)
        began = monotonic()
        try:
            await once(bus)
        except (LeaseLost, CutOff) as error:
            was_in = True
            log.warning("%s; this server begins anew", error)
        except StoreError as error:
            if not was_in and monotonic() - began < LASTING_SECONDS:
                raise
            was_in = True
            log.warning("the store cannot be used: %s; trying again", error)
        else:
            return
        await anyio.sleep(AGAIN_SECONDS)


async def until_told_to_stop(running: Host, drain: float) -> None:
    """Wait for SIGINT or SIGTERM, and then for matches to end, as long as they may."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            break
        if not running.rooms:
            return
        if running.membership is not None:
            err.print(f"stopping: {len(running.rooms)} matches go on elsewhere")
            await running.hand_on()
            return
        err.print(f"stopping: {len(running.rooms)} matches may end within {drain:g} s; again to stop at once")
        async with anyio.create_task_group() as tasks:

            async def impatient() -> None:
                async for _ in signals:
                    tasks.cancel_scope.cancel()

            tasks.start_soon(impatient)
            left = await running.drain(drain)
            if left:
                err.print(f"{left} matches are saved, and go on when the server is started again")
            tasks.cancel_scope.cancel()
