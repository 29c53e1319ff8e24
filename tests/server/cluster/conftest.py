"""A real NATS for the tests of this folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from testkit.nats_server import NatsServer, run_nats
from testkit.parts import missing_reason


@pytest.fixture(scope="session")
def shared_nats() -> Iterator[NatsServer | None]:
    """Yield the NATS that all tests of a process share; None where there is none."""
    if missing_reason("nats"):
        yield None
        return
    with run_nats() as server:
        yield server


@pytest.fixture
def nats(shared_nats: NatsServer | None) -> NatsServer:
    """Return the shared NATS; skips the test where there is none."""
    if shared_nats is None:
        pytest.skip(str(missing_reason("nats")))
    return shared_nats


@pytest.fixture
async def own_nats() -> AsyncIterator[NatsServer]:
    """Yield a NATS that a test may stop."""
    if missing_reason("nats"):
        pytest.skip(str(missing_reason("nats")))
    held = run_nats()
    server = await asyncio.to_thread(held.__enter__)
    yield server
    await asyncio.to_thread(held.__exit__, None, None, None)
