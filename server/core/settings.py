"""Settings of an arena, as plain data."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from arena.games.core import AnyGame
from arena.match.openings import Opening
from arena.protocol.adjudication import Adjudication
from arena.protocol.messages import MAX_CLIENT_FRAME
from arena.protocol.timecontrol import TimeControl

OPEN_EVENT = "serve"
"""Event of all matches that come about by the pool and by challenge."""
HOUSE_MATCHES = 4
"""Matches that one house engine plays at once."""

AnalysisVisibility = Literal["reply", "end"]
"""Time at which spectators see a move's `thinking`: once the move is answered, or once the match is over."""


class PoolGame(Struct, frozen=True):
    """A game, its time control and its openings, as the pool plays them."""

    game: AnyGame
    time_control: TimeControl
    openings: tuple[Opening, ...] = ((),)
    """First moves of the two matches of a pair, in order. An empty opening is the start of the game."""

    def __str__(self) -> str:
        named = self.game.setup().get("map")
        return f"{self.game.name}{f' on {named}' if isinstance(named, str) else ''} at {self.time_control}"


class PoolSettings(Struct, frozen=True, kw_only=True):
    """Matches that the matchmaker gives to waiting bots."""

    games: tuple[PoolGame, ...]
    """Played in turn by each two bots. Ratings of the first one count."""
    margin_ms: int = 100
    ready_ms: int = 30_000
    event: str = OPEN_EVENT
    rated: bool = True
    pause_ms: int = 0
    """Time from the end of a match to the next one of the same two bots."""


class HouseEngine(Struct, frozen=True):
    """An engine of the server's own: the name of its bot, and what the bot runs."""

    name: str
    engine: str


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of one arena."""

    program: str
    """Program and version, as `welcome` tells them."""
    epoch_ns: int = 0
    """Unix time at 0 of the core's clock, in ns."""
    grace_ms: int = 5_000
    """Time in which a lost bot may return to its matches."""
    message_bytes: int = MAX_CLIENT_FRAME
    """Largest message from a client, as `welcome` tells it."""
    matches_per_bot: int = 32
    watched: int = 64
    """Matches that one client may watch at once."""
    open_challenges: int = 8
    """Open challenges of one bot."""
    challenge_ms: int = 60_000
    """Lifetime of an open challenge."""
    answer_ms: int = 2_000
    """Time in which a challenged bot may answer before the matchmaker has another match for it."""
    territories: int = 200
    """Territories of the largest map that is generated for a challenge."""
    pool: PoolSettings | None = None
    """None: bots play by challenge only."""
    concurrency: int = 1
    """Matches in progress of bots that run on the server's own machine; with `by_threads` their threads."""
    by_threads: bool = False
    adjudication: Adjudication | None = None
    """Adjudication of pool matches and challenges."""
    thinking: AnalysisVisibility = "reply"
    house: tuple[HouseEngine, ...] = ()
    transit_ns: int = 0
    """Longest way of a message between an edge and the core. Deadlines are judged so much later; 0 in one process."""
    turn_report_ns: int = 10_000_000_000
    """Time in which an edge reports that a turn has left. The clock starts without the report then."""
