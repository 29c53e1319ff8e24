"""Requests of the host's commands: each is passed from the store to the core, whose answer is stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from anyio.lowlevel import checkpoint

from arena.clock import Clock
from arena.server.store.database import Engine, error_line
from arena.server.store.events import pending_requests

if TYPE_CHECKING:
    from arena.server.shell.shell import Shell


LOOK_SECONDS = 1.0
"""Interval between two checks for requests, in seconds."""


class HostRequests:
    """Task that passes the requests of the host's commands to one server's core. It is active only while `run` runs."""

    def __init__(
        self,
        engine: Engine,
        server: str,
        shell: Shell,
        clock: Clock,
        foreign_version: Callable[[], Awaitable[int]],
    ) -> None:
        """Set up the task. `foreign_version` returns a number that changes when another process writes to the store."""
        self._engine = engine
        self._server = server
        self._shell = shell
        self._clock = clock
        self._foreign_version = foreign_version

    async def run(self) -> None:
        """Pass new requests to the core, until cancelled. A rebuilt core gets all unanswered requests again."""
        core, handled = self._shell.core, set[int]()
        last_change: int | None = None
        while True:
            version = await self._foreign_version()
            if version == last_change and self._shell.core is core:
                await self._clock.sleep(LOOK_SECONDS)
                continue
            try:
                requests = await pending_requests(self._engine, self._server)
                last_change = version
            except Exception as error:
                await checkpoint()  # raises if the server is stopping, which closes the store
                if error_line(error) is None:
                    raise
                requests, last_change = [], None
            if self._shell.core is not core:
                core, handled = self._shell.core, set()
            for each in requests:
                if each.number not in handled:
                    handled.add(each.number)
                    self._shell.submit(each)
            await self._clock.sleep(LOOK_SECONDS)
