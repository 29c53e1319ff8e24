"""Tasks that end with their block, also if the block raises an exception."""

from __future__ import annotations

import anyio
import pytest

from arena.processes.tasks import open_background_tasks


class Sleeper:
    """Task that records whether it runs, and how it ended."""

    def __init__(self) -> None:
        self.state = "not started"

    async def __call__(self) -> None:
        self.state = "running"
        try:
            await anyio.sleep_forever()
        finally:
            self.state = "ended"


async def test_tasks_end_with_the_block() -> None:
    sleeper = Sleeper()
    async with open_background_tasks() as tasks:
        tasks.start_soon(sleeper)
        await anyio.wait_all_tasks_blocked()
        assert sleeper.state == "running"
    assert sleeper.state == "ended"


async def test_an_exception_of_the_block_propagates_unchanged() -> None:
    sleeper = Sleeper()
    with pytest.raises(KeyError, match="here"):
        async with open_background_tasks() as tasks:
            tasks.start_soon(sleeper)
            await anyio.wait_all_tasks_blocked()
            raise KeyError("here")
    assert sleeper.state == "ended"


async def test_a_task_that_fails_ends_the_block() -> None:
    async def fail() -> None:
        raise ValueError("in a task")

    with pytest.raises(ExceptionGroup) as failed:
        async with open_background_tasks() as tasks:
            tasks.start_soon(fail)
            await anyio.sleep_forever()
    assert [str(each) for each in failed.value.exceptions] == ["in a task"]
