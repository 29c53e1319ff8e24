"""One heap of all deadlines in the server's core: of matches, challenges, bots, the matchmaker, the listing and events."""

from __future__ import annotations

import heapq
from typing import Literal

DeadlineKind = Literal["match", "challenge", "bot", "matchmaker", "listing", "event"]
DeadlineKey = tuple[DeadlineKind, str]
"""Key of an object that has a deadline: the kind of the object (such as `match` or `bot`), and its id or name.

The name is empty for the matchmaker, the listing (for clients that browse) and the events, which have a single deadline each.
"""

MAX_SURPLUS_OF_CANCELLED_CHECKS = 64
"""Maximum number by which cancelled deadline checks may outnumber valid ones in the heap.

At a higher number, all cancelled checks are removed.
"""


class DeadlineSchedule:
    """Schedule of checks: the time (monotonic ns) of the next check of each object that has a deadline.

    If the deadline of an object moves later, its scheduled check stays. When that check comes, the caller schedules the
    next one. So the heap rarely changes, although each move changes the deadline of its match.
    """

    def __init__(self) -> None:
        self.next_check_time_ns: int | None = None
        """Time (monotonic ns) of the next check; None if there are no deadlines."""
        self._heap: list[tuple[int, DeadlineKey]] = []
        self._times: dict[DeadlineKey, int] = {}

    def __len__(self) -> int:
        return len(self._times)

    def schedule_check(self, key: DeadlineKey, check_time_ns: int) -> None:
        """Schedule the next check of an object at `check_time_ns`. Do nothing if its next check comes earlier anyway."""
        scheduled_time = self._times.get(key)
        if scheduled_time is None or check_time_ns < scheduled_time:
            self._times[key] = check_time_ns
            heapq.heappush(self._heap, (check_time_ns, key))
            if self.next_check_time_ns is None or check_time_ns < self.next_check_time_ns:
                self.next_check_time_ns = check_time_ns

    def cancel_check(self, key: DeadlineKey) -> None:
        """Cancel the next check of an object, if one is scheduled."""
        scheduled_time = self._times.pop(key, None)
        if (
            scheduled_time is not None
            and len(self._heap) > 2 * len(self._times) + MAX_SURPLUS_OF_CANCELLED_CHECKS
        ):
            self._heap = [(scheduled_time, key) for key, scheduled_time in self._times.items()]
            heapq.heapify(self._heap)
        if scheduled_time is not None and scheduled_time == self.next_check_time_ns:
            self._update_next_check_time()

    def _update_next_check_time(self) -> None:
        heap = self._heap
        while heap and self._times.get(heap[0][1]) != heap[0][0]:
            heapq.heappop(heap)
        self.next_check_time_ns = heap[0][0] if heap else None

    def pop_due_keys(self, now_ns: int) -> list[DeadlineKey]:
        """Remove all checks scheduled for `now_ns` or earlier, and return the keys of their objects, earliest check first."""
        due: list[DeadlineKey] = []
        while self.next_check_time_ns is not None and self.next_check_time_ns <= now_ns:
            key = heapq.heappop(self._heap)[1]
            del self._times[key]
            due.append(key)
            self._update_next_check_time()
        return due
