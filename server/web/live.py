"""Live data of the page: matches in progress, and the event played by this server.

All other data are in the store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from arena.protocol.messages import Listing, View
from arena.server.edge.page_client import ConnectedClient


class LiveData(Protocol):
    """Source of matches in progress and connected clients."""

    async def view(self, match: str) -> View | None:
        """Return a match in progress as spectators see it, or None for any other."""
        ...

    async def listing(self) -> Listing:
        """Return the current matches and bots."""
        ...

    def connected(self) -> list[ConnectedClient]:
        """Return the clients of this process."""
        ...


class SprtProgress(Struct, frozen=True):
    """Current state of a sequential test. It ends when `llr` leaves the range from `lower` to `upper`."""

    elo0: float
    elo1: float
    model: str
    llr: float
    lower: float
    upper: float
    verdict: str
    """Accepted hypothesis, `H0` or `H1`, or `open`."""
    pairs: int
    """Number of complete pairs."""


class DueMatch(Struct, frozen=True):
    """Match still to be played."""

    maxie: str
    minnie: str
    map: str
    """Map; empty if the game has none."""
    round: int
    """Number of the round, from 1."""


class EventProgress(Struct, frozen=True):
    """Event in progress: its plan, its next matches, and its sequential test."""

    event: str
    kind: str
    """Command that plays it: `ladder` or `match`."""
    game: str
    maps: list[str]
    format: str
    rounds: int | None
    """Number of rounds; None for an endless event."""
    time_control: str
    bots: dict[str, str]
    """Description of each bot's program, by name; empty for a bot that connected by itself."""
    played: int
    matches: int | None
    """Total number of matches, as far as known; None for an endless event."""
    due: list[DueMatch]
    """Next match of each pair of bots, in the order of the schedule; only the first ones.

    In an event of a server they include the matches in progress.
    """
    sprt: SprtProgress | None = None


Progress = Callable[[str], EventProgress | None]
"""Function that returns the progress of an event played by this server, or None for any other."""


def no_event(_event: str) -> EventProgress | None:
    """Return None, for a server that plays no event."""
    return None
