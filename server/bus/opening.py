"""Opens the bus that a server was told to use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from arena.server.bus.address import parse
from arena.server.bus.bus import Bus
from arena.server.bus.local import Exchange
from arena.server.bus.trust import Trust
from arena.server.processes.tasks import cancelled_at_exit

Told = Callable[[str], None]
"""Is told in one line why a connection was lost."""


def nobody_told(_why: str = "") -> None:
    """For whoever need not know."""


@asynccontextmanager
async def open_bus(
    url: str = "",
    *,
    name: str = "arena",
    ca: Path | None = None,
    lost: Told = nobody_told,
    back: Callable[[], None] = nobody_told,
) -> AsyncIterator[Bus]:
    """A bus by the address of a NATS; without one, a bus within this process that nobody else is on.

    name  what NATS calls this connection where it tells its administrator of it
    ca    a file with the certificates of whoever may certify that NATS
    lost  called when the connection is lost; messages are dropped from then on
    back  called when there is one again, and all subscriptions hold again

    Raises BusError where NATS cannot be reached, or does not let the server in. Once it was reached, a connection that
    is lost is made again as often as it takes.
    """
    if not url:
        bus: Bus = Exchange().join()
        try:
            yield bus
        finally:
            await bus.close()
        return
    from arena.server.bus.nats import NatsBus  # noqa: PLC0415 - an extra

    carried = NatsBus(parse(url), Trust.of(ca), name=name, lost=lost, back=back)
    await carried.connect()
    async with cancelled_at_exit() as tasks:
        try:
            tasks.start_soon(carried.run)
            yield carried
        finally:
            await carried.close()
