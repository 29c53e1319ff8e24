"""Background tasks, which are cancelled at the end of the `async with` block that started them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc


@asynccontextmanager
async def open_background_tasks() -> AsyncIterator[anyio.abc.TaskGroup]:
    """Open a task group whose tasks are cancelled at the end of the `with` block.

    An exception raised in the block propagates unchanged. Exceptions raised in tasks propagate in an ExceptionGroup.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield tasks
        except Exception as error:  # noqa: BLE001  raised again below, outside the group, which would wrap it
            failure = error
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
