"""Tasks that end with the block that they were started for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc


@asynccontextmanager
async def cancelled_at_exit() -> AsyncIterator[anyio.abc.TaskGroup]:
    """A task group whose tasks end with the block, and that passes the block's error on as it is."""
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield tasks
        except Exception as error:  # noqa: BLE001  raised again below, out of the group that would wrap it
            failure = error
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
