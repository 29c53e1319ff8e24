"""Buses of both forms for tests, the second carried by a real NATS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import pytest

from arena.server.bus.bus import Bus
from arena.server.bus.local import Exchange
from arena.server.bus.opening import open_bus
from testkit.nats_server import NatsServer, running_nats
from testkit.parts import missing


class Join(Protocol):
    """Opens one more bus, on which the others are too."""

    def __call__(self) -> AbstractAsyncContextManager[Bus]: ...


@pytest.fixture(scope="session")
def shared_nats() -> Iterator[NatsServer | None]:
    """The NATS that all tests of a process share; None where there is none."""
    if missing("nats"):
        yield None
        return
    with running_nats() as server:
        yield server


@pytest.fixture
def nats(shared_nats: NatsServer | None) -> NatsServer:
    """The shared NATS; skips the test where there is none."""
    if shared_nats is None:
        pytest.skip(str(missing("nats")))
    return shared_nats


@pytest.fixture
async def own_nats() -> AsyncIterator[NatsServer]:
    """A NATS that a test may stop."""
    if missing("nats"):
        pytest.skip(str(missing("nats")))
    held = running_nats()
    server = await asyncio.to_thread(held.__enter__)
    yield server
    await asyncio.to_thread(held.__exit__, None, None, None)


@pytest.fixture(params=["local", "nats"])
def join(request: pytest.FixtureRequest, shared_nats: NatsServer | None) -> Join:
    """Opens buses of one kind: the test runs on each."""
    if request.param == "nats":
        if shared_nats is None:
            pytest.skip(str(missing("nats")))
        url = shared_nats.url
        return lambda: open_bus(url)
    exchange = Exchange()

    @asynccontextmanager
    async def local() -> AsyncIterator[Bus]:
        bus = exchange.join()
        yield bus
        await bus.close()

    return local
