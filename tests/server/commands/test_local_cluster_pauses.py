"""Pauses before a process of a cluster is restarted, with a virtual clock and fake processes."""

from __future__ import annotations

import math
from itertools import pairwise

import anyio
import pytest

from arena.server.commands.local_cluster import MIN_STABLE_UPTIME_SECONDS, _restart_on_exit
from testkit.virtual_time import VIRTUAL_CLOCK
from tests.virtual import virtual


class FakeProcess:
    """Process that ends by itself after the given number of seconds: one number for each start."""

    name = "edge 1"

    def __init__(self, *lasts: float) -> None:
        self._lasts = iter(lasts)
        self.start_times = [VIRTUAL_CLOCK.now()]

    async def wait(self) -> int:
        await VIRTUAL_CLOCK.sleep(next(self._lasts, math.inf))
        return 1

    async def close(self) -> None: ...

    async def start(self) -> None:
        self.start_times.append(VIRTUAL_CLOCK.now())


@virtual
async def test_the_pause_before_a_restart_grows_with_each_early_end() -> None:
    lasts = (1, 1, 1, 1, 1, 1, 1, MIN_STABLE_UPTIME_SECONDS + 1, 1)
    child = FakeProcess(*lasts)
    with anyio.move_on_after(300):
        await _restart_on_exit(child, VIRTUAL_CLOCK)  # type: ignore[arg-type]
    starts = pairwise(child.start_times)
    pauses = [later - now - seconds for (now, later), seconds in zip(starts, lasts, strict=True)]
    assert pauses == pytest.approx([1, 2, 4, 8, 15, 15, 15, 0.5, 1])
