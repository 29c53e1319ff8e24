"""Settings of a client: identity, connection, and the matches it accepts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType

from arena.bots.client.session_file import SessionFile
from arena.protocol.engines import EngineInfo
from arena.protocol.messages import Challenge


@dataclass(frozen=True)
class ClientSettings:
    """Identity of a bot, address of its server, and the matches that it accepts."""

    url: str
    name: str
    token: str = ""
    concurrency: int = 1
    """Maximum number of simultaneous matches."""
    games: tuple[str, ...] = ()
    """Games to play; empty for all."""
    rule_digests_by_game: Mapping[str, str] = field(default_factory=dict)
    """Digest (hash) of the rules of each user-defined game, by game. The server compares it with that of its own rules."""
    maps: tuple[str, ...] = ()
    """Riskless maps to play on; empty for all."""
    time_controls: tuple[str, ...] = ()
    """Time controls to play at, such as `10+0.1`; empty for all."""
    challenge: Challenge | None = None
    """Challenge to open whenever the bot can play another match; None to challenge nobody."""
    event_name: str = ""
    """Name of the event (for example a tournament) to enter; empty to enter no event."""
    joins_matchmaking_pool: bool = True
    """True if the server's matchmaker may pair the bot with others; False to play only matches by challenge."""
    program_name: str = ""
    """Human-readable name and version of the bot's program."""
    engine_info: EngineInfo | UnsetType = UNSET
    """Description of the engine that chooses the moves, with its number of threads; UNSET to send the server none."""
    max_reconnect_attempts: int | None = None
    """Number of failed attempts to reconnect, one after another, after which the client gives up; None for no limit."""
    quota: int | None = None
    """Total number of matches to play; None for no limit."""
    connect_wait_seconds: float = 0.0
    """Seconds for which the client retries its first connection; 0 to try once."""
    session_file: SessionFile | None = None
    """File that keeps the session (the bot's secret) and the ids of its matches across restarts; None to keep neither."""
