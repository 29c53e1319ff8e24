"""How an event goes, as whoever plays it tells the page: its plan, what is due, and its sequential test."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct


class SprtProgress(Struct, frozen=True):
    """A sequential test as it stands: it ends where `llr` leaves the range from `lower` to `upper`."""

    elo0: float
    elo1: float
    model: str
    llr: float
    lower: float
    upper: float
    verdict: str
    """`H0`, `H1` or `open`."""
    pairs: int
    """How many pairs are complete."""


class Due(Struct, frozen=True):
    """A match that is to be played."""

    maxie: str
    minnie: str
    map: str
    """Empty where the game has none."""
    round: int
    """From 1."""


class EventProgress(Struct, frozen=True):
    """An event in progress."""

    event: str
    kind: str
    """The command that plays it: `ladder` or `match`."""
    game: str
    maps: list[str]
    format: str
    rounds: int | None
    """None where it goes on without end."""
    time_control: str
    bots: dict[str, str]
    """Each with what plays, in words; empty for one that has dialled in."""
    played: int
    matches: int | None
    """How many there are to be in all, as far as is known; None where there is no end."""
    due: list[Due]
    """The next match of each two bots, in the order of the schedule: the first of them."""
    sprt: SprtProgress | None = None


Progress = Callable[[str], EventProgress | None]
"""Tells how an event of this name goes; None for one that is not played here."""


def nobody_plays(_event: str) -> EventProgress | None:
    """The progress of a server that plays no event of its own."""
    return None
