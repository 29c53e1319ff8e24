"""Watching a match of another server: it shows each server where somebody watches what happens, once, and that one its spectators."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec import structs

from arena.protocol.codec import DecodeError, decode_server
from arena.protocol.messages import End, Played, Thought, Update, View
from arena.protocol.values import Seat
from arena.server.arena.links import Link, Links
from arena.server.arena.messages import Shown, Watching
from arena.server.rooms.spectators import Spectators

MOST_UNSHOWN = 64
"""What may wait for the acknowledgement of a server before it is shown the whole match again later."""


class Watched:
    """A match of another server, as it is shown here."""

    def __init__(self, links: Links, match: str) -> None:
        self._links = links
        self._match = match
        self._owner: Link | None = None
        self.view: View | None = None
        """The whole match so far; None before it has come."""
        self.spectators = Spectators(self._seen, asyncio.get_running_loop().call_later, ready=self._ready)

    @property
    def idle(self) -> bool:
        """Whether nobody watches."""
        return not len(self.spectators)

    def _ready(self) -> bool:
        return self.view is not None

    def _seen(self) -> View:
        if self.view is None:
            raise RuntimeError("the match has not come yet")
        return self.view

    def owned_by(self, owner: Link) -> None:
        """Ask whoever has the room to show the match."""
        self._owner = owner
        self._links.send(owner, Watching(self._match, on=True))

    def lost(self) -> None:
        """Whoever showed it has ended: those who watch wait for the next."""
        self._owner = None

    def leave(self) -> None:
        """Nobody watches any more."""
        if self._owner is not None:
            self._links.send(self._owner, Watching(self._match, on=False))

    def show(self, message: View | Update | Thought | End) -> None:
        """Take what is shown, and show it here."""
        match message:
            case View():
                self.view = message
                self.spectators.show_whole()
            case End():
                self.close(message)
            case Update(ply=ply, played=played, clocks=clocks) if self.view is not None:
                moves = [*self.view.moves[:ply], played]
                if len(moves) == ply + 1:
                    mover: Seat = "maxie" if ply % 2 else "minnie"
                    self.view = structs.replace(self.view, moves=moves, clocks=clocks, mover=mover)
                    self.spectators.show(message)
            case Thought(ply=ply, thinking=thinking) if self.view is not None and ply < len(self.view.moves):
                moves = list(self.view.moves)
                moves[ply] = Played(moves[ply].move, moves[ply].ms, thinking)
                self.view = structs.replace(self.view, moves=moves)
                self.spectators.show(message)

    def close(self, end: End | None = None) -> None:
        """The match is over."""
        if end is not None:
            self.spectators.close(lambda: end)
        else:
            self.spectators.close_silently()


class RemoteWatcher:
    """The spectators of another server, as one spectator of a room of here: `server.rooms.spectators.Spectator`."""

    def __init__(self, links: Links, link: Link, match: str, lives: Callable[[], bool]) -> None:
        self._links = links
        self.link = link
        self._match = match
        self._lives = lives

    @property
    def backlog(self) -> int:
        """Bytes that wait: none, or too many where the other server does not answer."""
        return 0 if len(self.link.outgoing) <= MOST_UNSHOWN or self.link.up else 1 << 30

    def tell_encoded(self, messages: Sequence[bytes]) -> None:
        if not self._lives():
            return
        for encoded in messages:
            try:
                message = decode_server(encoded)
            except DecodeError as error:
                raise RuntimeError(f"what is shown is no message: {error.detail}") from None
            if isinstance(message, View | Update | Thought | End):
                self._links.send(self.link, Shown(self._match, message))

    def affords(self, cost: int) -> bool:  # noqa: ARG002  each of its spectators pays there
        """Always: its own spectators pay where they are."""
        return True
