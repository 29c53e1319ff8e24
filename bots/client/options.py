"""How a client is to connect, and as whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType

from arena.protocol.engines import EngineInfo
from arena.protocol.messages import Challenge


@dataclass(frozen=True)
class Options:
    """How to connect, and as whom."""

    url: str
    name: str
    token: str = ""
    matches: int = 1
    """How many matches to play at once."""
    games: tuple[str, ...] = ()
    """The games it plays; empty for all."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """The digests of the games of somebody's own among them, by which the server compares its own."""
    maps: tuple[str, ...] = ()
    """The Riskless maps it plays on; empty for all."""
    time_controls: tuple[str, ...] = ()
    """The time controls it plays at, as `10+0.1`; empty for all."""
    challenge: Challenge | None = None
    """What it asks for whenever it has room for a match; None for nothing."""
    pool: bool = True
    """Whether the server's matchmaker may give it matches; else it only plays whom challenges it."""
    program: str = ""
    """What runs behind the name, for people."""
    engine: EngineInfo | UnsetType = UNSET
    """What chooses the moves, and with how many threads it searches in each match."""
    reconnects: int | None = None
    """How often in a row to try to connect again when the connection is lost; None for ever."""
    quota: int | None = None
    """How many matches to play in all; None for as many as come."""
    wait: float = 0.0
    """Seconds for which to try the first connection again when there is no server yet."""
