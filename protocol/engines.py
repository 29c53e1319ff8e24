"""Descriptions of the players' engines (programs that choose moves), as bots send them in `hello`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

MAX_REPORTED_THREADS = 4096
"""Maximum number of search threads that a message may state."""

Name = Annotated[str, Meta(min_length=1, max_length=64)]
"""Name of a bot, game, map, engine or event (tournament). The digest (hash) of a custom game's rules has this type, too."""
EngineOptionName = Annotated[str, Meta(min_length=1, max_length=32)]
"""Name of an option of an engine."""
EngineOptionText = Annotated[str, Meta(max_length=200)]
"""Value of an option of an engine, as text."""


class EngineInfo(Struct, frozen=True, omit_defaults=True):
    """Description of the engine that chooses a bot's moves, as sent by the bot."""

    name: Name
    """Name of the engine, such as `jamboree`."""
    options: Annotated[dict[EngineOptionName, EngineOptionText], Meta(max_length=32)] = {}
    """Values of the engine's options by name, as text."""
    threads: Annotated[int, Meta(ge=1, le=MAX_REPORTED_THREADS)] | None = None
    """Number of search threads; None if the bot does not state it."""

    def __str__(self) -> str:
        options = ",".join(f"{name}={value}" for name, value in self.options.items())
        engine = f"{self.name}:{options}" if options else self.name
        if self.threads is None:
            return engine
        return f"{engine}, {self.threads} thread{'s' if self.threads > 1 else ''}"


class EnginesBySeat(Struct, frozen=True):
    """Description of the engine in each seat; None for a player whose bot sent none."""

    maxie: EngineInfo | None = None
    minnie: EngineInfo | None = None
