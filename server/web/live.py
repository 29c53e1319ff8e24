"""Live data of the page: matches in progress, and the event that this server plays.

All other data of the page come from the store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from arena.protocol.messages import Listing, View
from arena.server.edge.page_client import ConnectedClient


class LiveData(Protocol):
    """Source of matches in progress and connected clients."""

    async def request_view(self, match: str) -> View | None:
        """Return the spectators' view of a match; None if the match is not in progress."""
        ...

    async def latest_listing(self) -> Listing:
        """Return the current matches and bots, or the last known ones if the core does not answer in time."""
        ...

    async def current_listing(self) -> Listing | None:
        """Return the current matches and bots, or None if the core does not answer in time."""
        ...

    def list_clients(self) -> list[ConnectedClient]:
        """Return the clients that are connected to this process."""
        ...


class SprtProgress(Struct, frozen=True):
    """State of a sequential test (SPRT), which ends when the log-likelihood ratio `llr` leaves `lower` to `upper`."""

    elo0: float
    elo1: float
    model: str
    llr: float
    lower: float
    upper: float
    verdict: str
    """Accepted hypothesis, `H0` or `H1`, or `open`."""
    pairs: int
    """Number of complete pairs of matches."""


class DueMatch(Struct, frozen=True):
    """Match of an event that is still to be played."""

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
    """Command that plays the event: `ladder` or `match`."""
    game: str
    maps: list[str]
    format: str
    rounds: int | None
    """Number of rounds; None for an endless event."""
    time_control: str
    bots: dict[str, str]
    """Description of each bot's program, by name of the bot; empty for a bot that was started elsewhere."""
    played: int
    matches: int | None
    """Total number of matches, as far as known; None for an endless event."""
    due: list[DueMatch]
    """Next match of each pair of bots, in the order of the schedule: only the first ones.

    In an event of a server the list includes matches in progress.
    """
    sprt: SprtProgress | None = None


FindProgress = Callable[[str], EventProgress | None]
"""Function that returns the progress of an event; None for an event that this server does not play."""


def report_no_event(_event: str) -> EventProgress | None:
    """Return None, as the `Progress` function of a server that plays no event."""
    return None
