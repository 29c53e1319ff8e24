"""server.commands.local_cluster: pauses before a restart, on a virtual clock and fake processes."""

from __future__ import annotations

import math
from itertools import pairwise

import anyio
import pytest

from arena.server.commands.local_cluster import BACKOFF_RESET_SECONDS, _restart_on_exit
from testkit.virtual_time import CLOCK
from tests.virtual import virtual


class Ending:
    """A server that ends by itself after so many seconds, each time."""

    name = "edge 1"

    def __init__(self, *lasts: float) -> None:
        self._lasts = iter(lasts)
        self.began = [CLOCK.now()]

    async def wait(self) -> int:
        await CLOCK.sleep(next(self._lasts, math.inf))
        return 1

    async def close(self) -> None: ...

    async def start(self) -> None:
        self.began.append(CLOCK.now())


@virtual
async def test_a_server_that_does_not_last_is_started_again_later_each_time() -> None:
    lasts = (1, 1, 1, 1, 1, 1, 1, BACKOFF_RESET_SECONDS + 1, 1)
    child = Ending(*lasts)
    with anyio.move_on_after(300):
        await _restart_on_exit(child, CLOCK)  # type: ignore[arg-type]
    began = pairwise(child.began)
    pauses = [later - now - seconds for (now, later), seconds in zip(began, lasts, strict=True)]
    assert pauses == pytest.approx([1, 2, 4, 8, 15, 15, 15, 0.5, 1])
