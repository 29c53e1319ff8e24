"""Who watches a match. Watchers cost its players nothing: they are told without waiting, in frames
that are encoded once for all of them, and one that reads slowly skips to the newest position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from protocol.codec import encode
from protocol.messages import ServerMessage, View


class Watcher(Protocol):
    """A connection that watches."""

    @property
    def backlog(self) -> int:
        """How many bytes wait to be read."""
        ...

    def tell_frame(self, frame: bytes) -> None:
        """Hand over an encoded message without waiting."""


MAX_BACKLOG = 16 * 1024
"""Bytes that may wait for a watcher before it is left out until it has read them."""


class Gallery:
    """The watchers of one match. `view` makes the whole of it so far."""

    def __init__(self, view: Callable[[], View]) -> None:
        self._view = view
        self._watchers: dict[Watcher, bool] = {}  # whether it has missed something
        self.closed = False
        """Whether the match is over: who enters now would never be told."""

    def __len__(self) -> int:
        return len(self._watchers)

    def enter(self, watcher: Watcher) -> None:
        """Show a watcher all so far, and from now on each move."""
        self._watchers[watcher] = False
        watcher.tell_frame(encode(self._view()))

    def leave(self, watcher: Watcher) -> None:
        """Show a watcher no more."""
        self._watchers.pop(watcher, None)

    def show(self, message: ServerMessage) -> None:
        """Show what has happened to everybody who keeps up, and all of it to who has caught up."""
        if not self._watchers:
            return
        frame = encode(message)
        whole: bytes | None = None
        for watcher, missed in list(self._watchers.items()):
            if watcher.backlog > MAX_BACKLOG:
                self._watchers[watcher] = True
            elif missed:
                whole = whole or encode(self._view())
                self._watchers[watcher] = False
                watcher.tell_frame(whole)
            else:
                watcher.tell_frame(frame)

    def close(self, last: ServerMessage) -> None:
        """The match is over: everybody is told, slow or not, and the gallery is empty."""
        self.closed = True
        frame = encode(last)
        for watcher, missed in self._watchers.items():
            if missed:
                watcher.tell_frame(encode(self._view()))
            watcher.tell_frame(frame)
        self._watchers.clear()
