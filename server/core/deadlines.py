"""Deadlines of everything in an arena, in one heap."""

from __future__ import annotations

import heapq
from typing import Literal

Kind = Literal["match", "challenge", "bot", "matchmaker", "listing"]
Key = tuple[Kind, str]
"""A kind of thing that has deadlines, and its id or name."""

SPARE = 64
"""Dropped entries that the heap may hold beside as many as are live."""


class Deadlines:
    """The next time at which to look at each thing.

    A thing that is looked at too early says when to look again. So a match, whose deadline moves on with each ply,
    seldom touches the heap.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, Key]] = []
        self._at: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._at)

    def follow(self, key: Key, at: int) -> None:
        """Look at a thing at `at`, unless that is done earlier anyway."""
        known = self._at.get(key)
        if known is None or at < known:
            self._at[key] = at
            heapq.heappush(self._heap, (at, key))

    def drop(self, key: Key) -> None:
        """Look at a thing no more."""
        if self._at.pop(key, None) is not None and len(self._heap) > 2 * len(self._at) + SPARE:
            self._heap = [(at, key) for key, at in self._at.items()]
            heapq.heapify(self._heap)

    @property
    def next(self) -> int | None:
        """Time of the next look; None where nothing has a deadline."""
        heap = self._heap
        while heap and self._at.get(heap[0][1]) != heap[0][0]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def take_due(self, now: int) -> list[Key]:
        """Return the things to be looked at by `now`, each with no further look, earliest first."""
        due: list[Key] = []
        while (at := self.next) is not None and at <= now:
            key = heapq.heappop(self._heap)[1]
            del self._at[key]
            due.append(key)
        return due
