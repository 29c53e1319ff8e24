"""A bot as the server knows it: its name, its connection while there is one, and its matches.

A member outlives its connection, so that a bot that drops can come back to its matches.
"""

from __future__ import annotations

import hmac
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Protocol

from msgspec import UNSET

from arena.games.core import AnyGame, Player
from arena.match.events import Event
from arena.protocol.codes import Code
from arena.protocol.engines import EngineInfo
from arena.protocol.messages import Hello, Present, ServerMessage, Turn
from arena.protocol.timecontrol import TimeControl

PLAYED = 32
"""Matches of a session that are remembered: of a guest's, it may read the logs."""


class BotConnection(Protocol):
    """The connection of a bot, as its matches use it: where messages to it go."""

    @property
    def lag(self) -> int:
        """The least recent ping time of the connection, in ns; 0 where none is known."""
        ...

    def tell(self, message: ServerMessage) -> None:
        """Hand over a message without waiting; a reader too slow for it loses its connection."""

    def dismiss(self, code: Code) -> None:
        """Say why, and close the connection, without waiting."""


class DistantConnection(ABC):
    """The connection of a bot to another server of the arena: a `BotConnection` that can be asked what is known there."""

    @property
    @abstractmethod
    def lag(self) -> int:
        """As of any connection."""

    @property
    @abstractmethod
    def server(self) -> str:
        """The server that the bot is connected to."""

    @property
    @abstractmethod
    def reachable(self) -> bool:
        """Whether that server is heard at the moment."""

    @abstractmethod
    def tell(self, message: ServerMessage) -> None:
        """As of any connection."""

    @abstractmethod
    def ask(self, message: ServerMessage, ran: int) -> None:
        """Tell a turn whose clock has run for so many ns already: its server measures on from there."""

    @abstractmethod
    def dismiss(self, code: Code) -> None:
        """As of any connection."""

    @abstractmethod
    def has_waited(self, match: str, player: Player, ply: int, allowed: int) -> bool:
        """Whether its server has said that no move came within so many ns; where it has not, it is asked."""


class MatchInbox(Protocol):
    """Where the events of a match go: its room."""

    @property
    def full(self) -> bool:
        """Whether so many events wait already that whoever has another is to wait until there is space."""
        ...

    async def has_space(self) -> None:
        """Wait until it is not full."""

    def take(self, event: Event, at: int) -> bool:
        """Hand over an event that happened at monotonic ns `at`. False when the match is over."""
        ...

    def introduced(self, player: Player) -> bool:
        """Whether the player has been told, by the connection that it has now, that the match begins."""
        ...


@dataclass(frozen=True)
class Takes:
    """What a bot said that it plays; an empty set is everything."""

    games: frozenset[str] = frozenset()
    maps: frozenset[str] = frozenset()
    time_controls: frozenset[str] = frozenset()
    pool: bool = True

    @classmethod
    def of(cls, hello: Hello) -> Takes:
        return cls(frozenset(hello.games), frozenset(hello.maps), frozenset(hello.time_controls), hello.pool)

    def refusal(self, game: AnyGame, control: TimeControl) -> str | None:
        """Why the bot does not play this, as one clause, or None when it does."""
        if self.games and game.name not in self.games:
            return f"it plays {', '.join(sorted(self.games))} only"
        if self.maps and isinstance(name := game.setup().get("map"), str) and name not in self.maps:
            return f"it plays on {', '.join(sorted(self.maps))} only"
        if self.time_controls and str(control) not in self.time_controls:
            return f"it plays at {', '.join(sorted(self.time_controls))} only"
        return None


def new_secret() -> str:
    """A session's secret: 192 random bits."""
    return secrets.token_urlsafe(24)


def secret_hash(secret: str) -> bytes:
    """What is kept of a session's secret."""
    return sha256(secret.encode()).digest()


def is_secret(secret: str, kept: bytes) -> bool:
    """Whether this is the secret of which the hash was kept."""
    return bool(secret) and hmac.compare_digest(kept, secret_hash(secret))


@dataclass
class Member:
    """A bot by its name."""

    name: str
    secret: bytes = b""
    """The hash of the session's secret: whoever has that may take the connection's place."""
    connection: BotConnection | None = None
    program: str = ""
    engine: EngineInfo | None = None
    """What chooses its moves; None where it does not say."""
    capacity: int = 1
    """Matches that it plays at once."""
    quota: int | None = None
    """How many more matches it takes in all; None for as many as come."""
    takes: Takes = field(default_factory=Takes)
    matches: dict[str, tuple[MatchInbox, Player]] = field(default_factory=dict)
    """The matches that it is in, by id: the room and the bot's seat."""
    address: str = ""
    """The address that it came from last."""
    played: list[str] = field(default_factory=list)
    """The matches that it was given since its session began, those of last."""
    guest: bool = False
    """Whether it came without a token, to play the house bots."""
    entry: int = 0
    """The number of its connection in the arena, of which each later one has a higher; 0 where no others are known."""
    session: int = 0
    """The entry with which its session began; 0 where that is not known."""
    suspended: str = ""
    """Why the matchmaker gives it nothing; empty when it does."""
    on_change: Callable[[Member], None] = field(default=lambda _member: None, repr=False)
    """Told when it may have begun to wait for a match, or no longer does."""

    @property
    def free(self) -> bool:
        """Whether it is here and can take one match more."""
        return self.connection is not None and len(self.matches) < self.capacity and self.quota != 0

    @property
    def lag(self) -> int:
        """The least recent ping time, in ns; 0 where none is known."""
        return self.connection.lag if self.connection is not None else 0

    @property
    def distant(self) -> DistantConnection | None:
        """Its connection where that is to another server of the arena; None where it is to this one, or there is none."""
        return self.connection if isinstance(self.connection, DistantConnection) else None

    @property
    def here(self) -> bool:
        """Whether it is connected to this server."""
        return self.connection is not None and not isinstance(self.connection, DistantConnection)

    def change(self) -> None:
        """Something about it has changed that may matter to the matchmaker."""
        self.on_change(self)

    def take_only(self, quota: int | None) -> None:
        """Take so many matches more, and no others."""
        self.quota = quota
        self.change()

    def begin(self, match: str, room: MatchInbox, player: Player, *, anew: bool = True) -> None:
        """It is in this match from now on; `anew`: which begins, and does not go on from before the server was away."""
        if anew and self.quota:
            self.quota -= 1
        self.matches[match] = (room, player)
        self.played = [*self.played[1 - PLAYED :], match]
        self.change()

    def finish(self, match: str) -> None:
        """It is in this match no more."""
        self.matches.pop(match, None)
        self.change()

    def tell(self, message: ServerMessage) -> None:
        """Send a message if the bot is connected. One that is not catches up when it returns."""
        if self.connection is not None:
            self.connection.tell(message)

    def ask(self, turn: Turn, ran: int) -> None:
        """Tell it that it is its turn, and that its clock has run for so many ns."""
        if isinstance(self.connection, DistantConnection):
            self.connection.ask(turn, ran)
        elif self.connection is not None:
            self.connection.tell(turn)

    def recall(self, secret: bytes) -> None:
        """Take the hash of the secret of a session that it had on another server of the arena."""
        self.secret = secret

    def enter(self, entry: int, session: int) -> None:
        """It has its connection of this number, in the session that began with that entry."""
        self.entry, self.session = entry, session

    def remember(self, secret: bytes) -> None:
        """Take the hash of its session's secret, with which it can return from now on."""
        self.secret = secret
        self.played = []

    def introduce(self, hello: Hello, *, most_matches: int, guest: bool, address: str = "") -> None:
        """Take down what a bot says of itself as it comes in; a guest plays one match, and only if it asks for it."""
        self.program = hello.program
        self.engine = None if hello.engine is UNSET else hello.engine
        self.address = address
        self.guest = guest
        self.quota = None if hello.quota is UNSET else hello.quota
        self.capacity = 1 if guest else min(hello.matches, most_matches)
        takes = Takes.of(hello)
        self.takes = replace(takes, pool=False) if guest else takes

    def suspend(self, why: str) -> None:
        """Say why the matchmaker gives it nothing; with an empty reason it is suspended no more."""
        self.suspended = why

    def connect(self, connection: BotConnection) -> None:
        """The bot is here, by this connection; one that was here before is dismissed."""
        if self.connection is not None:
            self.connection.dismiss(Code.REPLACED)
        self.connection = connection
        self.change()

    def disconnect(self) -> None:
        """The bot's connection is lost."""
        self.connection = None
        self.change()

    def knows(self, secret: str) -> bool:
        """Whether this is the session's secret."""
        return is_secret(secret, self.secret)

    async def post_to_all(self, event: Callable[[Player], Event], at: int) -> None:
        """Tell every room of this bot's that the same thing happened to it."""
        for room, player in list(self.matches.values()):
            await room.has_space()
            room.take(event(player), at)

    def present(self) -> Present:
        """The bot as a listing shows it."""
        return Present(self.name, self.program, len(self.matches), self.capacity, self.suspended)
