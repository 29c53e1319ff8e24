"""How late the server itself is: the delay of its event loop, measured all the time.

A loop that is held up, by a blocking call or by a machine with too much to do, stamps frames late and
judges deadlines late. What it cannot undo it must at least know, so that no bot pays for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic_ns

from arena.match.clock import MS

INTERVAL = 10 * MS
"""How often the loop is asked to come back."""
WORTH_NOTING = 5 * MS
"""Delays below this are not remembered: no rule asks for them."""
REMEMBERED = 1024


class LoopWatch:
    """Measures by how much each of many short sleeps was overslept. `run` must be under way."""

    def __init__(self, tell: Callable[[float], None] = lambda _seconds: None) -> None:
        self._tell = tell
        self._delays: deque[tuple[int, int]] = deque(maxlen=REMEMBERED)
        self._due = monotonic_ns()

    async def run(self) -> None:
        """Measure until cancelled."""
        while True:
            self._due = monotonic_ns() + INTERVAL
            await asyncio.sleep(INTERVAL / 1e9)
            self.note(self._due, monotonic_ns())

    def note(self, due: int, now: int) -> None:
        """A wake that was due at `due` came at `now` (ns)."""
        late = max(0, now - due)
        self._tell(late / 1e9)
        if late >= WORTH_NOTING:
            self._delays.append((now, late))

    def late_since(self, since: int, now: int) -> int:
        """The longest delay that ended after `since`, one still under way at `now` among them; ns."""
        known = max((late for at, late in self._delays if at >= since), default=0)
        return max(known, now - self._due)
