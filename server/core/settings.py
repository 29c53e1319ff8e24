"""Settings of the core, the state machine that pairs the bots of an arena and decides their matches. They are plain data."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from arena.games.core import AnyGame
from arena.protocol.adjudication import Adjudication
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Opening
from arena.server.core.limits import ServerLimits

OPEN_POOL_EVENT_NAME = "serve"
"""Event name of all matches that belong to no event (tournament): those of the matchmaker and of challenges."""
HOUSE_ENGINE_NAME_PREFIX = "house-"
"""Prefix of the names of house engines, the engines that the server itself runs.

The prefix keeps plain names such as `greedy` free: `arena bot greedy` uses that name.
"""
MAX_MATCHES_PER_HOUSE_ENGINE = 4
"""Maximum number of matches that each of the server's own engines plays at the same time."""

AnalysisVisibility = Literal["reply", "end"]
"""Time at which spectators get the analysis of a move: after the reply to the move, or after the match."""


class GameAtTimeControl(Struct, frozen=True):
    """Game that the matchmaker or an event (a tournament) offers to bots, with its time control and openings."""

    game: AnyGame
    time_control: TimeControl
    openings: tuple[Opening, ...] = ((),)
    """Openings (moves that are played before the bots begin), in the order of their use.

    Two bots play two matches with each opening, and swap seats in between. An empty opening is the start position of the game.
    """

    def __str__(self) -> str:
        map_name = self.game.setup().get("map")
        return (
            f"{self.game.name}{f' on {map_name}' if isinstance(map_name, str) else ''} at {self.time_control}"
        )


class Pool(Struct, frozen=True, kw_only=True):
    """Settings of the matches that the matchmaker arranges for waiting bots."""

    games: tuple[GameAtTimeControl, ...]
    """Games of the pool, the group of bots that wait for a match. Every two bots play these games one after another.

    Bots are paired by their ratings in the first game.
    """
    margin_ms: int = 100
    """Extra time allowed on each move for network delay, in ms."""
    ready_timeout_ms: int = 30_000
    """Time for a bot to confirm the start of a match with a `ready` message, in ms."""
    is_rated: bool = True
    rematch_pause_ms: int = 0
    """Shortest time from the end of a match to the next match of the same two bots, in ms."""


class HouseEngine(Struct, frozen=True):
    """Engine that the server itself runs: the name of its bot, and the engine with its options."""

    bot_name: str
    engine_spec: str


class CoreSettings(Struct, frozen=True, kw_only=True):
    """Settings of the core, the state machine that pairs the bots of an arena and decides their matches."""

    server_program: str
    """Name and version of the server, as sent to clients in the `welcome` message."""
    unix_ns_at_clock_zero: int = 0
    """Unix time at which the core's clock shows 0, in ns."""
    reconnect_grace_ms: int = 5_000
    """Time for a disconnected bot to return to its matches, in ms."""
    limits: ServerLimits = field(default_factory=ServerLimits)
    """Limits on the clients, such as the number of connections, matches and messages."""
    pool: Pool | None = None
    """Settings of the matches that the matchmaker arranges; None if bots play only by challenge."""
    concurrency: int = 1
    """Maximum load of the server's own machine: number of parallel matches of bots that run there.

    With `concurrency_counts_threads`, the load is the number of search threads that these matches need.
    """
    concurrency_counts_threads: bool = False
    """True if `concurrency` counts search threads instead of matches."""
    adjudication: Adjudication | None = None
    """Rules for ending matches early; None for none. Matches requested from outside, as by a ladder, have their own rules."""
    analysis_visibility: AnalysisVisibility = "reply"
    """Time at which spectators get the analysis of a move: after the reply to the move, or after the match."""
    house_engines: tuple[HouseEngine, ...] = ()
    """Engines that the server itself runs."""
    external_event_name: str = ""
    """Name of an event (tournament) played here but run by other code, such as `arena ladder`; empty if there is none."""
    external_event_entrants: tuple[str, ...] | None = None
    """Names of the bots that play in the event `CoreSettings.external_event_name`; None before this event begins."""
    max_edge_transit_ns: int = 0
    """Longest travel time of a message between an edge (which holds connections) and the core, in ns; 0 within one process.

    After a deadline, the core waits for this time before it acts, because a message sent in time may still be on its way.
    """
