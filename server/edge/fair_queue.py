"""Fair queue for all work except players' moves. It serves the clients' addresses in rotation.

The queue holds handshakes, plain requests, messages with a cost, input from clients that play no match, and input from
addresses that send a lot. The work is done in slices: small pieces of work, each followed by a pause several times as long.
All slices together therefore take at most `MAX_TIME_SHARE_OF_QUEUED_WORK` of the process's time, however many clients wait, and
they rarely delay a player's move.

While moves are being stored, a slice is put off for at most `MAX_WORK_SLICE_DELAY_NS`. Otherwise the thread that writes the
moves to the store would have to wait for the interpreter lock until the slice ends.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable

from arena.clock import TimeSource

MAX_TIME_SHARE_OF_QUEUED_WORK = 0.2
"""Largest share of the process's time that all queued work together may take, from 0 to 1."""
CHECK_INTERVAL_WHILE_STORING_MOVES_SECONDS = 0.001
"""Interval between checks whether moves are still being stored, in seconds, while a piece of queued work is put off."""
MAX_WORK_SLICE_DELAY_NS = 3_000_000
"""Longest time for which a piece of queued work is put off while moves are being stored, in ns.

Without this limit, a busy server would never do the work, because it stores moves almost all the time.
"""


CostMicroseconds = float
"""Cost of a piece of work, in µs: CPU time, with an estimate for other work that it causes."""
RunWorkSlice = Callable[[], CostMicroseconds]
"""Function that does one piece of work, and returns its cost."""


class FairQueue:
    """Queue of clients with work. Addresses are served in rotation, and the clients of one address in order of arrival."""

    def __init__(self, clock: TimeSource, is_storing_moves: Callable[[], bool]) -> None:
        """Create an empty queue, which serves the network addresses in rotation.

        clock: clock and timers for the pauses between slices (small pieces of work)
        is_storing_moves: function that returns True while moves are being stored, which puts off the next slice for at most
            `MAX_WORK_SLICE_DELAY_NS`
        """
        self._clock = clock
        self._waiters_by_address: OrderedDict[str, deque[RunWorkSlice]] = OrderedDict()
        self._is_running = False
        self._now_ns = clock.now_ns
        self._is_storing_moves = is_storing_moves
        self._next_slice_ns = 0.0
        """Time at which the next slice may run, in monotonic ns: the end of the pause after the previous slice."""

    def enqueue(self, address: str, run_work_slice: RunWorkSlice) -> None:
        """Queue a client's function for one piece of work, after the clients of the same address that wait already."""
        self._waiters_by_address.setdefault(address, deque()).append(run_work_slice)
        if not self._is_running:
            self._is_running = True
            self._next_slice_ns = max(self._next_slice_ns, self._now_ns())
            self._clock.call_later(0, self._run_next_work_slice)

    def _run_next_work_slice(self) -> None:
        if not self._waiters_by_address:
            self._is_running = False
            return
        now = self._now_ns()
        if now < self._next_slice_ns + MAX_WORK_SLICE_DELAY_NS and self._is_storing_moves():
            self._clock.call_later(CHECK_INTERVAL_WHILE_STORING_MOVES_SECONDS, self._run_next_work_slice)
            return
        address, waiters = self._waiters_by_address.popitem(last=False)
        run_work_slice = waiters.popleft()
        if waiters:
            self._waiters_by_address[address] = waiters
        # uvloop rounds timers to milliseconds. If this slice comes too early, the pause after it is longer.
        seconds_early, cost = max(0.0, self._next_slice_ns - now) / 1e9, 0.0
        try:
            cost = run_work_slice()
        finally:
            pause_seconds = seconds_early + cost / 1e6 / MAX_TIME_SHARE_OF_QUEUED_WORK
            self._next_slice_ns = self._now_ns() + pause_seconds * 1e9
            self._clock.call_later(pause_seconds, self._run_next_work_slice)
