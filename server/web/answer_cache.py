"""Answers that are given again for a while, bounded in number and in bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from math import inf
from time import monotonic

from arena.server.net.answers import Answer


class AnswerCache:
    """Answers by key. The oldest are dropped first."""

    def __init__(self, *, entries: int, size_bytes: float = inf) -> None:
        """Keep at most `entries` answers, whose bodies are at most `size_bytes` long together."""
        self._entries = entries
        self._size_bytes = size_bytes
        self._kept: OrderedDict[Hashable, tuple[float, Answer]] = OrderedDict()

    def get(self, key: Hashable) -> Answer | None:
        """Return the answer that is kept under a key; None if there is none, or its time is over."""
        until, answer = self._kept.get(key, (0.0, None))
        return answer if monotonic() < until else None

    def put(self, key: Hashable, answer: Answer, seconds: float = inf) -> None:
        """Keep an answer for so many seconds, and drop the oldest beyond the bounds."""
        self._kept.pop(key, None)
        self._kept[key] = monotonic() + seconds, answer
        while (
            len(self._kept) > self._entries
            or sum(len(each.body) for _, each in self._kept.values()) > self._size_bytes
        ):
            self._kept.popitem(last=False)
