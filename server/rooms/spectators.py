"""The spectators of a match, who cost its players nothing that they could notice.

Messages are encoded once for all spectators, gathered for a moment that no eye sees, and handed out to a few
spectators at a time, evenly over as long a moment, so that a player's move meets few of them on its way. A spectator
that reads slowly skips to the newest position, and so does one whose address watches more than it may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from arena.protocol.codec import encode
from arena.protocol.messages import ServerMessage, View


class Spectator(Protocol):
    """A connection that watches."""

    @property
    def backlog(self) -> int:
        """How many bytes wait to be read."""
        ...

    def tell_encoded(self, messages: Sequence[bytes]) -> None:
        """Hand over encoded messages, without waiting."""

    def affords(self, cost: int) -> bool:
        """Whether its address may have so many µs of the server's time now; they are counted if so."""
        ...


MAX_BACKLOG_BYTES = 16 * 1024
"""What may wait for a spectator before it is left out until it has read that."""
GATHER_SECONDS = 0.05
"""From something that happens to the moment when spectators are told, together with all that happened meanwhile."""
UPDATE_COST = 20
"""What it takes to tell a spectator of the latest moves, in µs."""
VIEW_COST = 100
"""What it takes to show a spectator the whole match again, in µs."""
SPECTATORS_A_TURN = 4
"""Spectators that are told in one turn of the event loop."""

Later = Callable[[float, Callable[[], None]], object]
"""Calls something after so many seconds."""


def undelayed(_seconds: float, call: Callable[[], None]) -> None:
    """Call it now: the `Later` of whoever has no event loop."""
    call()


class Spectators:
    """The spectators of one match. `view` makes a message of the whole match so far."""

    def __init__(
        self, view: Callable[[], View], later: Later = undelayed, *, ready: Callable[[], bool] = lambda: True
    ) -> None:
        """`ready` says whether there is a view already; who comes before waits for `show_whole`."""
        self._ready = ready
        self._view = view
        self._later = later
        self._spectators: dict[Spectator, int | None] = {}
        """The number of the message that each is to be told next; None for one that has missed a message."""
        self._poor: set[Spectator] = set()
        """Those that were left out of the last round because their address watches more than it may."""
        self._news: list[bytes] = []
        """The latest messages, as far back as somebody has not been told."""
        self._count = 0
        """The number of the message that will follow them."""
        self._telling = False
        self.closed = False
        """Whether the match is over: a spectator that enters now would never be told anything."""

    def __len__(self) -> int:
        return len(self._spectators)

    def enter(self, spectator: Spectator) -> None:
        """Show a spectator all of the match so far, and from now on each move."""
        # A crowd that comes at the start is told like any other: a few at a time, what is encoded once for all.
        self._spectators[spectator] = None
        self._tell_soon()

    def leave(self, spectator: Spectator) -> None:
        """Show a spectator no more."""
        self._spectators.pop(spectator, None)
        self._poor.discard(spectator)

    def show(self, message: ServerMessage) -> None:
        """Show what has happened to every spectator that keeps up, and the whole match to one that has caught up."""
        if not self._spectators:
            return
        self._news.append(encode(message))
        self._count += 1
        self._tell_soon()

    def show_whole(self) -> None:
        """Show everybody the whole match: there is another view now, or the first one."""
        self._spectators = dict.fromkeys(self._spectators)
        if self._spectators:
            self._tell_soon()

    def move_to(self, other: Spectators) -> None:
        """Let all of them watch there from now on."""
        spectators, self._spectators = self._spectators, {}
        self.closed = True
        for spectator in spectators:
            other.enter(spectator)

    def close_silently(self) -> None:
        """The match is over, and how is not known here."""
        self.closed = True
        self._spectators = {}

    def close(self, last: Callable[[], ServerMessage]) -> None:
        """The match is over: every spectator is told `last`, slow or not, and none is left."""
        self.closed = True
        spectators, self._spectators = self._spectators, {}
        if spectators:
            end = encode(last())
            whole = encode(self._view()) if self._ready() else b""
            self._tell_last(list(spectators.items()), _pause(len(spectators)), end, whole)
        # The view is the room's, which holds these spectators: the collector of cycles is to have no work with them.
        self._view = _nobody_sees

    def _tell_last(
        self, left: list[tuple[Spectator, int | None]], pause: float, end: bytes, whole: bytes
    ) -> None:
        for spectator, next_number in left[:SPECTATORS_A_TURN]:
            missed = [whole] if next_number is None else self._news_from(next_number)
            spectator.tell_encoded([*filter(None, missed), end])
        if left[SPECTATORS_A_TURN:]:
            self._later(pause, partial(self._tell_last, left[SPECTATORS_A_TURN:], pause, end, whole))

    def _tell_soon(self) -> None:
        if not self._telling and self._ready():
            self._telling = True
            self._later(GATHER_SECONDS, self._tell)

    def _tell(self) -> None:
        self._tell_some(list(self._spectators), self._count, None)

    def _tell_some(self, left: list[Spectator], until: int, view: tuple[bytes, int] | None) -> None:
        """`view`: the whole match, as it is encoded for this round, and the number of the message that follows it."""
        if self.closed:
            return
        for spectator in left[:SPECTATORS_A_TURN]:
            if spectator not in self._spectators:
                continue
            next_number = self._spectators[spectator]
            if spectator.backlog > MAX_BACKLOG_BYTES or not self._afforded(spectator, next_number):
                self._spectators[spectator] = None
                continue
            if next_number is None:
                view = view or (encode(self._view()), self._count)
                whole, next_number = view
                spectator.tell_encoded([whole, *self._news_from(next_number)])
            elif next_number < self._count:
                spectator.tell_encoded(self._news_from(next_number))
            self._spectators[spectator] = self._count
        if left[SPECTATORS_A_TURN:]:
            self._later(
                _pause(len(self._spectators)), partial(self._tell_some, left[SPECTATORS_A_TURN:], until, view)
            )
            return
        # What happened while they were told is told to all of them with what happens next.
        self._news = self._news_from(until)
        self._telling = False
        if self._news or self._newcomers():
            self._tell_soon()

    def _afforded(self, spectator: Spectator, next_number: int | None) -> bool:
        if next_number is not None and next_number == self._count:
            return True  # it has nothing to be told
        if spectator.affords(VIEW_COST if next_number is None else UPDATE_COST):
            self._poor.discard(spectator)
            return True
        self._poor.add(spectator)
        return False

    def _news_from(self, number: int) -> list[bytes]:
        """The messages from that number on, as far as they are kept."""
        return self._news[max(0, number - self._count + len(self._news)) :]

    def _newcomers(self) -> bool:
        """Whether a spectator waits to see the whole match, and reads what it is told."""
        return any(
            next_number is None and spectator.backlog <= MAX_BACKLOG_BYTES and spectator not in self._poor
            for spectator, next_number in self._spectators.items()
        )


def _nobody_sees() -> View:
    raise RuntimeError("the match is over, and has no spectators")


def _pause(spectators: int) -> float:
    """Seconds from some spectators to the next, so that all of them are told within `GATHER_SECONDS`."""
    return GATHER_SECONDS * SPECTATORS_A_TURN / max(SPECTATORS_A_TURN, spectators)
