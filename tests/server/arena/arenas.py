"""Arenas of several servers in one process, for tests: they share a store and a bus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from arena.games.core import AnyGame
from arena.protocol.timecontrol import TimeControl
from arena.server.bus.bus import Bus
from arena.server.bus.local import Exchange
from arena.server.host import Host, open_host
from arena.server.lobby.matchmaking.matchmaker import OPEN_EVENT, Offer
from arena.server.net.limits import HostLimits
from arena.server.settings import private
from testkit.players import Player
from tests.server.matches import game_of


def offer(game: AnyGame | None = None, tc: str = "2+0.1") -> Offer:
    """What the pool of a test plays."""
    return Offer(game or game_of(), TimeControl.parse(tc), 100, 10_000, OPEN_EVENT)


@asynccontextmanager
async def serving(
    database: str, bus: Bus, name: str, *, anyone: bool = True, limits: HostLimits | None = None, **how: Any
) -> AsyncIterator[Host]:
    """One server of an arena."""
    settings = private(
        database=database, name=name, anyone=anyone, limits=limits, concurrency=20, grace_seconds=10
    )
    async with open_host(settings, bus=bus, going_on=OPEN_EVENT, **how) as host:
        yield host


@asynccontextmanager
async def arena(
    database: str, servers: int, join: Callable[[], Bus] | None = None, **how: Any
) -> AsyncIterator[list[Host]]:
    """Servers that know of each other; `join` gives each its bus."""
    join = join or Exchange().join
    opened: list[Host] = []

    async with anyio.create_task_group() as tasks:
        enough = anyio.Event()

        async def serve(number: int) -> None:
            async with serving(database, join(), f"s{number}", **how) as host:
                opened.append(host)
                await enough.wait()

        for number in range(servers):
            tasks.start_soon(serve, number)
        with anyio.fail_after(20):
            while len(opened) < servers or any(
                len(host.arena.links.all) < servers - 1 or not host.arena.whole() for host in opened
            ):
                await anyio.sleep(0.02)
            while not any(host.arena.office.here for host in opened):
                await anyio.sleep(0.02)
        opened.sort(key=lambda host: host.name)
        yield opened
        enough.set()


@asynccontextmanager
async def playing(*players: Player) -> AsyncIterator[None]:
    """Players that play meanwhile."""
    tasks = [asyncio.create_task(player.run()) for player in players]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until(true: Any, seconds: float = 20) -> None:
    """Wait until something is so."""
    with anyio.fail_after(seconds):
        while not true():
            await anyio.sleep(0.02)
