import asyncio
from collections.abc import AsyncIterator

import pytest

from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from testkit import forked
from tests.server.databases import (
    database,
    other_database,
    own_postgresql,
    postgresql,
    postgresql_database,
    postgresql_template,
    run_folder,
    shared_postgresql,
    stopped_postgresql,
)

__all__ = [
    "database",
    "host",
    "loaded_commands",
    "other_database",
    "own_postgresql",
    "postgresql",
    "postgresql_database",
    "postgresql_template",
    "run_folder",
    "shared_postgresql",
    "stopped_postgresql",
]


@pytest.fixture
async def host() -> AsyncIterator[ArenaServer]:
    """Yield a running server on a free port, whose store goes with it."""
    # A task of its own opens and closes it: a fixture's two halves may run in different tasks, and a
    # task group must not.
    opened: asyncio.Future[ArenaServer] = asyncio.get_running_loop().create_future()
    enough = asyncio.Event()

    async def run() -> None:
        async with open_arena_server(make_private_server_settings(grace_seconds=600.0)) as running:
            opened.set_result(running)
            await enough.wait()

    task = asyncio.create_task(run())
    yield await opened
    enough.set()
    await task


@pytest.fixture(scope="session")
def loaded_commands() -> None:
    """Load the commands in advance, for tests that start `testkit.forked` commands in an event loop, which loading would block."""
    forked.start_fork_server()
