"""Who watches a match. Watchers cost its players nothing that they could notice: frames are encoded once for
all, gathered for a moment that no eye sees, and handed out a few watchers at a time, evenly over as long a
moment, so that a player's move meets few of them on its way. One that reads slowly skips to the newest position.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from protocol.messages import ServerMessage, View
from server.net.wire import to_wire


class Watcher(Protocol):
    """A connection that watches."""

    @property
    def backlog(self) -> int:
        """How many bytes wait to be read."""
        ...

    def tell_wire(self, wire: bytes) -> None:
        """Hand over messages as they go on the line, without waiting."""


MAX_BACKLOG = 16 * 1024
"""Bytes that may wait for a watcher before it is left out until it has read them."""
GATHER_SECONDS = 0.05
"""From something that happens to the watchers' hearing of it, together with all that happens meanwhile."""
AT_ONCE = 4
"""Watchers that are told in one turn of the event loop."""

Later = Callable[[float, Callable[[], None]], object]
"""Calls something after so many seconds."""


def at_once(_seconds: float, call: Callable[[], None]) -> None:
    """Where nobody waits for a turn."""
    call()


class Spectators:
    """The watchers of one match. `view` makes the whole of it so far."""

    def __init__(self, view: Callable[[], View], later: Later = at_once) -> None:
        self._view = view
        self._later = later
        self._watchers: dict[Watcher, int | None] = {}
        """The number of what each is to hear next; None for one that has missed something."""
        self._news: list[bytes] = []
        """What not everybody has heard yet ..."""
        self._count = 0
        """... and the number of what will follow it."""
        self._telling = False
        self.closed = False
        """Whether the match is over: who enters now would never be told."""

    def __len__(self) -> int:
        return len(self._watchers)

    def enter(self, watcher: Watcher) -> None:
        """Show a watcher all so far, and from now on each move."""
        # A crowd that comes at the start is told like any other: some at a time, and what is encoded once.
        self._watchers[watcher] = None
        self._tell_soon()

    def leave(self, watcher: Watcher) -> None:
        """Show a watcher no more."""
        self._watchers.pop(watcher, None)

    def show(self, message: ServerMessage) -> None:
        """Show what has happened to everybody who keeps up, and all of it to who has caught up."""
        if not self._watchers:
            return
        self._news.append(to_wire(message))
        self._count += 1
        self._tell_soon()

    def close(self, last: Callable[[], ServerMessage]) -> None:
        """The match is over: everybody is told `last`, slow or not, and the gallery is empty."""
        self.closed = True
        watchers, self._watchers = self._watchers, {}
        if watchers:
            wire, whole = to_wire(last()), to_wire(self._view())
            self._tell_last(list(watchers.items()), _pause(len(watchers)), wire, whole)
        # The view is the room's, which holds this gallery: nobody is to search for such cycles.
        self._view = _nobody_sees

    def _tell_last(
        self, left: list[tuple[Watcher, int | None]], pause: float, wire: bytes, whole: bytes
    ) -> None:
        for watcher, heard in left[:AT_ONCE]:
            missed = [whole] if heard is None else self._news_from(heard)
            watcher.tell_wire(b"".join((*missed, wire)))
        if left[AT_ONCE:]:
            self._later(pause, partial(self._tell_last, left[AT_ONCE:], pause, wire, whole))

    def _tell_soon(self) -> None:
        if not self._telling:
            self._telling = True
            self._later(GATHER_SECONDS, self._tell)

    def _tell(self) -> None:
        self._tell_some(list(self._watchers), self._count, None)

    def _tell_some(self, left: list[Watcher], until: int, view: tuple[bytes, int] | None) -> None:
        """`view`: the whole match as encoded for this round, and the number of what comes after it."""
        if self.closed:
            return
        for watcher in left[:AT_ONCE]:
            if watcher not in self._watchers:
                continue
            heard = self._watchers[watcher]
            if watcher.backlog > MAX_BACKLOG:
                self._watchers[watcher] = None
                continue
            if heard is None:
                view = view or (to_wire(self._view()), self._count)
                whole, heard = view
                watcher.tell_wire(b"".join((whole, *self._news_from(heard))))
            elif heard < self._count:
                watcher.tell_wire(b"".join(self._news_from(heard)))
            self._watchers[watcher] = self._count
        if left[AT_ONCE:]:
            self._later(_pause(len(self._watchers)), partial(self._tell_some, left[AT_ONCE:], until, view))
            return
        # What came while they were told is told to all with the next.
        self._news = self._news_from(until)
        self._telling = False
        if self._news or self._newcomers():
            self._tell_soon()

    def _news_from(self, number: int) -> list[bytes]:
        """The news from that number on, as far as they are kept."""
        return self._news[max(0, number - self._count + len(self._news)) :]

    def _newcomers(self) -> bool:
        """Whether somebody waits to see the whole match, and reads what it is told."""
        return any(heard is None and who.backlog <= MAX_BACKLOG for who, heard in self._watchers.items())


def _nobody_sees() -> View:
    raise RuntimeError("the match is over, and its gallery closed")


def _pause(watchers: int) -> float:
    """Seconds from some watchers to the next, so that all of them are told within the time of gathering."""
    return GATHER_SECONDS * AT_ONCE / max(AT_ONCE, watchers)
