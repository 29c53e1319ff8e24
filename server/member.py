"""A bot as the server knows it: its name, its connection while there is one, and its matches.

A member outlives its connection, so that a bot that drops can come back to its matches.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from games.core import Player
from protocol.codes import Code
from protocol.messages import ServerMessage
from server.events import Event


class Outlet(Protocol):
    """Where messages to a connected bot go: its session's outbox."""

    def tell(self, message: ServerMessage) -> None:
        """Hand over a message without waiting; a reader too slow for it loses its connection."""

    def dismiss(self, code: Code) -> None:
        """Say why, and close the connection, without waiting."""


class Inlet(Protocol):
    """Where events of a match go: its room."""

    async def post(self, event: Event, at: int) -> bool:
        """Hand over an event that happened at monotonic ns `at`. False when the match is over."""


@dataclass
class Member:
    """A bot by its name."""

    name: str
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """The session's secret: whoever has it may take the connection's place."""
    outlet: Outlet | None = None
    capacity: int = 1
    """Matches that it plays at once."""
    games: frozenset[str] = frozenset()
    """Games that it plays; empty for all."""
    matches: dict[str, tuple[Inlet, Player]] = field(default_factory=dict)
    """The matches that it is in, by id: the room and the bot's seat."""
    connected: anyio.Event = field(default_factory=anyio.Event)

    def tell(self, message: ServerMessage) -> None:
        """Send a message if the bot is connected. One that is not catches up when it returns."""
        if self.outlet is not None:
            self.outlet.tell(message)

    def connect(self, outlet: Outlet) -> None:
        """The bot is here, behind this outlet; one that was here before is dismissed."""
        if self.outlet is not None:
            self.outlet.dismiss(Code.REPLACED)
        self.outlet = outlet
        self.connected.set()

    def disconnect(self) -> None:
        """The bot's connection is lost."""
        self.outlet = None
        self.connected = anyio.Event()

    def renew(self) -> None:
        """Make a new secret: who holds the old one has no way back."""
        self.secret = secrets.token_urlsafe(24)

    async def post_to_all(self, event: Callable[[Player], Event], at: int) -> None:
        """Tell every room of this bot's that the same thing happened to it."""
        for room, player in list(self.matches.values()):
            await room.post(event(player), at)
