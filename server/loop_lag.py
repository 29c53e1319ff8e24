"""Loop lag: delay with which an event loop runs callbacks that are due.

A blocking call or an overloaded machine stalls the loop, which then notices received frames and passed deadlines late.
The server cannot undo this delay, so it measures the delay and charges no bot for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from arena.clock import TimeSource

LAG_MEASUREMENT_INTERVAL_NS = 20_000_000
"""Time between two measurements of an event loop's lag, in ns."""
MIN_STALL_LAG_NS = 50_000_000
"""Lag of the event loop above which the process counts as stalled, in ns."""
NEVER_SCHEDULED_NS = 1 << 62
"""Value that stands for "no measurement or timer is scheduled" where a time in ns is expected. It is later than any time."""


class EventLoopLag:
    """Meter of the lag of one event loop: the delay from the time at which a callback is due to the time at which it is called.

    The lag is measured only while a part of the server needs it, so that an idle server has no timer.
    """

    def __init__(self, clock: TimeSource, observe_lag_seconds: Callable[[float], None]) -> None:
        """Set up the meter. `observe_lag_seconds` is called with each measured lag, in seconds."""
        self._clock = clock
        self._observe_lag_seconds = observe_lag_seconds
        self._measurement_conditions: list[Callable[[], bool]] = []
        """Functions given to `add_measurement_condition`. The lag is measured while at least one of them returns True."""
        self.next_measurement_ns = NEVER_SCHEDULED_NS
        """Time (monotonic ns) at which the next measurement is due; NEVER_SCHEDULED_NS if none is scheduled."""
        self._timer: asyncio.TimerHandle | None = None
        self._longest_lag_ns = 0
        self.total_stalled_ns = 0
        """Total time of all stalls up to the last measurement, in ns. A lag above MIN_STALL_LAG_NS counts as a stall.

        A stall in progress is not included. It shows as a `next_measurement_ns` that is more than MIN_STALL_LAG_NS in the past.
        """

    def add_measurement_condition(self, is_needed: Callable[[], bool]) -> None:
        """Add a function that returns True while the lag is needed. Measuring ends when all added functions return False.

        The caller must call `start_measuring` whenever its function `is_needed` becomes True.
        """
        self._measurement_conditions.append(is_needed)

    def start_measuring(self) -> None:
        """Start measuring, unless the lag is already measured."""
        if self._timer is None:
            self.next_measurement_ns = self._clock.now_ns() + LAG_MEASUREMENT_INTERVAL_NS
            self._timer = self._clock.call_later(LAG_MEASUREMENT_INTERVAL_NS / 1e9, self._measure_lag)

    def stop_measuring(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.next_measurement_ns, self._timer = NEVER_SCHEDULED_NS, None

    def _measure_lag(self) -> None:
        lag_ns = max(0, self._clock.now_ns() - self.next_measurement_ns)
        self._observe_lag_seconds(lag_ns / 1e9)
        self._longest_lag_ns = max(self._longest_lag_ns, lag_ns)
        if lag_ns > MIN_STALL_LAG_NS:
            self.total_stalled_ns += lag_ns
        self.next_measurement_ns, self._timer = NEVER_SCHEDULED_NS, None
        if any(is_needed() for is_needed in self._measurement_conditions):
            self.start_measuring()

    def pop_longest_lag_ns(self) -> int:
        """Return the longest lag since the last call, in ns. A measurement that is overdue counts with its delay so far."""
        longest_lag_ns, self._longest_lag_ns = self._longest_lag_ns, 0
        return max(longest_lag_ns, self._clock.now_ns() - self.next_measurement_ns)
