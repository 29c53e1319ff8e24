"""A bot as the core knows it: its session, what it plays, and its matches. It outlives its connection."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from hashlib import sha256

from msgspec import UNSET

from arena.games.core import AnyGame, Player
from arena.protocol.engines import EngineInfo
from arena.protocol.messages import Hello, Present
from arena.protocol.timecontrol import TimeControl
from arena.server.core.inputs import Enter

PLAYED = 32
"""Matches of a session that are remembered."""
ANSWER_PAUSE_NS = 20_000_000_000
"""From the beginning of a bot's time to answer a challenge to the next, whoever challenges it."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Games, maps and time controls that a bot plays. An empty set is everything."""

    games: frozenset[str] = frozenset()
    maps: frozenset[str] = frozenset()
    time_controls: frozenset[str] = frozenset()
    pool: bool = True

    @classmethod
    def of(cls, hello: Hello, *, pool: bool) -> Preferences:
        """Return the preferences that a hello tells; without `pool`, of a bot that gets no matches from it."""
        pool = pool and hello.pool
        return cls(frozenset(hello.games), frozenset(hello.maps), frozenset(hello.time_controls), pool)

    def refusal(self, game: AnyGame, control: TimeControl) -> str | None:
        """Return the reason for which the bot does not play this, as one clause; None where it does."""
        if self.games and game.name not in self.games:
            return f"it plays {', '.join(sorted(self.games))} only"
        if self.maps and isinstance(name := game.setup().get("map"), str) and name not in self.maps:
            return f"it plays on {', '.join(sorted(self.maps))} only"
        if self.time_controls and str(control) not in self.time_controls:
            return f"it plays at {', '.join(sorted(self.time_controls))} only"
        return None


def secret_hash(secret: str) -> bytes:
    """Return the hash of a session's secret, which alone is kept."""
    return sha256(secret.encode()).digest()


@dataclass(eq=False, slots=True)
class Bot:
    """A bot by its name, connected or not."""

    name: str
    session: bytes = b""
    """Hash of the secret of its session; empty where it never had one."""
    client: int | None = None
    """Its connection; None while it is away."""
    address: str = ""
    owner: str = ""
    program: str = ""
    engine: EngineInfo | None = None
    capacity: int = 1
    """Matches that it plays at once."""
    quota: int | None = None
    """Matches that it takes yet; None for as many as come."""
    preferences: Preferences = field(default_factory=Preferences)
    guest: bool = False
    local: bool = False
    """True for a bot that runs on the server's own machine."""
    ratings: dict[str, float] = field(default_factory=dict)
    matches: dict[str, Player] = field(default_factory=dict)
    """Seats in its matches in progress, by match."""
    played: list[str] = field(default_factory=list)
    """Matches of its session, the latest last."""
    away_since: int = 0
    answer_since: int | None = None
    """Beginning of its time to answer a challenge; None where it was never challenged."""

    @property
    def has_room(self) -> bool:
        """True while it plays fewer matches than it can at once."""
        return len(self.matches) < self.capacity

    @property
    def free(self) -> bool:
        """True while it is connected and takes one match more."""
        return self.client is not None and self.has_room and self.quota != 0

    def returns(self, session: str, known: bytes) -> bool:
        """Return True if this is the secret of its session, or of the one that the store knows where it has none."""
        return bool(session) and hmac.compare_digest(self.session or known, secret_hash(session))

    def introduce(self, enter: Enter, most_matches: int) -> None:
        """Take down what a bot says of itself. A guest plays one match at a time, and only by challenge."""
        hello = enter.hello
        self.client = enter.client
        self.address, self.owner = enter.address, enter.owner
        self.program = hello.program
        self.engine = None if hello.engine is UNSET else hello.engine
        self.quota = None if hello.quota is UNSET else hello.quota
        self.guest, self.local = enter.guest, enter.local
        self.capacity = 1 if enter.guest else min(hello.matches, most_matches)
        self.preferences = Preferences.of(hello, pool=not enter.guest)
        self.ratings = dict(enter.ratings)

    def open_session(self, secret: str) -> None:
        """Begin a new session."""
        self.session = secret_hash(secret)
        self.played = list(self.matches)

    def restore_session(self, session: bytes, now: int) -> None:
        """Take the hash of a session's secret from the store. The bot is away from now on."""
        self.session, self.away_since = session, now

    def leave(self, now: int) -> None:
        """Be without a connection from now on."""
        self.client = self.answer_since = None
        self.away_since = now

    def take_only(self, quota: int) -> None:
        """Take so many matches more, and no others."""
        self.quota = quota

    def count_match(self) -> None:
        """Count a new match against the quota."""
        if self.quota:
            self.quota -= 1

    def begin(self, match: str, player: Player) -> None:
        """Take a seat in a match."""
        self.matches[match] = player
        self.played = [*self.played[1 - PLAYED :], match]

    def ask(self, now: int) -> None:
        """Begin its time to answer a challenge, unless the last one began too shortly before."""
        if self.answer_since is None or now >= self.answer_since + ANSWER_PAUSE_NS:
            self.answer_since = now

    def present(self, benched: str, *, house: bool) -> Present:
        """Return the bot as a listing shows it."""
        return Present(self.name, self.program, len(self.matches), self.capacity, benched, house=house)
