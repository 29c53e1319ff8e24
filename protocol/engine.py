"""What chooses a bot's moves, as the bot tells it: in its hello, in the view of a match and in its record."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

MOST_THREADS = 4096
"""The most threads that a bot can be told to search with, or say that it does."""

OptionName = Annotated[str, Meta(min_length=1, max_length=32)]
OptionText = Annotated[str, Meta(max_length=200)]


class EngineInfo(Struct, frozen=True, omit_defaults=True):
    """What chooses a bot's moves, as the bot tells it."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    """The engine's name, as in `jamboree`."""
    options: Annotated[dict[OptionName, OptionText], Meta(max_length=32)] = {}
    """What it was told, by the option's name, as a person writes it."""
    threads: Annotated[int, Meta(ge=1, le=MOST_THREADS)] | None = None
    """How many threads it searches with; None where it does not say."""

    def __str__(self) -> str:
        options = ",".join(f"{name}={value}" for name, value in self.options.items())
        engine = f"{self.name}:{options}" if options else self.name
        if self.threads is None:
            return engine
        return f"{engine}, {self.threads} thread{'s' if self.threads > 1 else ''}"


class Engines(Struct, frozen=True):
    """The engines by seat; None of a player who does not say."""

    maxie: EngineInfo | None = None
    minnie: EngineInfo | None = None
