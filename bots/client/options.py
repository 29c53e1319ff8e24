"""Connection settings of a client, and its identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType

from arena.bots.client.session_file import SessionFile
from arena.protocol.engines import EngineInfo
from arena.protocol.messages import Challenge


@dataclass(frozen=True)
class Options:
    """Connection settings and identity."""

    url: str
    name: str
    token: str = ""
    matches: int = 1
    """Maximum number of simultaneous matches."""
    games: tuple[str, ...] = ()
    """Games to play; empty for all."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """Digests of user-defined games, which the server compares with its own."""
    maps: tuple[str, ...] = ()
    """Riskless maps to play on; empty for all."""
    time_controls: tuple[str, ...] = ()
    """Time controls to play at, such as `10+0.1`; empty for all."""
    challenge: Challenge | None = None
    """Challenge to open whenever the bot can play another match; None for none."""
    event: str = ""
    """Event to enter; empty for none."""
    pool: bool = True
    """True if the server's matchmaker may pair the bot; otherwise it only plays challenges."""
    program: str = ""
    """Program and version, for people."""
    engine: EngineInfo | UnsetType = UNSET
    """Engine that chooses the moves, and its threads in each match."""
    reconnects: int | None = None
    """Maximum number of consecutive reconnection attempts; None for no limit."""
    quota: int | None = None
    """Total number of matches to play; None for no limit."""
    wait: float = 0.0
    """Seconds to keep trying the first connection while there is no server."""
    memory: SessionFile | None = None
    """Storage of the session and its matches, read at the start and written during the run; None to keep neither."""
